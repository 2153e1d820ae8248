from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import fairhold
from tests.cli.live.served import Served, until
from tests.client.serving import running
from tests.places import tmp_path as tmp_path  # noqa: PLC0414 - a fixture of this folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.client.fake import Fake


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


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    for name in ("FAIRHOLD_SERVICE", "FAIRHOLD_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FAIRHOLD_STATE", str(tmp_path))
    with running(tmp_path) as found:
        yield found
