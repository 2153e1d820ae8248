"""What administrators want to be told when it is so: hosts that are silent, budgets that are used, owners that starve.

Looked at now and then, where the access document has thresholds. Each is told once, until it is no longer so. Since
when something is so, and whether that was told, is in the store.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.access.notifications import BUDGET_USED, HOST_SILENT, STARVING
from fairhold.access.rights import covers
from fairhold.ledger.vectors import POOLED
from fairhold.runtime.live.views.budgets import budgets_of
from fairhold.runtime.live.views.consumers import group_document
from fairhold.runtime.live.views.pools import kept_amounts
from fairhold.units import SECOND, format_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairhold.access.notifications import Threshold
    from fairhold.ports import Store
    from fairhold.runtime.live.core import Core
    from fairhold.runtime.live.journal import Journal
    from fairhold.runtime.live.outbox import Fact

THRESHOLD = "threshold"
LOOK = 15 * SECOND
"""Between two looks."""


class Reached(NamedTuple):
    """Something that is so now.

    subject : what tells it apart; fact: what is told
    since   : instant, None = since it was first seen to be so; the same at each look, as what differs is written
    """

    subject: str
    fact: Fact
    since: int | None = None


class Thresholds:
    """What was so at the last look: key of a threshold → subject → since when, and whether it was told."""

    def __init__(self, store: Store, journal: Journal) -> None:
        self._store, self._journal = store, journal
        self._so: dict[str, dict[str, tuple[int, bool]]] = {}
        self._looked = 0

    def open(self) -> None:
        """Take up what the store has."""
        for key, body in self._store.notifications(THRESHOLD).items():
            self._so[key] = {subject: (since, is_told) for subject, (since, is_told) in json.loads(body).items()}

    def due(self, core: Core) -> list[int]:
        """When to look next; nothing where there is nothing to look for."""
        has_some = self._so or core.people.access.notifications.thresholds
        return [self._looked + LOOK] if has_some else []

    def look(self, core: Core, now: int, tell: Callable[[Threshold, Fact], object]) -> None:
        """Look at all thresholds; what is so for long enough is told."""
        self._looked = now
        wanted: dict[str, Threshold] = {}
        for each in core.people.access.notifications.thresholds:
            wanted[each.key] = wanted[each.key].joined(each) if each.key in wanted else each
        for key in [key for key in self._so if key not in wanted]:
            self._keep(key, {})
        for key, threshold in wanted.items():
            before, after = self._so.get(key, {}), dict[str, tuple[int, bool]]()
            for reached in _READERS[threshold.when](core, threshold, now):
                known = before.get(reached.subject)
                since = reached.since if reached.since is not None else known[0] if known else now
                is_told = known is not None and known[1]
                if not is_told and now >= since + threshold.span:
                    is_told = True
                    when = {"event": threshold.when, "at": format_instant(now), "since": format_instant(since)}
                    tell(threshold, when | reached.fact)
                after[reached.subject] = since, is_told
            if after != before:
                self._keep(key, after)

    def _keep(self, key: str, so: dict[str, tuple[int, bool]]) -> None:
        self._so[key] = so
        if not so:
            del self._so[key]
        self._journal.put_notification(THRESHOLD, key, so or None)


def _silent(core: Core, _threshold: Threshold, _now: int) -> Iterator[Reached]:
    cluster = core.cluster
    for name in sorted(core.machines()):
        machine = cluster.machines.get(name)
        if machine is not None and machine.is_silent and not machine.is_unseen and machine.silent_at:
            yield Reached(name, {"host": name or cluster.own or "-"}, machine.silent_at)


def _used(core: Core, threshold: Threshold, now: int) -> Iterator[Reached]:
    for group, books in core.cluster.books.items():
        for row, budget in budgets_of(books, now).items():
            path, used = books.rows.path(row), Fraction(budget["used"])
            if covers(threshold.at, path) and 100 * used >= threshold.percent:
                told = {"resource_group": books.rows.group.name, "consumer": path, "period": budget["period"]}
                told |= {"used_percent": int(100 * used), "lasts_until": budget["lasts_until"]}
                yield Reached(f"{group} {path} {budget['begins']}", told)


def _starving(core: Core, threshold: Threshold, _now: int) -> Iterator[Reached]:
    """Leaves that wait and hold less than they are entitled to."""
    for group, path, numbers in _leaves(core):
        if covers(threshold.at, path) and numbers["waiting"] > 0 and numbers["entitled"] > numbers["allocated"]:
            told = {name: str(number) for name, number in numbers.items()}
            yield Reached(f"{group} {path}", {"resource_group": group, "consumer": path, **told})


def _leaves(core: Core) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Resource group, or group and resource, leaf, and what it waits for, is entitled to and holds."""
    for group, books in core.cluster.books.items():
        if group != POOLED:
            for row in group_document(core, group)["consumers"]:
                if row["leaf"]:
                    numbers = {"waiting": row["waiting"], "entitled": row["quota"], "allocated": row["allocated"]}
                    yield group, row["path"], numbers
            continue
        for path, amounts in kept_amounts(core).items():
            if path not in books.rows.by_path or not books.rows.is_leaf(books.rows.by_path[path]):
                continue
            for resource in amounts["waiting"]:
                names = ("waiting", "entitled", "allocated")
                numbers = {name: _amount(amounts[name].get(resource, 0)) for name in names}
                yield f"{books.rows.group.name} {resource}", path, numbers


def _amount(said: float | str | None) -> Fraction | float:
    """An amount as documents say it."""
    return float("inf") if said in {None, "unbounded"} else Fraction(said)


_READERS: dict[str, Callable[[Core, Threshold, int], Iterator[Reached]]] = {
    HOST_SILENT: _silent,
    BUDGET_USED: _used,
    STARVING: _starving,
}
