"""What a service does whose store is taken over, or that takes it over, at an awkward moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fairhold.engines.agents.secret import the_secret
from fairhold.ports.leading import LeaderNote
from fairhold.runtime.live.desk import LeadershipLostError
from fairhold.runtime.live.opening import LiveSettings, open_live
from fairhold.store.choosing import lease_of
from tests.live.play import PLAIN, plan_text

if TYPE_CHECKING:
    from pathlib import Path

OTHER = LeaderNote(0, "other", "here:2:2", ("http://two:7878",), 3.0)


@pytest.fixture
def settings(tmp_path: Path) -> LiveSettings:
    plan = tmp_path / "plan.yaml"
    plan.write_text(plan_text(PLAIN))
    return LiveSettings(plan, tmp_path / "state", launch=False, standby=True)


def take_over(state: Path) -> None:
    """As another service does that has seen nothing of the leader for too long."""
    lease = lease_of(state)
    seen = lease.look()
    assert seen is not None
    assert lease.take(seen, OTHER) is not None


def test_who_is_outdone_while_it_begins_to_lead_gives_way_and_does_not_fail(
    settings: LiveSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(state: Path) -> bytes:
        take_over(state)
        return the_secret(state)

    monkeypatch.setattr("fairhold.runtime.live.opening.the_secret", slow)
    with pytest.raises(LeadershipLostError, match="another service has taken the store over"):
        open_live(settings)
