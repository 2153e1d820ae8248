"""Questions about files of other machines."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest

from fairhold.engines.agents.questions import MOST_OPEN, AgentAwayError, AgentBusyError, Question
from fairhold.orchestrator.events import MachineReported, MachineSilent

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.engines.agents.fake import Desk, FakeAgent

    Connect = Callable[..., FakeAgent]

READ = Question("read", "7/0.1.out", 10, offset=3)
PATIENT = 10.0


@pytest.fixture
def desk(open_desk: Callable[..., Desk]) -> Desk:
    return open_desk(address=("127.0.0.1", 0))


@pytest.fixture
def agent(desk: Desk, connect: Connect) -> FakeAgent:
    agent = connect(desk.agents.address).introduce("far")
    desk.next(MachineReported)
    agent.hear("welcome")
    return agent


def test_answers_find_their_questions(desk: Desk, agent: FakeAgent) -> None:
    first = desk.agents.ask("far", READ)
    second = desk.agents.ask("far", Question("list", "7/0.dir", 5, after="a"))
    assert agent.hear("read") == {"n": 1, "path": "7/0.1.out", "limit": 10, "offset": 3}
    assert agent.hear("list") == {"n": 2, "path": "7/0.dir", "limit": 5, "after": "a"}
    agent.say("listing", n=2, entries=[["b", "file", 3, 5], ["c", "socket", 0, 0]])
    agent.say("piece", n=1, content=base64.b64encode(b"\0x").decode(), next=5, end=True)
    piece = first.result(PATIENT)
    assert (piece.content, piece.next, piece.is_end) == (b"\0x", 5, True)
    assert [(each.name, each.kind, each.size) for each in second.result(PATIENT)] == [
        ("b", "file", 3),
        ("c", "other", 0),
    ]


def test_what_is_not_there(desk: Desk, agent: FakeAgent) -> None:
    first, second = desk.agents.ask("far", READ), desk.agents.ask("far", Question("list", "7", 5))
    agent.say("piece", n=1, content=None)
    agent.say("listing", n=2, entries=None)
    assert first.result(PATIENT) is None
    assert second.result(PATIENT) is None


def test_an_agent_that_is_lost_answers_no_more(desk: Desk, agent: FakeAgent) -> None:
    asked = desk.agents.ask("far", READ)
    agent.hear("read")
    agent.close()
    with pytest.raises(AgentAwayError, match="was lost"):
        asked.result(PATIENT)
    desk.next(MachineSilent)
    for machine in ("far", "never", ""):
        with pytest.raises(AgentAwayError, match="not connected"):
            desk.agents.ask(machine, READ)


def test_a_question_that_was_given_up_and_one_that_nobody_asked_are_left_alone(desk: Desk, agent: FakeAgent) -> None:
    given_up = desk.agents.ask("far", READ)
    assert given_up.cancel()
    asked = desk.agents.ask("far", READ)
    for number in (1, 99, 2):
        agent.say("piece", n=number, content="", next=0, end=True)
    assert asked.result(PATIENT).content == b""


def test_an_agent_has_so_many_questions_at_a_time(desk: Desk, agent: FakeAgent) -> None:
    asked = [desk.agents.ask("far", READ) for _ in range(MOST_OPEN)]
    with pytest.raises(AgentBusyError):
        desk.agents.ask("far", READ)
    agent.say("piece", n=1, content=None)
    asked[0].result(PATIENT)
    asked.append(desk.agents.ask("far", READ))


@pytest.mark.parametrize(
    "answer",
    [{"content": "*", "next": 0, "end": True}, {"content": "", "next": -1, "end": True}, {"content": "", "end": True}],
)
def test_an_answer_that_is_none_ends_the_connection(desk: Desk, agent: FakeAgent, answer: dict[str, object]) -> None:
    asked = desk.agents.ask("far", READ)
    agent.say("piece", n=1, **answer)
    with pytest.raises(AgentAwayError):
        asked.result(PATIENT)
    assert agent.is_dropped()


def test_closing_gives_open_questions_up(desk: Desk, agent: FakeAgent) -> None:
    asked = desk.agents.ask("far", READ)
    agent.hear("read")
    desk.agents.close()
    with pytest.raises(AgentAwayError):
        asked.result(PATIENT)
    with pytest.raises(AgentAwayError):
        desk.agents.ask("far", READ)
