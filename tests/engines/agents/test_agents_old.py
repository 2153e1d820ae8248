"""Agents of other machines ask which jobs are forgotten; whoever looks after the store answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fairhold.engines.agents.settings import AgentSettings
from fairhold.orchestrator.events import MachineReported, MachineSilent
from tests.engines.agents.fake import Desk, FakeAgent, until

if TYPE_CHECKING:
    from collections.abc import Callable

    Connect = Callable[..., FakeAgent]


@pytest.fixture
def desk(open_desk: Callable[..., Desk]) -> Desk:
    return open_desk(address=("127.0.0.1", 0), settings=AgentSettings(keep=50.0))


def far(desk: Desk, connect: Connect, name: str = "far") -> FakeAgent:
    agent = connect(desk.agents.address).introduce(name)
    desk.next(MachineReported)
    assert agent.hear("welcome")["keep"] == 50
    return agent


def answer(desk: Desk, *forgotten: str) -> list[list[str]]:
    """Answer whoever has asked; what it was about."""
    asked: list[list[str]] = []

    def those(jobs: list[str]) -> list[str]:
        asked.append(jobs)
        return [job for job in jobs if job in forgotten]

    def is_answered() -> bool:
        desk.agents.answer_old(those)
        return bool(asked)

    until(is_answered)
    return asked


def test_who_asks_is_told_which_are_forgotten(desk: Desk, connect: Connect) -> None:
    one, other = far(desk, connect, "one"), far(desk, connect, "other")
    one.say("old", jobs=["1", "2"])
    assert answer(desk, "2", "3") == [["1", "2"]]
    assert one.hear("clear") == {"jobs": ["2"]}
    other.say("old", jobs=["3"])
    assert answer(desk) == [["3"]]
    assert other.hear("clear") == {"jobs": []}
    desk.agents.answer_old(lambda _: pytest.fail("all are answered"))


def test_an_answer_that_fails_is_given_later(desk: Desk, connect: Connect) -> None:
    agent = far(desk, connect)
    agent.say("old", jobs=["1"])

    def fails(jobs: list[str]) -> list[str]:
        raise OSError(jobs[0])

    def has_failed() -> bool:
        try:
            desk.agents.answer_old(fails)
        except OSError:
            return True
        return False

    until(has_failed)
    assert answer(desk, "1") == [["1"]]
    assert agent.hear("clear") == {"jobs": ["1"]}


def test_an_answer_does_not_go_over_a_later_connection(desk: Desk, connect: Connect) -> None:
    agent = far(desk, connect)
    agent.say("old", jobs=["1"])
    until(lambda: bool(desk.agents._old))
    agent.close()
    desk.next(MachineSilent)
    again = far(desk, connect)
    desk.agents.answer_old(lambda _: pytest.fail("nobody is there to hear it"))
    again.say("old", jobs=["2"])
    assert answer(desk, "1", "2") == [["2"]]
    assert again.hear("clear") == {"jobs": ["2"]}


@pytest.mark.usefixtures("desk")
def test_the_own_machines_folders_are_the_services(connect: Connect) -> None:
    agent = connect().introduce()
    assert agent.hear("welcome")["keep"] is None
