"""How many units of every leaf are to go (SPEC §8.4, steps 1 to 4)."""

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
    bound    : leaf → units that must go in any case: noticed by a switch of windows (§9), or of a gang stopped whole
    lost     : units held that exist no more
    loosened : consumers inside a branch that its limit empties: not protected, nothing kept (§8.4.2)
    """

    sheet: Sheet
    quotas: Quotas
    held: Mapping[str, int]
    whole: Mapping[str, int]
    noticed: Mapping[str, int]
    bound: Mapping[str, int]
    lost: int
    loosened: set[str] = field(default_factory=set)
    claims: dict[str, Claim] = field(default_factory=dict)

    def keep(self, path: str) -> int:
        """Units that nobody may take: the quota; with `disable_reclaim_own` what was scaled down, too (R-KEEP-1)."""
        quota = self.quotas.quota[path]
        owned = self.sheet.owned[path]
        if not self.sheet.settings.disable_reclaim_own or path in self.loosened:
            return quota
        return max(quota, owned) if self.quotas.owned_now[path] < owned else quota

    def protected(self, leaf: str) -> bool:
        """Above its quota by rounding only, it and every branch above it (R-PROTECT-1)."""
        if leaf in self.loosened or self.held[leaf] <= self.quotas.quota[leaf]:
            return False
        return all(self.held[path] <= self.quotas.most[path] for path in self.sheet.chain(leaf) if path != TOP)

    def above_limit(self, path: str, missing: int) -> int:
        """Units by which a branch would be above its limit if all it misses were met from outside."""
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
    quota, keep, limit = case.quotas.quota[path], case.keep(path), case.sheet.limit[path]
    held, whole = case.held[path], case.whole[path]
    below = [case.claims[child] for child in case.sheet.children[path]]
    if not below:
        must_go = max(0, held - limit, case.bound.get(path, 0))
        can_go = must_go if case.protected(path) else max(must_go, held - keep)
        return Claim(max(0, quota - whole), can_go, must_go)
    m = sum(each.missing for each in below)
    u = sum(each.can_go for each in below)
    least = sum(each.must_go for each in below)
    inner = min(m, u)
    out = min(m - inner, max(0, quota - whole))
    missing = inner + max(out, case.quotas.reserve[path] - whole + max(0, least - inner), 0)
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
    noticed = sheet.summed({leaf: min(case.noticed.get(leaf, 0), claims[leaf].can_go) for leaf in sheet.leaves})
    going = {TOP: max(asked, claims[TOP].must_go)}
    for path in sheet.paths:
        below = sheet.children[path]
        part = {c: min(claims[c].can_go, max(claims[c].must_go, noticed[c])) for c in below}
        rest = going[path] - sum(part.values())
        for child in below:  # (b) more under notice than is to go: best path first
            fewer = min(max(0, -rest), part[child] - claims[child].must_go)
            part[child] -= fewer
            rest += fewer
        left = {child: claims[child].can_go - part[child] for child in below}
        open_units = sum(left.values())
        for child in below if rest > 0 else ():  # (c) in proportion to what is left
            part[child] += rest * left[child] // open_units
        rest = going[path] - sum(part.values())
        worst_first = list(reversed(below))
        largest = sorted(worst_first, key=lambda child: part[child] - claims[child].can_go)
        for child in largest[: max(0, rest)]:
            part[child] += 1
        going.update(part)
    return going
