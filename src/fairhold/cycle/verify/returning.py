"""Units that each leaf gives under `ownership` (SPEC §4: R-LEND-3, R-OWN-4, R-OWN-5)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fairhold.cycle.verify.lending import taken_back
from fairhold.cycle.verify.reclaiming import Claim
from fairhold.cycle.verify.sheet import TOP

if TYPE_CHECKING:
    from fairhold.cycle.verify.reclaiming import Reclaim


def claim_and_give(case: Reclaim) -> dict[str, int]:
    """Set the claims of all consumers; returns what every leaf gives before what still lacks."""
    sheet, quotas = case.sheet, case.quotas
    missing = Counter({leaf: max(0, quotas.entitled[leaf] - case.whole[leaf]) for leaf in sheet.leaves})
    above = {leaf: max(0, case.held[leaf] - case.keep(leaf)) for leaf in sheet.leaves}
    must = {leaf: max(0, case.held[leaf] - sheet.limit[leaf], case.bound.get(leaf, 0)) for leaf in sheet.leaves}
    gives = {leaf: max(must[leaf], min(case.noticed.get(leaf, 0), above[leaf])) for leaf in sheet.leaves}
    least = _limits(case, sheet.summed(missing), above, gives)
    wanted = sum(missing.values()) + case.lost
    if sum(gives.values()) > wanted:
        _withdraw(case, gives, must, least, sum(gives.values()) - wanted)
    else:
        _take(case, missing.copy(), above, gives, wanted - sum(gives.values()))
    able = {leaf: 0 if case.protected(leaf) else case.held[leaf] - case.keep(leaf) for leaf in sheet.leaves}
    can_go = sheet.summed({leaf: max(must[leaf], gives[leaf], able[leaf]) for leaf in sheet.leaves})
    lost_units, must_go = sheet.summed(missing), sheet.summed(must)
    for path in sheet.paths:
        lack = max(0, wanted - can_go[TOP]) if path == TOP else 0
        case.claims[path] = Claim(lost_units[path], can_go[path], must_go[path], lack)
    return gives


def _limits(case: Reclaim, missing: dict[str, int], above: dict[str, int], gives: dict[str, int]) -> dict[str, int]:
    """The least that branches above their limit give: from the worst path inside, the deepest branch first."""
    sheet, least = case.sheet, {}
    for path in reversed(sheet.paths):
        over = case.whole[path] + missing[path] - sheet.limit[path]
        if path == TOP or not sheet.children[path] or over <= 0:
            continue
        here = set(sheet.inside(path))
        inside = [leaf for leaf in sheet.leaves if leaf in here]
        left = over - sum(gives[leaf] for leaf in inside)
        if left > sum(max(0, above[leaf] - gives[leaf]) for leaf in inside if not case.protected(leaf)):
            case.loosened |= here
            above |= {leaf: max(0, case.held[leaf] - case.keep(leaf)) for leaf in inside}
        _worst_first(case, inside, above, gives, left)
        least[path] = min(over, sum(gives[leaf] for leaf in inside))
    return least


def _worst_first(case: Reclaim, leaves: list[str], above: dict[str, int], gives: dict[str, int], units: int) -> None:
    for leaf in reversed(leaves):
        more = 0 if case.protected(leaf) else max(0, min(units, above[leaf] - gives[leaf]))
        gives[leaf] += more
        units -= more


def _withdraw(case: Reclaim, gives: dict[str, int], must: dict[str, int], least: dict[str, int], units: int) -> None:
    """Let leaves give fewer units, in path order, as far as limits allow."""
    sheet = case.sheet
    for leaf in sheet.leaves:
        going = sheet.summed(gives)
        bounds = [going[path] - least.get(path, 0) for path in sheet.chain(leaf) if path not in (leaf, TOP)]
        fewer = max(0, min([units, gives[leaf] - must[leaf], *bounds]))
        gives[leaf] -= fewer
        units -= fewer


def _take(case: Reclaim, missing: Counter[str], above: dict[str, int], gives: dict[str, int], units: int) -> None:
    """Let leaves give more units: first those under notice, in path order; then lenders; then the worst path."""
    sheet = case.sheet
    going = sum(gives.values())
    for leaf in sheet.leaves:
        covered = min(going, missing[leaf])
        missing[leaf] -= covered
        going -= covered
    spare = Counter({leaf: 0 if case.protected(leaf) else max(0, above[leaf] - gives[leaf]) for leaf in sheet.leaves})
    for leaf, back in taken_back(sheet, missing, spare).items():
        gives[leaf] += back
        units -= back
    _worst_first(case, list(sheet.leaves), above, gives, units)
