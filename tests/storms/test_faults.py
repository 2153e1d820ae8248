"""The storm finds faults: each of these is put into the product, and found within some steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fairhold.agent.spool import Spool
from fairhold.engines.agents import lease
from fairhold.orchestrator.changes import Withdrawn
from fairhold.runtime.live.desk import Desk
from fairhold.runtime.live.journal import Journal
from tests.storms import troubles
from tests.storms.deterministic import play_many

if TYPE_CHECKING:
    from collections.abc import Callable

    Put = Callable[[pytest.MonkeyPatch], None]

MOST = 100_000
"""Steps within which every fault is found."""


def starts_before_the_commit(put: pytest.MonkeyPatch) -> None:
    commit = Desk._commit

    def early(desk: Desk) -> bool:
        desk.agents.execute(desk.core.outbox.take())
        return commit(desk)

    put.setattr(Desk, "_commit", early)


def is_told_accepted_what_a_crash_would_lose(put: pytest.MonkeyPatch) -> None:
    put.setattr(Desk, "_kept", lambda _: None)


def an_agent_forgets_its_spool(put: pytest.MonkeyPatch) -> None:
    put.setattr(Spool, "attempts", lambda _: {})


def a_notice_is_withdrawn_twice(put: pytest.MonkeyPatch) -> None:
    note = Journal.note

    def twice(journal: Journal, change: Any, now: int) -> None:
        note(journal, change, now)
        if isinstance(change, Withdrawn):
            note(journal, change, now)

    put.setattr(Journal, "note", twice)


def a_key_is_not_kept(put: pytest.MonkeyPatch) -> None:
    put.setattr(Journal, "put_key", lambda *_: None)


def a_lease_is_over_too_early(put: pytest.MonkeyPatch) -> None:
    put.setattr(lease, "length", lambda seconds: seconds / 2)


FAULTS: tuple[Put, ...] = (
    starts_before_the_commit,
    is_told_accepted_what_a_crash_would_lose,
    an_agent_forgets_its_spool,
    a_notice_is_withdrawn_twice,
    a_key_is_not_kept,
    a_lease_is_over_too_early,
)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: str(fault.__name__))
def test_a_fault_is_found(fault: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(troubles, "OFTEN", 8.0)
    fault(monkeypatch)
    done, _, failed = play_many(MOST)
    assert failed is not None, f"nothing was found in {done} steps"
