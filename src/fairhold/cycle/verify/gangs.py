"""Gangs that never fit, and gangs for which units are held (R-GANG-1, R-HOLD-1)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from fairhold.cycle.verify.rooms import alike

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairhold.cycle.verify.quotas import Quotas
    from fairhold.cycle.verify.sheet import Sheet
    from fairhold.model.state import Request

Parts = TypeVar("Parts")
ONE_BY_ONE = 50
"""The number of leaves that give way one by one, and of those that are tried again (R-GANG-1)."""


def settled(sheet: Sheet, compute: Callable[[Sheet], tuple[Quotas, Parts]]) -> tuple[Quotas, Parts]:
    """Quotas that the requests of each leaf can use completely (R-GANG-1)."""
    if not any(each.min_count and sheet.older.get(each.id, 0) < each.count for each in sheet.requests.values()):
        return compute(sheet)
    lines = {leaf: line_of(sheet, leaf) for leaf in sheet.leaves}
    lines = {leaf: line for leaf, line in lines.items() if any(request.min_count for request in line)}
    bounds: dict[str, int] = {}
    found = compute(sheet)
    while cannot := _cannot_use(sheet, lines, bounds, found[0]):
        last = list(cannot)[-1]
        bounds |= {last: cannot[last]} if len(bounds) < ONE_BY_ONE else cannot
        found = compute(_bounded(sheet, bounds))
    for leaf in [leaf for leaf in lines if leaf in bounds][:ONE_BY_ONE]:
        more = {other: units for other, units in bounds.items() if other != leaf}
        trial = compute(_bounded(sheet, more))
        if not _cannot_use(sheet, lines, more, trial[0]):
            bounds, found = more, trial
    return found


def _bounded(sheet: Sheet, bounds: Mapping[str, int]) -> Sheet:
    """The sheet with a bound on what some leaves can use.

    With fixed shares, a gang larger than its planned share still asks for what others leave.
    """
    if sheet.is_fixed:
        return replace(sheet, most={**sheet.most, **bounds})
    return replace(sheet, usable={**sheet.usable, **bounds})


def _cannot_use(
    sheet: Sheet,
    lines: Mapping[str, list[Request]],
    bounds: Mapping[str, int],
    quotas: Quotas,
) -> dict[str, int]:
    """Leaf → units that it can use, for leaves with a larger quota, in path order."""
    found: dict[str, int] = {}
    before = sheet.most if sheet.is_fixed else sheet.usable
    for leaf, line in lines.items():
        units = could_use(sheet, line, sheet.counted[leaf], quotas.quota[leaf])
        if units < quotas.quota[leaf] and units < bounds.get(leaf, before[leaf]):
            found[leaf] = units
    return found


def could_use(sheet: Sheet, line: list[Request], wanted: int, quota: int) -> int:
    """Units of a quota that the requests of a leaf could hold together, taken in the order of the line.

    No leaf can use more than its demand; it uses all of it where the quota suffices. Running gangs may continue beside
    those that come before them: what they hold is taken first, where more is used so. They run if they did before this
    instant, so that a second cycle counts the same.
    """
    if wanted <= quota:
        return wanted
    held = sheet.older
    runs = {each.id: min(held.get(each.id, 0), each.count) for each in line if each.min_count and not waits(each, held)}
    return min(wanted, max(_filled(sheet, line, {}, quota), _filled(sheet, line, runs, quota)))


def _filled(sheet: Sheet, line: list[Request], first: Mapping[str, int], quota: int) -> int:
    """Units of a quota that requests take in their order, but some of what they want first.

    Those that share hosts take no more together than counts of them (R-SITE-2).

    first : request → units
    """
    left, taken = quota, Counter[str]()
    beside = {alike(each): sheet.together[each.id] for each in line}
    turns = [(each, first[each.id]) for each in line if each.id in first] + [(each, each.count) for each in line]
    for request, most in turns:
        room = min(left, beside[alike(request)]) if any(request.siting) else left
        if taken[request.id] or request.min_count <= room:
            units = min(room, most - taken[request.id])
            taken[request.id] += units
            beside[alike(request)] -= units
            left -= units
    return quota - left


def line_of(sheet: Sheet, leaf: str) -> list[Request]:
    """The requests of a leaf with the part that counts, by priority, gangs before others, then submitted, id."""
    mine = [each for name, each in sheet.requests.items() if sheet.holder[name] == leaf]
    mine = [replace(each, count=each.count - sheet.never[each.id]) for each in mine]
    return sorted(mine, key=lambda each: (-each.priority, not each.min_count, each.submitted, each.id))


def waits(request: Request, held: Mapping[str, int]) -> bool:
    """Whether a request is a gang that does not run."""
    return held.get(request.id, 0) < request.min_count


def is_overdue(sheet: Sheet, request: Request) -> bool:
    """Whether a gang has waited so long that units are held for it, and can be served at all."""
    after = sheet.switches[sheet.holder[request.id]].hold_after
    since = request.submitted if request.since is None else request.since
    return after is not None and sheet.now - since >= after
