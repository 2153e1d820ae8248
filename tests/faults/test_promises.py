"""The longest lease that may not be over is known at the next start."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from fairhold.runtime.live.leases import PromisedLeases
from fairhold.store.opening import open_store

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_longer_lease_counts_until_a_service_has_outlived_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(tmp_path / "state")
    assert PromisedLeases(store, 600).before == 0
    shorter = PromisedLeases(store, 10)
    assert shorter.before == 600
    shorter.close()
    patient = PromisedLeases(store, 10)
    assert patient.before == 600, "it ended too early, or was killed"
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 612)
    patient.close()
    patient.close()
    assert PromisedLeases(store, 20).before == 10
    assert PromisedLeases(store, 0).before == 20, "it gives no leases, and waits for those of others"
    store.close()
