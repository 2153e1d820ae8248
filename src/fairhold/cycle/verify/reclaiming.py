"""The number of units that each leaf must give (SPEC §8.4, steps 1 to 4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fairhold.cycle.verify.sheet import TOP

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.cycle.verify.quotas import Quotas
    from fairhold.cycle.verify.sheet import Sheet


@dataclass(frozen=True)
class Claim:
    """Numbers of one consumer: `missing` M, `can_go` U, `must_go` L, `lack` what it cannot meet itself."""

    missing: int
    can_go: int
    must_go: int
    lack: int = 0


@dataclass
class Reclaim:
    """The terms of §8.4 for one group, and the claims made of them.

    held     : units held, by path, after this cycle's grants
    whole    : held + set aside inside
    noticed  : leaf → units under notice
    bound    : leaf → units that must go: noticed by a switch of windows (§9), or of a gang that stops whole
    lost     : held units whose slots are lost
    spared   : leaf → units that have not run long enough (R-CONTROL-5), or are stranded
    waived   : path → units that are missed and not taken back in this cycle (R-CONTROL-2)
    stranded : leaf → units under no notice on closed hosts, or of a gang with one there
    loosened : consumers inside a branch that must give for its limit: not protected, nothing kept (§8.4.2)
    """

    sheet: Sheet
    quotas: Quotas
    held: Mapping[str, int]
    whole: Mapping[str, int]
    noticed: Mapping[str, int]
    bound: Mapping[str, int]
    lost: int
    spared: Mapping[str, int]
    waived: Mapping[str, int]
    stranded: Mapping[str, int] = field(default_factory=dict)
    loosened: set[str] = field(default_factory=set)
    claims: dict[str, Claim] = field(default_factory=dict)

    def keep(self, path: str) -> int:
        """Units that others may not take: the quota, and under `disable_reclaim_own` the unscaled owned (R-KEEP-1)."""
        quota = (self.quotas.entitled if self.sheet.children[path] else self.quotas.quota)[path]
        if path in self.loosened:
            return quota
        owned = self.sheet.owned[path]
        is_kept = self.sheet.switches[path].disable_reclaim_own and self.quotas.owned_now[path] < owned
        return max(quota, self.spared.get(path, 0), owned if is_kept else 0)

    def protected(self, leaf: str) -> bool:
        """Whether it, and branches above it unless only leaves count, exceed their quota by rounding (R-PROTECT-1)."""
        if leaf in self.loosened or self.held[leaf] <= self.quotas.quota[leaf]:
            return False
        alone = self.sheet.is_flat or self.sheet.policies[leaf].owns_exactly
        line = (leaf,) if alone else self.sheet.chain(leaf)
        return all(self.held[path] <= self.quotas.most[path] for path in line if path != TOP)

    def above_limit(self, path: str, missing: int) -> int:
        """Units by which a branch would exceed its limit if all its missing units came from outside."""
        return self.whole[path] + missing - self.sheet.limit[path]


def make_claims(case: Reclaim) -> None:
    """Claims of all consumers, bottom-up, and of the root (R-RECLAIM-1..3)."""
    sheet = case.sheet
    for path in reversed(sheet.paths):
        if path == TOP:
            continue
        case.claims[path] = _claim(case, path)
        below = sheet.children[path]
        can_go = sum(case.claims[child].can_go for child in below)
        over = case.above_limit(path, case.claims[path].missing)
        if below and path not in case.loosened and can_go < over:
            inside = sheet.inside(path)
            case.loosened.update(inside)
            for each in reversed(inside):
                case.claims[each] = _claim(case, each)
    top = [case.claims[child] for child in sheet.children[TOP]]
    missing = sum(each.missing for each in top)
    can_go = sum(each.can_go for each in top)
    must_go = sum(each.must_go for each in top)
    lack = max(0, missing + case.lost - can_go)
    case.claims[TOP] = Claim(missing, can_go, must_go, lack)


def _claim(case: Reclaim, path: str) -> Claim:
    quota, keep, limit = case.quotas.entitled[path], case.keep(path), case.sheet.limit[path]
    held, whole = case.held[path], case.whole[path]
    below = [case.claims[child] for child in case.sheet.children[path]]
    if not below:
        must_go = max(0, held - limit, case.bound.get(path, 0))
        can_go = must_go if case.protected(path) else max(must_go, held - keep)
        return Claim(max(0, quota - whole), can_go, must_go)
    m = sum(each.missing for each in below)
    u = sum(each.can_go for each in below)
    least = sum(each.must_go for each in below)
    if case.sheet.is_flat:  # R-SHARE-9: a branch counts only for its limit
        return Claim(m, u, max(least, min(u, case.above_limit(path, m))))
    inner = min(m, u)
    out = min(m - inner, max(0, quota - whole))
    # What a branch of `ownership` reserves itself is not reclaimed for (R-OWN-2).
    reserve = 0 if case.sheet.policies[path].owns_exactly else case.quotas.reserve[path] - case.waived[path]
    missing = inner + max(out, reserve - whole + max(0, least - inner), 0)
    can_go = max(least, min(u, inner + max(0, whole - keep)))
    must_go = max(least, inner, min(can_go, case.above_limit(path, missing)))
    return Claim(missing, can_go, must_go, lack=m - inner - out)


def total(case: Reclaim) -> int:
    """Units that go in all (R-RECLAIM-3)."""
    top = case.claims[TOP]
    return max(top.must_go, min(top.missing + case.lost, top.can_go))


def divide(case: Reclaim, asked: int) -> dict[str, int]:
    """Units that are to go, by path, divided from the root down (R-RECLAIM-4)."""
    sheet, claims = case.sheet, case.claims
    if sheet.is_flat:
        return _divide_over_leaves(case, max(asked, claims[TOP].must_go))
    noticed = sheet.summed({leaf: min(case.noticed.get(leaf, 0), claims[leaf].can_go) for leaf in sheet.leaves})
    going = {TOP: max(asked, claims[TOP].must_go)}
    for path in sheet.paths:
        below = sheet.children[path]
        least = {child: claims[child].must_go for child in below}
        going.update(_part(below, going[path], least, {child: claims[child].can_go for child in below}, noticed))
    return going


def _divide_over_leaves(case: Reclaim, asked: int) -> dict[str, int]:
    """Units that every leaf gives: branches, deepest first, raise what their leaves must give (R-SHARE-9)."""
    sheet, claims = case.sheet, case.claims
    must_go = {leaf: claims[leaf].must_go for leaf in sheet.leaves}
    can_go = {leaf: claims[leaf].can_go for leaf in sheet.leaves}
    noticed = {leaf: min(case.noticed.get(leaf, 0), can_go[leaf]) for leaf in sheet.leaves}
    for path in reversed(sheet.paths):
        if sheet.children[path] and path != TOP and claims[path].must_go:
            here = set(sheet.inside(path))
            inside = tuple(leaf for leaf in sheet.leaves if leaf in here)
            if sum(must_go[leaf] for leaf in inside) < claims[path].must_go:
                must_go |= _part(inside, claims[path].must_go, must_go, can_go, noticed)
    return _part(sheet.leaves, asked, must_go, can_go, noticed)


def _part(
    order: tuple[str, ...],
    amount: int,
    must_go: Mapping[str, int],
    can_go: Mapping[str, int],
    noticed: Mapping[str, int],
) -> dict[str, int]:
    """Divide an amount over consumers in path order (R-RECLAIM-4)."""
    part = {each: min(can_go[each], max(must_go[each], noticed[each])) for each in order}
    rest = amount - sum(part.values())
    for each in order:  # (b) more under notice than is to go: best path first
        fewer = min(max(0, -rest), part[each] - must_go[each])
        part[each] -= fewer
        rest += fewer
    left = {each: can_go[each] - part[each] for each in order}
    open_units = sum(left.values())
    for each in order if rest > 0 else ():  # (c) in proportion to what is left
        part[each] += rest * left[each] // open_units
    rest = amount - sum(part.values())
    worst_first = list(reversed(order))
    largest = sorted(worst_first, key=lambda each: part[each] - can_go[each])
    for each in largest[: max(0, rest)]:
        part[each] += 1
    return part
