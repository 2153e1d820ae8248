from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import fairhold
from tests.cli.live.served import Served, until
from tests.client.serving import fake as fake  # noqa: PLC0414 - a fixture of this folder
from tests.places import tmp_path as tmp_path  # noqa: PLC0414 - a fixture of this folder

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One service for all tests."""
    with Served(tmp_path_factory.mktemp("live")) as found:
        yield found


@pytest.fixture
def live(served: Served) -> Iterator[Served]:
    """The service of all tests, without jobs of others."""
    yield served
    with fairhold.connect(f"unix:{served.state / 'api.sock'}") as client:
        for job in client.jobs():
            client.cancel(job)
        until(lambda: not client.jobs())
