"""Houses that are closed when a test ends."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from tests.faults.house import House
from tests.places import disk
from tests.places import tmp_path as tmp_path  # noqa: PLC0414 - a fixture of this folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Open = Callable[..., House]


@pytest.fixture
def open_house(tmp_path: Path) -> Iterator[Open]:
    """Makes a house in which a service runs; its arguments are those of `House`."""
    with ExitStack() as stack:

        def opened(*words: Any, place: Path = tmp_path, **more: Any) -> House:
            house = House(place, *words, **more)
            stack.callback(house.close)
            return house.serve()

        yield opened


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """One service for all tests of a file that leave it as it was."""
    made = House(tmp_path_factory.mktemp("house"))
    try:
        yield made.serve()
    finally:
        made.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 24 MB."""
    with disk(tmp_path / "disk", "24m") as place:
        yield place
