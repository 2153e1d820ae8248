"""Very many pods that wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.runtime.live import explaining
from tests.engines.kubernetes.pretended import Pretended

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_of_a_crowd_each_is_told_that_many_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explaining, "MOST", 3)
    cluster = Pretended(tmp_path, nodes={"n1": 1})
    for name in ("a", "b", "c", "d"):
        cluster.pod(name)
    cluster.settle(8)
    assert cluster.running() == ["a"]
    assert "Pool" in cluster.why("b"), "three wait"
    for name in ("e", "f"):
        cluster.pod(name)
    cluster.settle(12)
    assert "ManyWait" in cluster.why("f")
    assert "5 jobs of /risk wait" in cluster.why("f")
