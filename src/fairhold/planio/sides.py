"""Resource groups whose consumers are under several policy entries side by side (SPEC §4 "Mixing", §9; R-MIX-1).

A group is *divided* where two of its entries list no first-level consumer in common and are in force side by side: then
each first-level consumer is under the entries that list it. Otherwise one entry at a time is for the whole group.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from fairhold.model.window import DAY, WEEKDAYS
from fairhold.planio.report import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairhold.model.plan import PolicyEntry
    from fairhold.model.tree import ConsumerTree
    from fairhold.model.window import Span
    from fairhold.planio.report import Report

    Placed = Sequence[tuple[int, PolicyEntry]]
    """Entries of one resource group with their positions under `policies:`."""


NOWHERE = "consumer-in-no-entry"
"""Code of the fault that a consumer of a divided group is under no entry."""


def of_groups(entries: Sequence[PolicyEntry]) -> dict[str, list[tuple[int, PolicyEntry]]]:
    """Resource group → its entries, in plan order."""
    found: dict[str, list[tuple[int, PolicyEntry]]] = {}
    for at, entry in enumerate(entries):
        for group in entry.resource_groups:
            found.setdefault(group, []).append((at, entry))
    return found


def listed_by(entry: PolicyEntry, tree: ConsumerTree) -> frozenset[int]:
    """First-level consumers that an entry lists, or of which it lists one below."""
    return frozenset(tree.first_level[row] for row in entry.consumers)


def is_divided(entries: Placed, tree: ConsumerTree) -> bool:
    """Whether two entries of a group that list no first-level consumer in common are in force side by side.

    Entries without a window cannot take turns: two of them stand side by side whatever they list, but for all the same.
    """
    if len(entries) < 2:
        return False
    windows = [entry for _, entry in entries if entry.window]
    has_rest = not _fill_the_week(windows)
    lists = {at: listed_by(entry, tree) for at, entry in entries}
    return any(
        (not lists[at] & lists[other] and _meet(one, two, has_rest=has_rest))
        or (not one.window and not two.window and lists[at] != lists[other])
        for (at, one), (other, two) in combinations(entries, 2)
        if lists[at] and lists[other]
    )


def _meet(one: PolicyEntry, other: PolicyEntry, *, has_rest: bool) -> bool:
    """Whether entries of different consumers are meant for the same time, and do not only take turns.

    Policies that can be mixed are; an entry without a window takes turns with others where their windows leave time.
    """
    if one.policy != other.policy and one.policy.goes_with(other.policy):
        return True
    if not one.window or not other.window:
        return not has_rest
    parts = [(day, start, end) for span in other.spans for day, start, end in _parts(span)]
    return any(
        day == other_day and start < other_end and other_start < end
        for span in one.spans
        for day, start, end in _parts(span)
        for other_day, other_start, other_end in parts
    )


def _parts(span: Span) -> Iterator[tuple[int, int, int]]:
    """Kind of day, first and last minute; what follows midnight stands under the next weekday."""
    yield span.day, span.start, min(span.end, DAY)
    if span.end > DAY and span.day < len(WEEKDAYS):
        yield (span.day + 1) % len(WEEKDAYS), 0, span.end - DAY


def _fill_the_week(entries: Sequence[PolicyEntry]) -> bool:
    """Whether windows leave no time of an ordinary week."""
    parts = sorted(part for entry in entries for span in entry.spans for part in _parts(span))
    for day in range(len(WEEKDAYS)):
        reached = 0
        for kind, start, end in parts:
            if kind == day and start <= reached:
                reached = max(reached, end)
        if reached < DAY:
            return False
    return True


def sides(entries: Placed, tree: ConsumerTree) -> list[tuple[tuple[int, ...], list[tuple[int, PolicyEntry]]]]:
    """First-level consumers of a divided group with the entries that list them; those alike stand together."""
    lists = [(at, entry, listed_by(entry, tree)) for at, entry in entries]
    alike: dict[tuple[int, ...], list[int]] = {}
    for row in tree.children[0]:
        alike.setdefault(tuple(at for at, _, consumers in lists if row in consumers), []).append(row)
    by_place = dict(entries)
    return [(tuple(rows), [(at, by_place[at]) for at in places]) for places, rows in alike.items()]


def check_sides(report: Report, entries: Sequence[PolicyEntry], tree: ConsumerTree) -> None:
    """Report consumers and groups that are under two entries without a window, and consumers under none."""
    for group, mine in of_groups(entries).items():
        if not is_divided(mine, tree):
            _check_whole(report, group, [at for at, entry in mine if not entry.window])
            continue
        for rows, own in sides(mine, tree):
            always = [at for at, entry in own if not entry.window]
            for row in rows:
                path = tree.paths[row]
                if not own:
                    what = (
                        f"`{shown(path)}` is in no policy entry of `{shown(group)}`, though the entries list consumers"
                    )
                    mend = f"list it in one of them, as `{shown(path)}: {{}}`"
                    report.fault("consumer-in-no-entry", what, mend, ("policies", mine[0][0], "consumers"))
                elif len(always) > 1:
                    first, last = (f"`policies[{at}]`" for at in (always[0], always[-1]))
                    what = f"`{shown(path)}` is in {first} and {last} of `{shown(group)}`, both without a window"
                    mend = "list it in one of them, or give one a `window`"
                    report.fault("consumer-under-two", what, mend, _place(entries[always[-1]], always[-1], row, tree))


def _place(entry: PolicyEntry, at: int, top: int, tree: ConsumerTree) -> tuple[str | int, ...]:
    listed = next(row for row in entry.consumers if tree.first_level[row] == top)
    return ("policies", at, "consumers", tree.paths[listed])


def _check_whole(report: Report, group: str, always: list[int]) -> None:
    for at in always[1:]:
        what = f"the resource group `{shown(group)}` is in two policy entries, the first is `policies[{always[0]}]`"
        mend = "keep it in one of them, give one a `window`, or list other first-level consumers in each"
        report.fault("group-shared-twice", what, mend, ("policies", at, "resource_groups"))
