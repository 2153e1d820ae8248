"""What the kernel does not limit on a host: said once, where the plan hands it out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fairhold.orchestrator.events import MachineReported, MachineSilent

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.engines.agents.fake import Desk, FakeAgent

    OpenDesk = Callable[..., Desk]
    Connect = Callable[..., FakeAgent]

WORDS = "has no control groups that limit"


def come_and_go(desk: Desk, connect: Connect, **more: Any) -> None:
    agent = connect().introduce(**more)
    desk.next(MachineReported)
    agent.hear("welcome")
    agent.close()
    desk.next(MachineSilent)


@pytest.mark.parametrize(
    ("enforced", "said"),
    [
        ([], "here has no control groups that limit memory and cpu: "),
        (["memory"], "here has no control groups that limit cpu: a task may use more processor time than its unit"),
        (["cpu"], "here has no control groups that limit memory: "),
    ],
)
def test_what_is_not_limited_is_said_once(
    open_desk: OpenDesk, connect: Connect, enforced: list[str], said: str
) -> None:
    desk = open_desk(handed_out=lambda: ["memory", "gpu", "cpu"])
    come_and_go(desk, connect, enforced=enforced)
    come_and_go(desk, connect, enforced=enforced)
    (complaint,) = [each for each in desk.complaints if WORDS in each]
    assert complaint.startswith(said)
    come_and_go(desk, connect, enforced=["memory", "cpu"])
    come_and_go(desk, connect, enforced=enforced)
    assert sum(WORDS in each for each in desk.complaints) == 2


@pytest.mark.parametrize(
    ("handed_out", "more"),
    [
        ([], {"enforced": []}),
        (["gpu"], {"enforced": []}),
        (["memory"], {"enforced": ["memory"]}),
        (["cpu"], {}),
        (["cpu"], {"enforced": None}),
    ],
    ids=["a plan of slots", "of others", "it is limited", "an older agent", "one that says nothing"],
)
def test_there_is_nothing_to_say(
    open_desk: OpenDesk, connect: Connect, handed_out: list[str], more: dict[str, Any]
) -> None:
    desk = open_desk(handed_out=lambda: handed_out)
    come_and_go(desk, connect, **more)
    assert not any(WORDS in each for each in desk.complaints)


def test_limits_that_are_no_list_are_no_inventory(open_desk: OpenDesk, connect: Connect) -> None:
    desk = open_desk()
    assert connect().introduce(enforced="cpu").is_dropped()
    desk.until_complaint("the limits that it enforces are not a list")
