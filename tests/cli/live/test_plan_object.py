"""Where the state of a service is whose plan is an object of a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fairhold.cli.live import serving
from fairhold.client.finding import STATE
from fairhold.errors import UsageError
from tests.faults.house import plan as a_plan

if TYPE_CHECKING:
    from pathlib import Path


def wanted(plan: Path | None, state: Path | None, plan_object: str) -> serving.Wanted:
    cluster = serving.WantedCluster(None, "", "15s", "", plan_object)
    of_service = ("", "127.0.0.1", 0, None, None, "", "10m", 0, (), "INFO")
    return serving.Wanted(plan, state, *of_service)._replace(cluster=cluster)


def test_the_state_directory_has_the_name_of_the_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(STATE, raising=False)
    monkeypatch.setattr(serving, "base_directory", lambda: tmp_path)
    plan = tmp_path / "plan.yaml"
    plan.write_text(a_plan().replace("cluster: house", "cluster: bank"))
    assert serving._directory(wanted(None, None, "research")) == tmp_path / "research"
    assert serving._directory(wanted(plan, None, "research")) == tmp_path / "bank"
    assert serving._directory(wanted(None, tmp_path / "there", "research")) == tmp_path / "there"
    with pytest.raises(UsageError, match="name a PLAN, --state or"):
        serving._directory(wanted(None, None, ""))
