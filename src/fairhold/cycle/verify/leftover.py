"""Grants of slots that fixed planned shares leave idle: first come, first served (SPEC §5: R-SHARE-7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fairhold.cycle.verify.sheet import TOP

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.cycle.verify.granting import Idle
    from fairhold.cycle.verify.quotas import Quotas
    from fairhold.cycle.verify.sheet import Sheet


class Waiting(NamedTuple):
    """A request with its waiting units; where the state has counts, all waiting units of a leaf."""

    submitted: int
    position: int
    id: str
    leaf: str
    units: int


def waiting(
    sheet: Sheet, served: Mapping[str, Mapping[str, int]], held: Mapping[str, int], room: Mapping[str, int]
) -> list[Waiting]:
    """All waiting requests by submission time, then in path order.

    served : leaf → request → units that the quotas gave it
    held   : request → units held
    room   : leaf → units that it can still use
    """
    found = []
    for position, leaf in enumerate(sheet.leaves):
        if not sheet.requests:
            found.append(Waiting(0, position, "", leaf, room[leaf]))
        for key, request in sheet.requests.items():
            if sheet.holder[key] == leaf:
                units = request.count - held.get(key, 0) - served[leaf].get(key, 0)
                found.append(Waiting(request.submitted, position, key, leaf, units))
    return sorted(each for each in found if each.units > 0)


def hand_out(
    sheet: Sheet,
    quotas: Quotas,
    held: Mapping[str, int],
    idle: Idle,
    *,
    room: Mapping[str, int],
    requests: list[Waiting],
) -> dict[str, int]:
    """Leaf → further units; at parent level first branch by branch, up to the planned share.

    No units are given while some leaf could be given units that it misses and cannot use.
    Units set aside for a leaf count together with the leftover, never alone.

    held : by path, the grants of the quotas included
    room : leaf → units that it can still use
    """
    more = dict.fromkeys(sheet.leaves, 0)
    for leaf in sheet.leaves:
        if min(quotas.quota[leaf] - held[leaf], idle.below_limits(sheet, leaf, held)) > 0:
            return more
    level = {path: sum(1 for _ in sheet.chain(path)) for path in sheet.paths}
    place = {leaf: position for position, leaf in enumerate(sheet.leaves)}
    branches = [path for path in sheet.paths if sheet.children[path] and path != TOP]
    first = {path: min(place[each] for each in sheet.inside(path) if each in place) for path in branches}
    branches.sort(key=lambda path: (-level[path], first[path]))
    left = {each: each.units for each in requests}
    for branch in (*(() if sheet.is_flat else branches), TOP):
        inside = set(sheet.inside(branch))
        for each in requests:
            now = {path: held[path] + units for path, units in sheet.summed(more).items()}
            bounds = [left[each], room[each.leaf] - more[each.leaf], idle.reach(sheet, each.leaf) if idle.common else 0]
            bounds += [idle.below_limits(sheet, each.leaf, now)]
            bounds += [quotas.planned_slots[branch] - now[branch]] if branch != TOP else []
            units = min(bounds) if each.leaf in inside else 0
            if units > 0:
                idle.take(sheet, each.leaf, units)
                more[each.leaf] += units
                left[each] -= units
    return more
