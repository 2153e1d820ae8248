"""A cluster with its people, and the service that governs it, as the contract of governors plays them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

from fairhold.orchestrator.events import MachineReported, TaskEnded, TaskRunning
from fairhold.orchestrator.instructions import Start
from fairhold.ports.governor import AllSeen, Appeared, NodesChanged, Replaced

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairhold.errors import Fault
    from fairhold.model.plan import Plan
    from fairhold.orchestrator.outbox import Order
    from fairhold.ports.governor import Cluster, Report, Seat

PATIENT = 60.0
"""Seconds after which a test gives up; a busy machine may take long."""


class Place(Protocol):
    """A cluster of two nodes, and the people who use it; uids name what they have submitted."""

    plan: Plan
    nodes: list[str]

    def open(self) -> Cluster:
        """An engine that governs it, not started yet."""
        ...

    def submit(self, name: str) -> str:
        """Submit work that runs until it is ended or stopped; its uid."""
        ...

    def submit_to_controller(self, name: str) -> None:
        """Submit work that its controller makes anew when it is taken back."""
        ...

    def change(self, uid: str) -> None:
        """Its user lets waiting work have other nodes, too."""
        ...

    def end(self, uid: str, code: int) -> None:
        """Work that runs ends with an exit status."""
        ...

    def delete(self, uid: str) -> None:
        """Its user deletes work."""
        ...

    def runs(self, uid: str) -> bool: ...

    def is_there(self, uid: str) -> bool:
        """Whether there is an object of it."""
        ...

    def notice(self, uid: str) -> str:
        """What work is told of its notice, empty = nothing."""
        ...

    def cut(self) -> None:
        """The cluster is not heard any more."""
        ...

    def mend(self) -> None:
        """It is heard again."""
        ...


class Bench:
    """Plays the service: answers all that appears, and orders what a test wants.

    told     : all that the engine has said
    seats    : uid → its task
    attempts : number → (uid, host) of those that are not over
    refusal  : of all that appears, None = it is accepted
    """

    def __init__(self, place: Place) -> None:
        self.place = place
        self.told: list[Report] = []
        self.seats: dict[str, Seat] = {}
        self.attempts: dict[int, tuple[str, str]] = {}
        self.refusal: Fault | None = None
        self._number = 0
        self.engine = self._open()

    def _open(self) -> Cluster:
        engine = self.place.open()
        engine.governor.met_before(self.seats)
        engine.start()
        return engine

    def reopen(self, *first: Order, after: Callable[[], None] = lambda: None) -> None:
        """The service ends and comes back.

        after : what happens meanwhile; first: what it orders before it has taken in anything
        """
        self.engine.close()
        after()
        self.told.clear()
        self.engine = self._open()
        self.engine.execute(first)
        self.until(lambda: self.all_of(AllSeen))

    def close(self) -> None:
        self.engine.close()

    def look(self) -> None:
        """Take in what is told, and answer it."""
        for report in self.engine.events():
            self.told.append(report)
            self._answer(report)
        self.engine.execute([])

    def until(self, what: Callable[[], object]) -> None:
        end = time.monotonic() + PATIENT
        while not what():
            assert time.monotonic() < end, f"it did not come to be: {self.told}"
            self.look()
            time.sleep(0.01)

    def _answer(self, report: Report) -> None:
        governor = self.engine.governor
        if isinstance(report, NodesChanged):
            governor.use(self.place.plan)
        elif isinstance(report, Appeared):
            (uid,) = report.work
            held = [(number, host) for number, (whose, host) in self.attempts.items() if whose == uid]
            if self.refusal is not None:
                governor.refused(uid, self.refusal)
            else:
                governor.accepted(uid, self.seats.setdefault(uid, (f"job-{uid}", 0)), *(held[0] if held else ()))
        elif isinstance(report, Replaced):
            self.seats[report.uid] = (report.job, report.index)
        elif isinstance(report, TaskEnded):
            assert report.attempt in self.attempts, f"an end is told once: {report}"
            del self.attempts[report.attempt]
        elif isinstance(report, MachineReported):  # what never arrived is ordered again
            held_there = {each.attempt for each in report.held}
            mine = [number for number, (_, host) in self.attempts.items() if host == report.machine]
            self.engine.execute([self.order(number) for number in mine if number not in held_there])

    def all_of(self, kind: type[Report]) -> list[Report]:
        return [report for report in self.told if isinstance(report, kind)]

    def submit(self, name: str) -> str:
        """Submit work; its uid, once it was told."""
        uid = self.place.submit(name)
        self.until(lambda: uid in self.seats)
        return uid

    def start(self, uid: str, at: int = 0) -> int:
        """Let work go; its attempt."""
        attempt = self.decide(uid, at)
        self.engine.execute([self.order(attempt)])
        return attempt

    def decide(self, uid: str, at: int = 0) -> int:
        """Write down that work is let go; its attempt, which is not ordered yet."""
        self._number += 1
        self.attempts[self._number] = (uid, self.place.nodes[at])
        return self._number

    def order(self, number: int) -> Start:
        uid, host = self.attempts[number]
        return Start(number, *self.seats[uid], 1, "", host)

    def run(self, name: str) -> tuple[str, int]:
        """Work that runs: its uid and attempt."""
        uid = self.submit(name)
        attempt = self.start(uid)
        self.until(lambda: TaskRunning(attempt) in self.told)
        return uid, attempt

    def end_of(self, attempt: int) -> TaskEnded:
        """How an attempt ended, once it is told."""
        self.until(lambda: attempt not in self.attempts)
        (found,) = [each for each in self.told if isinstance(each, TaskEnded) and each.attempt == attempt]
        return found
