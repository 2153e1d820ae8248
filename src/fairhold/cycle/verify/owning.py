"""Quotas under `ownership`, also in mixed groups (SPEC §4: R-OWN-1, R-OWN-2, R-OWN-3, R-LEND-2, R-MIX-2)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

from fairhold.cycle.verify.counting import is_under
from fairhold.cycle.verify.quotas import Quotas, compute_quotas
from fairhold.cycle.verify.sheet import TOP, Sheet

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass
class Parts:
    """The parts of the quotas, by path.

    quota : whole slots so far; own, balance : of leaves; lent : (borrower, lender) → slots
    rest  : of `own`, what leaves use of their own after all others, as a budget is used up (R-BUDGET-3)
    """

    quota: dict[str, int]
    own: dict[str, int]
    balance: dict[str, int]
    lent: dict[tuple[str, str], int]
    rest: Counter[str] = field(default_factory=Counter)


def compute_owned(sheet: Sheet) -> tuple[Quotas, Parts]:
    """All quotas of a group with consumers of `ownership`."""
    owners = [path for path in sheet.paths if sheet.policies[path].owns_exactly]
    others = compute_quotas(_others(sheet)) if sheet.is_mixed else None
    reserve = dict.fromkeys(owners, 0)
    need = dict(reserve)
    for path in reversed(owners):
        below = sheet.children[path]
        reserve[path] = max(sheet.reserved[path], sum(reserve[child] for child in below))
        wanted = sum(need[child] for child in below) if below else sheet.usable[path]
        need[path] = min(sheet.limit[path], max(reserve[path], wanted))
    parts = Parts(dict.fromkeys(owners, 0), {}, {}, {})
    slots = min(sheet.slots, sheet.apart) if sheet.is_mixed else sheet.slots
    _three_steps(sheet, need, parts, slots)
    exact = {path: Fraction(parts.quota[path]) for path in owners}
    if not sheet.is_mixed:
        _share(sheet, need, parts, exact)
    entitled = {path: parts.quota[path] - parts.balance.get(path, 0) - parts.rest[path] for path in owners}
    most = {path: ceil(exact[path]) for path in owners}
    guaranteed = {path: parts.own.get(path, 0) - parts.rest[path] for path in owners}
    owned_now = {path: Fraction(sheet.owned[path]) for path in owners}
    mine = Quotas(owned_now, reserve, need, guaranteed, guaranteed, parts.quota, most, entitled)
    return _joined(sheet, [mine, others] if others is not None else [mine]), parts


def _others(sheet: Sheet) -> Sheet:
    """The group without consumers of `ownership` and their slots."""
    return replace(
        sheet,
        slots=max(0, sheet.slots - sheet.apart),
        configured=sheet.configured - sheet.apart,
        paths=tuple(path for path in sheet.paths if not sheet.policies[path].owns_exactly),
        leaves=tuple(leaf for leaf in sheet.leaves if not sheet.policies[leaf].owns_exactly),
        children=dict(sheet.children)
        | {TOP: tuple(top for top in sheet.children[TOP] if not sheet.policies[top].owns_exactly)},
    )


def _joined(sheet: Sheet, each: list[Quotas]) -> Quotas:
    def column(name: str) -> dict[str, int]:
        joined: dict[str, int] = {}
        for quotas in each:
            joined |= getattr(quotas, name)
        return joined | {TOP: sum(joined[top] for top in sheet.children[TOP])}

    owned_now = {path: units for quotas in each for path, units in quotas.owned_now.items()}
    return Quotas(
        owned_now=owned_now | {TOP: Fraction(0)},
        reserve=column("reserve"),
        need=column("need"),
        guaranteed=column("guaranteed"),
        least=column("least"),
        quota=column("quota"),
        most=column("most"),
        entitled=column("entitled"),
    )


def room(sheet: Sheet, parts: Parts, leaf: str, units: int) -> int:
    """The part of a number of units that fits under the limits of a leaf and its ancestors."""
    return max(0, min([units, *(sheet.limit[path] - parts.quota[path] for path in sheet.chain(leaf) if path != TOP)]))


def _give(sheet: Sheet, parts: Parts, leaf: str, units: int) -> int:
    given = room(sheet, parts, leaf, units)
    for path in sheet.chain(leaf):
        if path != TOP:
            parts.quota[path] += given
    return given


def _three_steps(sheet: Sheet, need: Mapping[str, int], parts: Parts, slots: int) -> None:
    """Own slots, balances, loans: each in path order, while slots last."""
    leaves = [leaf for leaf in sheet.leaves if leaf in need]
    last = {leaf for leaf in leaves if is_under(sheet, leaf, "borrow_only")}
    wish, need = need, {path: 0 if path in last else units for path, units in need.items()}
    for leaf in leaves:
        parts.own[leaf] = _give(sheet, parts, leaf, min(need[leaf], sheet.owned[leaf], slots))
        parts.balance[leaf] = 0
        slots -= parts.own[leaf]
    branches = [path for path in need if sheet.children[path]]
    first_leaf = {path: next(at for at, leaf in enumerate(leaves) if path in sheet.chain(leaf)) for path in branches}
    for path in sorted(branches, key=lambda path: (-path.count("/"), first_leaf[path])):
        left = sheet.owned[path] - sum(sheet.owned[child] for child in sheet.children[path])
        here = set(sheet.inside(path)) if left > 0 else set()
        for leaf in leaves if left > 0 else ():
            if leaf in here:
                got = _give(sheet, parts, leaf, min(need[leaf] - parts.quota[leaf], left, slots))
                parts.balance[leaf] += got
                left -= got
                slots -= got
    offer = {leaf: max(0, sheet.owned[leaf] - need[leaf]) for leaf in leaves}
    # Who only gets what others leave comes when all others have borrowed: first its own, then of its lenders.
    for turn in ([leaf for leaf in leaves if leaf not in last], last):
        for leaf in leaves if turn is last else ():
            if leaf in last:
                got = _give(sheet, parts, leaf, min(wish[leaf], offer[leaf], slots))
                parts.own[leaf] = parts.rest[leaf] = got
                offer[leaf] -= got
                slots -= got
        for leaf, lender, most in pairs(sheet, [leaf for leaf in leaves if leaf in turn]):
            got = _give(sheet, parts, leaf, min(wish[leaf] - parts.quota[leaf], offer[lender], most, slots))
            parts.lent[leaf, lender] = got
            offer[lender] -= got
            slots -= got


def pairs(sheet: Sheet, leaves: Iterable[str]) -> list[tuple[str, str, int]]:
    """(borrower, lender, most units): borrowers in path order, lenders in the borrower's order (R-LEND-1)."""
    found = []
    for leaf in leaves:
        for lender, most in sheet.borrow_from[leaf].items():
            other = sheet.lend_to[lender].get(leaf) if sheet.policies[lender].owns_exactly else None
            if other is not None:
                found.append((leaf, lender, min(most, other)))
    return found


def _share(sheet: Sheet, need: Mapping[str, int], parts: Parts, exact: dict[str, Fraction]) -> None:
    """Divide slots without an owner by ratio over leaves that state one; the level is approached from below."""
    unowned = sheet.slots - sum(sheet.owned[top] for top in sheet.children[TOP])
    before = dict(parts.quota)
    cap = {leaf: need[leaf] - before[leaf] if sheet.stated_ratio.get(leaf) else 0 for leaf in sheet.leaves}
    level = _levels(sheet, cap, before, _level(sheet, cap, before, TOP, max(0, unowned)))
    for leaf in sheet.leaves:
        share = min(Fraction(cap[leaf]), level[leaf] * sheet.stated_ratio.get(leaf, 0))
        for path in sheet.chain(leaf):
            if path != TOP:
                exact[path] += share
    for leaf in sheet.leaves:
        _give(sheet, parts, leaf, floor(exact[leaf]) - before[leaf])
    total = sum(exact[leaf] for leaf in sheet.leaves)
    left = int(total) - sum(parts.quota[leaf] for leaf in sheet.leaves)
    for leaf in sheet.leaves:
        if left and exact[leaf].denominator > 1:
            left -= _give(sheet, parts, leaf, 1)


def _level(sheet: Sheet, cap: Mapping[str, int], before: Mapping[str, int], branch: str, units: int) -> Fraction:
    """The lowest level at which a branch has a number of units without its own limit, or as many as it can have.

    The units are concave in the level, so that a step along the present slope never goes too far.
    """
    level = Fraction(0)
    have, rises = _inside(sheet, cap, before, branch, level)
    while have < units and rises:
        level += (units - have) / rises
        have, rises = _inside(sheet, cap, before, branch, level)
    return level


def _levels(sheet: Sheet, cap: Mapping[str, int], before: Mapping[str, int], top: Fraction) -> dict[str, Fraction]:
    """The level of every consumer: that of its parent, or the lower one at which a branch reached its limit."""
    level = {TOP: top}
    for path in sheet.paths:
        for child in sheet.children[path]:
            level[child] = level[path]
            most = sheet.limit[child] - before[child]
            if sheet.children[child] and _inside(sheet, cap, before, child, level[path])[0] > most:
                level[child] = _level(sheet, cap, before, child, most)
    return level


def _inside(
    sheet: Sheet, cap: Mapping[str, int], before: Mapping[str, int], branch: str, level: Fraction
) -> tuple[Fraction, int]:
    """Units of a branch at a level without its own limit, and the slope there."""
    amount: dict[str, Fraction] = {}
    rises: dict[str, int] = {}
    for path in reversed(sheet.inside(branch)):
        below = sheet.children[path]
        ratio = sheet.stated_ratio.get(path, 0)
        if not below:
            is_full = level * ratio >= cap[path]
            amount[path], rises[path] = (Fraction(cap[path]), 0) if is_full else (level * ratio, ratio)
            continue
        amount[path] = sum((amount[child] for child in below), Fraction(0))
        rises[path] = sum(rises[child] for child in below)
        if path != branch and amount[path] >= sheet.limit[path] - before[path]:
            amount[path], rises[path] = Fraction(sheet.limit[path] - before[path]), 0
    return amount[branch], rises[branch]
