"""Gangs that never fit, and gangs for which units are held (R-GANG-1, R-HOLD-1)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from fairhold.cycle.verify.counting import never_used

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairhold.cycle.verify.quotas import Quotas
    from fairhold.cycle.verify.sheet import Sheet
    from fairhold.model.state import Request

Parts = TypeVar("Parts")
ONE_BY_ONE = 50
"""So many leaves give way one after another, and so many are looked at again (R-GANG-1)."""


def settled(
    sheet: Sheet, held: Mapping[str, int], compute: Callable[[Sheet], tuple[Quotas, Parts]]
) -> tuple[Quotas, Parts]:
    """Quotas none of which is more than what the leaf's requests could use of it (R-GANG-1).

    held : request → units
    """
    lines = {leaf: line_of(sheet, leaf, held) for leaf in sheet.leaves}
    lines = {leaf: line for leaf, line in lines.items() if any(is_short(request, held) for request in line)}
    bounds: dict[str, int] = {}
    found = compute(sheet)
    while cannot := _cannot_use(sheet, lines, held, bounds, found[0]):
        last = list(cannot)[-1]
        bounds |= {last: cannot[last]} if len(bounds) < ONE_BY_ONE else cannot
        found = compute(_bounded(sheet, bounds))
    for leaf in [leaf for leaf in lines if leaf in bounds][:ONE_BY_ONE]:
        more = {other: units for other, units in bounds.items() if other != leaf}
        trial = compute(_bounded(sheet, more))
        if not _cannot_use(sheet, lines, held, more, trial[0]):
            bounds, found = more, trial
    return found


def _bounded(sheet: Sheet, bounds: Mapping[str, int]) -> Sheet:
    """The sheet of a group where some leaves can use no more than so much.

    With fixed shares a gang that no planned share is enough for still wants what others leave.
    """
    if sheet.is_fixed:
        return replace(sheet, most={**sheet.most, **bounds})
    return replace(sheet, usable={**sheet.usable, **bounds})


def _cannot_use(
    sheet: Sheet,
    lines: Mapping[str, list[Request]],
    held: Mapping[str, int],
    bounds: Mapping[str, int],
    quotas: Quotas,
) -> dict[str, int]:
    """Leaf → units that it could use, of those with a larger quota, in path order."""
    found: dict[str, int] = {}
    before = sheet.most if sheet.is_fixed else sheet.usable
    for leaf, line in lines.items():
        units = could_use(line, held, sheet.counted[leaf], quotas.quota[leaf])
        if units < quotas.quota[leaf] and units < bounds.get(leaf, before[leaf]):
            found[leaf] = units
    return found


def could_use(line: list[Request], held: Mapping[str, int], wanted: int, quota: int) -> int:
    """Units of a quota that the requests of a leaf could hold together, taken in the order of the line.

    What is wanted beyond the requests comes last; nobody can use more than is wanted, and what is held is used.
    """
    out_of_reach = 0
    left = quota
    for request in line:
        if request.min_count > left:
            out_of_reach += request.count
        else:
            left -= min(left, request.count)
    now_held = sum(held.get(request.id, 0) for request in line)
    return max(min(quota, wanted - out_of_reach), min(now_held, wanted))


def line_of(sheet: Sheet, leaf: str, held: Mapping[str, int]) -> list[Request]:
    """The requests of a leaf: by priority, gangs before others, overdue ones in front, then submitted, id."""

    def key(request: Request) -> tuple[int, bool, bool, int, str]:
        is_late = waits(request, held) and is_overdue(sheet, request)
        return (-request.priority, not is_late, not request.min_count, request.submitted, request.id)

    never = never_used(sheet, held)
    mine = [each for name, each in sheet.requests.items() if sheet.holder[name] == leaf]
    mine = [replace(each, count=each.count - never.get(each.id, 0)) for each in mine]
    return sorted((each for each in mine if each.count), key=key)


def is_short(request: Request, held: Mapping[str, int]) -> bool:
    """Whether a request is a gang that wants more than it holds."""
    return request.min_count > 0 and held.get(request.id, 0) < request.count


def waits(request: Request, held: Mapping[str, int]) -> bool:
    """Whether a request is a gang that does not run."""
    return held.get(request.id, 0) < request.min_count


def is_overdue(sheet: Sheet, request: Request) -> bool:
    """Whether units are held for a gang by now, where it can be served at all."""
    after = sheet.switches[sheet.holder[request.id]].hold_after
    since = request.submitted if request.since is None else request.since
    return after is not None and sheet.now - since >= after
