"""Attempts of tasks, and what those are told that are to give their units back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from fairhold.ledger.vectors import PartsTold
    from fairhold.model.state import Allocation
    from fairhold.orchestrator.tasks import JobRecord


class Notice(NamedTuple):
    """An attempt is to give its units back; fields as in `Notify`."""

    deadline: int
    reason: str
    taker: str
    cycle: int = 0
    job: str = ""


def leave_by(deadline: int) -> Notice:
    """The notice of a host that is being drained."""
    return Notice(deadline, "host", "")


class Attempt:
    """One attempt of a task that holds units.

    name        : its number in the whole cluster's life
    number      : which attempt of its task it is, from 1
    allocations : rows of its units in the books
    places      : (host, units) of them; machines : of these hosts, the one where it runs in front
    started     : instant
    is_running  : its command is known to run
    is_unknown  : its machine is silent
    noticed     : it was told that its units are reclaimed, now or before a withdrawal
    notice      : in force, None = none
    leaving     : deadline by which it is to leave its host, which is being drained; None = it may stay
    stopping    : why it was told to stop, empty = it was not
    pool, lenders, devices, parts : of a unit of a vector, as in `Started`
    noun        : the same as a cycle was told it last, None = no cycle was told where it stands now
    """

    __slots__ = (
        "allocations",
        "devices",
        "index",
        "is_running",
        "is_unknown",
        "job",
        "leaving",
        "lenders",
        "machines",
        "name",
        "notice",
        "noticed",
        "noun",
        "number",
        "parts",
        "places",
        "pool",
        "request",
        "started",
        "stopping",
    )

    def __init__(  # noqa: PLR0917 - the fields of a start, in its order
        self,
        name: int,
        job: JobRecord,
        index: int,
        number: int,
        request: int,
        places: tuple[tuple[str, int], ...],
        started: int,
    ) -> None:
        self.name = name
        self.job = job
        self.index = index
        self.number = number
        self.request = request
        self.places = places
        self.machines: tuple[str, ...] = (places[0][0],)
        self.started = started
        self.allocations: tuple[int, ...] = ()
        self.is_running = self.is_unknown = self.noticed = False
        self.notice: Notice | None = None
        self.leaving: int | None = None
        self.stopping = self.pool = ""
        self.lenders: tuple[str, ...] = ()
        self.devices: tuple[int, ...] = ()
        self.parts: PartsTold = ()
        self.noun: Allocation | None = None

    def stands(self, pool: str, lenders: tuple[str, ...], devices: tuple[int, ...], parts: PartsTold = ()) -> Attempt:
        """The same, of a unit of a vector that stands there; fields as in `Started`."""
        self.pool, self.lenders, self.devices, self.parts, self.noun = pool, lenders, devices, parts, None
        return self

    @property
    def units(self) -> int:
        """Slots that it holds."""
        return self.job.terms.units

    @property
    def is_own(self) -> bool:
        """Of a unit of a vector, whether its leaf, or consumers above it, own all that it stands on."""
        return self.pool not in {"", "/"} and not self.lenders

    @property
    def told(self) -> Notice | None:
        """The notice as the attempt is told it: it has left its host by then, too."""
        if self.notice is None or self.leaving is None:
            return self.notice
        return self.notice._replace(deadline=min(self.notice.deadline, self.leaving))

    @property
    def machine(self) -> str:
        """Name of the machine where it runs, and is told what it is told."""
        return self.machines[0]
