"""Orders go out in the thread that gives them, unless the thread of the connections is speaking."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from fairhold.engines.agents.settings import AgentSettings
from fairhold.orchestrator.events import MachineReported
from fairhold.orchestrator.instructions import Notify, Start, Withdraw
from tests.engines.agents.fake import NOW, PATIENT, Clock, Desk, FakeAgent, spec

if TYPE_CHECKING:
    from collections.abc import Callable

    OpenDesk = Callable[..., Desk]
    Connect = Callable[..., FakeAgent]

THREADS, EACH = 4, 200


def holds(*attempts: int) -> list[dict[str, object]]:
    """Attempts that an agent says it runs."""
    return [{"attempt": attempt, "alive": True, "exit": None} for attempt in attempts]


def test_an_order_needs_no_other_thread(open_desk: OpenDesk, connect: Connect) -> None:
    is_over = threading.Event()
    desk = open_desk(between=lambda: is_over.wait(PATIENT))
    agent = connect().introduce(last=7, attempts=holds(7))
    desk.next(MachineReported)  # the thread of the connections has told of it, and does nothing more
    agent.hear("welcome")
    desk.order(Withdraw(7))
    assert agent.hear("withdraw") == {"attempt": 7}
    is_over.set()


def test_who_gives_orders_does_not_wait_for_who_speaks(open_desk: OpenDesk, connect: Connect) -> None:
    speaks, may_end = threading.Event(), threading.Event()

    def is_planned(_: str) -> bool:
        speaks.set()
        return may_end.wait(PATIENT)

    desk = open_desk(is_planned=is_planned, address=("127.0.0.1", 0))
    agent = connect().introduce(last=7, attempts=holds(7))
    desk.next(MachineReported)
    agent.hear("welcome")
    connect(desk.agents.address).introduce("elsewhere")
    assert speaks.wait(PATIENT)
    desk.order(Withdraw(7))
    assert not may_end.is_set()
    may_end.set()
    assert agent.hear("withdraw") == {"attempt": 7}


def test_starts_that_wait_for_their_turn_are_looked_at_in_time(open_desk: OpenDesk, connect: Connect) -> None:
    desk = open_desk(settings=AgentSettings(starts_per_second=20, silence=3600.0))
    desk.specs["7"] = spec()
    agent = connect().introduce()
    desk.next(MachineReported)
    agent.hear("welcome")
    desk.order(*(Start(attempt, "7", attempt, 1, "compute", "") for attempt in range(1, 9)))
    assert [agent.hear("start")["attempt"] for _ in range(8)] == [*range(1, 9)]


def test_of_many_threads_every_order_arrives_once_and_in_its_order(open_desk: OpenDesk, connect: Connect) -> None:
    desk = open_desk(clock=Clock())
    last = THREADS * EACH
    agent = connect().introduce(last=last, attempts=holds(*range(1, 1 + last)))
    desk.next(MachineReported)
    agent.hear("welcome")

    def give(first: int) -> None:
        for attempt in range(first, first + EACH):
            desk.order(Notify(attempt, NOW, "quota", ""))

    threads = [threading.Thread(target=give, args=(1 + number * EACH,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for attempt in range(EACH):
        agent.say("running", attempt=attempt)  # the thread of the connections has something to do meanwhile
    heard = [agent.hear("notice")["attempt"] for _ in range(last)]
    for thread in threads:
        thread.join()
    assert sorted(heard) == [*range(1, 1 + last)]
    for number in range(THREADS):
        own = [attempt for attempt in heard if (attempt - 1) // EACH == number]
        assert own == sorted(own)
