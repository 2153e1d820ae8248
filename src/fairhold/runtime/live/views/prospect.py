"""What the next cycle would do in the state at hand: a cycle that is run and not applied."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from fairhold.cycle.explain.restraint import controls_of
from fairhold.cycle.run import quotas, run
from fairhold.policies.registry import rules_of
from fairhold.runtime.live.views.lineup import LineUp
from fairhold.runtime.live.views.presence import connecting, presence_in

if TYPE_CHECKING:
    from collections.abc import Collection

    from fairhold.cycle.explain import Control
    from fairhold.cycle.run import CycleResult
    from fairhold.ledger.books import Books
    from fairhold.orchestrator.tasks import JobRecord
    from fairhold.runtime.live.core import Core
    from fairhold.runtime.live.views.presence import Document


class Coming(NamedTuple):
    """Units under notice: who holds them, for whom (row of the leaf, NOBODY), until when, and which attempt it is."""

    holder: int
    taker: int
    units: int
    deadline: int
    attempt: int


class Prospect:
    """One resource group."""

    def __init__(self, core: Core, group: str) -> None:
        self._cluster = core.cluster  # not the core itself, which is forgotten with what is kept for it
        self.group = group
        self.books: Books = core.orchestrator.books[group]
        self._now = core.orchestrator.now
        self._returning = connecting(core)
        self._lines: dict[int, LineUp] = {}
        self._controls: dict[int, Control | None] = {}

    @cached_property
    def result(self) -> CycleResult:
        """The whole cycle."""
        return run(self.books, self._now)

    @cached_property
    def division(self) -> CycleResult:
        """Only its quotas, which cost a part of it."""
        return self.__dict__.get("result") or quotas(self.books, self._now)

    @cached_property
    def granted(self) -> dict[int, int]:
        """Request → units that it grants."""
        found: dict[int, int] = {}
        for grant in self.result.decision.grants:
            found[grant.request] = found.get(grant.request, 0) + grant.units
        return found

    @property
    def reclaims_are_paused(self) -> bool:
        """Whether the notices of the next cycle are not given."""
        return self._cluster.paused.get(self.group, (False, False))[1]

    def leaf_of(self, job: JobRecord) -> int:
        """Row of a job's leaf."""
        return self.books.rows.by_path[job.consumer]

    def line(self, leaf: int) -> LineUp:
        """Who waits in a leaf."""
        found = self._lines.get(leaf)
        if found is None:
            found = self._lines[leaf] = LineUp(self.books, leaf)
        return found

    @cached_property
    def coming(self) -> tuple[Coming, ...]:
        """All units under notice, the earliest deadline first."""
        notices, attempt_of = self.books.notices, self._cluster.attempt_of[self.group]
        found = [
            Coming(
                self.leaf_of(attempt_of[allocation].job),
                notices.taker[row],
                notices.units[row],
                notices.deadline[row],
                attempt_of[allocation].name,
            )
            for allocation, mine in notices.by_allocation.items()
            for row in mine
        ]
        return tuple(sorted(found, key=lambda each: (each.deadline, each.attempt)))

    def control(self, leaf: int) -> Control | None:
        """The first control of the plan that keeps units from a leaf that misses some; what hosts say is not one."""
        if leaf not in self._controls:
            draft = self._weighed.draft
            misses = draft.balance.missing[leaf] or draft.waived[leaf]
            found = controls_of(self._weighed, leaf) if misses else ()
            self._controls[leaf] = next((each for each in found if each.name != "site.now"), None)
        return self._controls[leaf]

    @cached_property
    def _weighed(self) -> CycleResult:
        """The cycle, in which it is known who could give what: one that does something has weighed that."""
        if not any(self.result.decision[:3]):
            rules_of(self.books.rows).weigh(self.result.snapshot, self.result.draft)
        return self.result

    def coming_to(self, leaf: int) -> list[Coming]:
        """Units on their way to a leaf."""
        return self._coming_to.get(leaf, [])

    @cached_property
    def _coming_to(self) -> dict[int, list[Coming]]:
        found: dict[int, list[Coming]] = {}
        for each in self.coming:
            found.setdefault(each.taker, []).append(each)
        return found

    def asked_for(self, leaf: int) -> tuple[int, int]:
        """Units that the next cycle would give notice of for a leaf, and by when the last of them are due."""
        return self._asked_for.get(leaf, (0, 0))

    def comes_to(self, leaf: int, hosts: Collection[int]) -> bool:
        """Whether units on some hosts are, or with the next cycle would be, on their way to a leaf."""
        notices, host_of = self.books.notices, self.books.allocations.host
        given = ((notices.taker[row], notices.allocation[row]) for row in notices.rows())
        asked = ((notice.taker, notice.allocation) for notice in self.result.decision.notices)
        return any(taker == leaf and host_of[allocation] in hosts for taker, allocation in (*given, *asked))

    @cached_property
    def left(self) -> list[int]:
        """(hosts,) slots that nobody holds after the grants of the next cycle; fewer than 0 where slots were lost."""
        hosts = self.books.hosts
        left = [slots - used for slots, used in zip(hosts.slots, hosts.used, strict=True)]
        for grant in self.result.decision.grants:
            left[grant.host] -= grant.units
        return left

    @cached_property
    def _asked_for(self) -> dict[int, tuple[int, int]]:
        found: dict[int, tuple[int, int]] = {}
        for notice in self.result.decision.notices:
            units, deadline = found.get(notice.taker, (0, 0))
            found[notice.taker] = units + notice.units, max(deadline, notice.deadline)
        return found

    def holders(self, leaf: int, most: int) -> list[int]:
        """Other leaves that hold units, so many at most: those most above their quota first, then the largest."""
        return [row for row in self._holders[: most + 1] if row != leaf][:most]

    @cached_property
    def holding(self) -> int:
        """How many leaves hold units."""
        return len(self._holders)

    @cached_property
    def _holders(self) -> list[int]:
        held, quota, position = self.books.held, self.result.draft.quota, self.books.rows.position
        return sorted(
            (row for row in self.books.rows.leaves if held[row]),
            key=lambda row: (-max(0, held[row] - quota[row]), -held[row], position[row]),
        )

    @cached_property
    def has_host(self) -> bool:
        """Whether any host of the group may start work."""
        cluster = self._cluster
        return any(
            host.is_up and host.slots > 0 and cluster.accepts(name)
            for (group, name), host in cluster.hosts.items()
            if group == self.group
        )

    @cached_property
    def presence(self) -> Document | None:
        """Which hosts of the group are up."""
        return presence_in(self._cluster, self.group, self._returning)


State = tuple[int, int, int, int, frozenset[str]]
_LATEST: WeakKeyDictionary[Core, tuple[State, dict[str, Prospect]]] = WeakKeyDictionary()


def state_of(core: Core) -> State:
    """What is another one as soon as anything has happened."""
    live = core.orchestrator
    return id(live), live.now, core.cluster.next_attempt, len(core.journal.entries), connecting(core)


def prospect(core: Core, group: str) -> Prospect:
    """The prospect of a group; made once for a state, however many look at it."""
    state = state_of(core)
    latest = _LATEST.get(core)
    if latest is None or latest[0] != state:
        latest = _LATEST[core] = (state, {})
    found = latest[1].get(group)
    if found is None:
        found = latest[1][group] = Prospect(core, group)
    return found
