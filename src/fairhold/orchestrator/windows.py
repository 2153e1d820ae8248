"""When other policy entries come into force in a live cluster (R-WINDOW-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.ledger.rows import in_other_window
from fairhold.ledger.vectors import vector_groups
from fairhold.orchestrator import changes as say
from fairhold.orchestrator.budgets import use_up, warn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairhold.ledger.books import Books
    from fairhold.orchestrator.cluster import Cluster


def open_window(cluster: Cluster, change: say.WindowOpened, _now: int) -> None:
    """Put other entries into force in a resource group: its books use their columns from now on (R-WINDOW-2)."""
    books = cluster.books[change.resource_group]
    books.use(in_other_window(books.rows, change.entries))


BY_TIME: dict[type, Callable[[Cluster, Any, int], None]] = {
    say.WindowOpened: open_window,
    say.BudgetsSpent: use_up,
    say.BudgetsWarned: warn,
}
"""What these changes do to a cluster."""


class Openings:
    """The switches that are ahead, one for each resource group whose entries have windows.

    Entries that are in force by the log stay so until a switch is taken, whatever the clock says meanwhile: after a
    start the first one may be long due.
    """

    def __init__(self, books: Mapping[str, Books]) -> None:
        of_slots = {group: each for group, each in books.items() if each.vectors is None}
        self._books = {group: each for group, each in of_slots.items() if each.rows.source.calendar is not None}
        self._next: dict[str, int | None] = {}
        self.may_come = bool(self._books)

    def next(self, now: int) -> int | None:
        """When the next switch is due; None = none is ahead."""
        for group in self._books:
            if group not in self._next:
                self._look_ahead(group, now)
        return min((instant for instant in self._next.values() if instant is not None), default=None)

    def take(self, now: int) -> list[tuple[str, tuple[int, ...]]]:
        """Resource groups whose switch is due, with the entries that come into force."""
        found = []
        for group, books in self._books.items():
            due = self._next.get(group, now)
            if due is not None and due <= now:
                calendar = books.rows.source.calendar
                assert calendar is not None
                force = calendar.in_force(group, now)
                if force != books.rows.force:
                    found.append((group, force))
                switch = calendar.next_switch(group, now)
                self._next[group] = None if switch is None else switch.instant
        return found

    def _look_ahead(self, group: str, now: int) -> None:
        rows = self._books[group].rows
        calendar = rows.source.calendar
        assert calendar is not None
        if calendar.in_force(group, now) != rows.force:
            self._next[group] = now
            return
        switch = calendar.next_switch(group, now)
        self._next[group] = None if switch is None else switch.instant


class VectorSwitches:
    """When other entries share vectors: a cycle looks itself which are in force, so that nothing else is to be done."""

    def __init__(self, books: Books | None) -> None:
        self._plan = None if books is None else books.rows.source
        self._next: int | None = None
        self._is_known = False
        self.may_come = self._plan is not None and self._plan.calendar is not None

    def next(self, now: int) -> int | None:
        """When the next switch is; None = none is ahead."""
        if not self._is_known:
            self._is_known, self._next = True, self._after(now)
        return self._next

    def take(self, now: int) -> bool:
        """Whether a switch is due; the next one is looked for then."""
        due = self.next(now)
        if due is None or due > now:
            return False
        self._next = self._after(now)
        return True

    def _after(self, now: int) -> int | None:
        plan = self._plan
        if plan is None or plan.calendar is None:
            return None
        groups = [group for group in vector_groups(plan) if group in plan.calendar.windows.tracks]
        switches = [plan.calendar.next_switch(group, now) for group in groups]
        return min((switch.instant for switch in switches if switch is not None), default=None)
