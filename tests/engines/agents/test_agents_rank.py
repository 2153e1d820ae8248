"""Agents that say that they know of more than the service does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fairhold.engines.agents.rank import Rank
from fairhold.orchestrator.events import MachineReported
from tests.engines.agents.fake import SECRET

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.engines.agents.fake import Desk, FakeAgent

KNOWN = Rank(3, 90, SECRET)
"""What a service of this store has said."""


@pytest.mark.parametrize("proof", [KNOWN.proof, "", KNOWN._replace(tail=9).proof])
def test_only_what_a_service_has_said_shows_that_the_store_has_lost_it(
    open_desk: Callable[..., Desk], connect: Callable[..., FakeAgent], proof: str
) -> None:
    told: list[str] = []
    desk = open_desk(rank=lambda: Rank(3, 10, SECRET), ahead=told.append)
    agent = connect().introduce(term=3, tail=90, proof=proof)
    if proof == KNOWN.proof:
        assert agent.is_dropped()
        assert told == ["the agent of here knows of entry 90 of the log, and the store ends with 10"]
        return
    stamped = agent.hear("welcome")
    assert (stamped["term"], stamped["tail"], stamped["proof"]) == (3, 10, Rank(3, 10, SECRET).proof)
    desk.next(MachineReported)
    desk.until_complaint("knows of entry 90 of the log, and the store ends with 10, as it says")
    assert told == []
