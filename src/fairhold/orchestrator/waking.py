"""When to wake a live cluster next: for a cycle, the end of a grace, a retry, a budget or a switch of entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from fairhold.ledger import transitions
from fairhold.orchestrator.budgets import next_of_budgets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.cycle.pacing import Pacing
    from fairhold.orchestrator.cluster import Cluster


class Switches(Protocol):
    """What knows when something else is in force."""

    @property
    def may_come(self) -> bool:
        """Whether a switch may ever come."""
        ...

    def next(self, now: int) -> int | None:
        """When the next switch is; None = none is ahead."""
        ...


class Waking:
    """Finds the next wake-up after every event; windows and budgets are skipped if the plan has none.

    with_budgets : books in which somebody has a budget
    switches : of these, those that may ever come
    is_timed : there are any of either
    """

    def __init__(self, cluster: Cluster, pacing: Mapping[str, Pacing], switches: tuple[Switches, ...]) -> None:
        self._cluster, self._pacing = cluster, pacing
        self.with_budgets = [each for each in cluster.books.values() if each.spending is not None]
        self.switches = tuple(each for each in switches if each.may_come)
        self.is_timed = bool(self.with_budgets or self.switches)

    def next(self, now: int) -> int | None:
        """The next instant at which something is due; None = nothing is."""
        found = self._cluster.due.next()
        for pacing in self._pacing.values():
            if pacing.due is not None and (found is None or pacing.due < found):
                found = pacing.due
        for books in self._cluster.books.values():
            grace = transitions.next_deadline(books) if books.notices.due else None
            if grace is not None and (found is None or grace < found):
                found = grace
        if not self.is_timed:
            return found
        far = [next_of_budgets(books, now) for books in self.with_budgets]
        far += [switches.next(now) for switches in self.switches]
        return min((instant for instant in (found, *far) if instant is not None), default=None)
