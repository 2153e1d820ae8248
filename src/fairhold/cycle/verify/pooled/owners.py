"""The owners of hosts now, level by level (SPEC §6.7, R-ADJUST-0 to R-ADJUST-3)."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.cycle.verify.pooled.amounts import Amounts, minus, plus
from fairhold.cycle.verify.pooled.claims import Claims
from fairhold.cycle.verify.pooled.stock import Chain, Host, Parcel, preference_in
from fairhold.cycle.verify.pooled.terms import TOP, Terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fairhold.cycle.verify.pooled.claim import Claim
    from fairhold.model.vector import Owning

Owned = dict[str, dict[str, Amounts]]
"""Host → path → what it and all below it owned."""
Stood = tuple[set[tuple[str, str]], set[tuple[str, str]]]
Parts = dict[tuple[str, str], dict[int, Amounts]]
"""(path, host) → place of an entry → what it had of it."""


def workload(host: Host) -> Fraction:
    """The largest part in use of any resource (S2.21)."""
    used = plus((0,) * len(host.total), *(unit.asked.unit for unit in host.units))
    return max((Fraction(one, whole) for one, whole in zip(used, host.total, strict=True) if whole), default=Fraction())


class Adjusting:
    """Ownership of one entry, computed from the ownership before.

    before : what was owned; stood: (path, host) of it that somebody's units stood on, and such of others
    parts  : (path, host) → what of it was of which of several entries
    """

    def __init__(self, terms: Terms, before: Owned, stood: Stood, parts: Parts, steps: Amounts) -> None:
        self.terms, self.before, self.parts, self.steps = terms, before, parts, steps
        self.busy, self.lent = stood
        self.entries: list[tuple[str, Host, int, Amounts]] = []
        self.load: dict[str, Fraction] = {}
        self.unmet: list[tuple[Claim, Amounts, Amounts]] = []
        self.is_due = True

    def divide(self, hosts: Mapping[str, Host], *, is_due: bool) -> None:
        """Divide all hosts into parcels; as before where no adjustment is due (R-ADJUST-5)."""
        self.is_due = is_due
        self.load = {name: workload(host) for name, host in hosts.items()}
        for host in hosts.values():
            host.parcels = []
        self._inside(TOP, {host: host.plain for host in hosts.values()}, dict.fromkeys(hosts.values(), ()))
        for host in hosts.values():
            _overcommit(host)

    def _inside(self, owner: str, space: dict[Host, Amounts], chains: dict[Host, Chain]) -> None:
        """Divide what one consumer owns among its children; the rest is its own parcel."""
        level = Claims(self.terms, owner, space, chains, load=self.load, steps=self.steps)
        for host in space:
            for path in sorted(self.terms.children[owner], key=self.terms.order.__getitem__):
                if path in self.before.get(host.name, {}):
                    place = path, host.name
                    was, said = self.before[host.name][path], self.parts.get(place, {})
                    level.remember(path, host, was, said, is_busy=place in self.busy)
        if self.is_due:
            level.settle()
        level.sort_out(self._is_lent)
        self.unmet += level.unmet()
        self.entries += _of_several(level)
        rest = dict(space)
        for path in level.paths:
            mine = [claim for claim in level.claims if claim.path == path]
            inside = {host: plus(*parts) for host in space if (parts := [c.has[host] for c in mine if host in c.has])}
            below = {host: ((path, _first(mine, host, chains[host])), *chains[host]) for host in inside}
            for host, amounts in inside.items():
                rest[host] = minus(rest[host], amounts)
            if self.terms.children[path]:
                self._inside(path, inside, below)
            else:
                for host, amounts in inside.items():
                    if any(amounts):
                        host.parcels.append(Parcel(path, below[host], amounts))
        for host, amounts in rest.items():
            if owner == TOP or any(amounts):
                host.parcels.append(Parcel(owner, chains[host], amounts))

    def _is_lent(self, path: str, host: Host, now: Amounts) -> bool:
        """Whether units of others stand on what one has of a host; of more than before: on any of it."""
        if self.before.get(host.name, {}).get(path) == now:
            return (path, host.name) in self.lent
        return any(path not in self.terms.up[unit.asked.leaf] for unit in host.units)


def _of_several(level: Claims) -> Iterator[tuple[str, Host, int, Amounts]]:
    """What entries have of hosts, of which a consumer has several for one group."""
    for path in level.paths:
        mine = [claim for claim in level.claims if claim.path == path]
        for at, claim in enumerate(mine):
            if sum(each.group == claim.group for each in mine) > 1:
                yield from ((path, host, at, amounts) for host, amounts in claim.has.items())


def _first(claims: list[Claim], host: Host, above: Chain) -> Owning:
    """The first entry that has some of a host, with its preference there."""
    found = next(claim.entry for claim in claims if host in claim.has)
    return replace(found, preference=preference_in((("", found), *above)))


def _overcommit(host: Host) -> None:
    """Make amounts those that count for placing: owned parts rounded down, what is beyond is nobody's."""
    left = host.total
    for parcel in host.parcels:
        parcel.level, parcel.plain = parcel.owner, parcel.amounts
        if parcel.owner != TOP:
            sizes = zip(parcel.amounts, host.plain, host.total, strict=True)
            parcel.amounts = tuple(mine * total // plain if plain else 0 for mine, plain, total in sizes)
            left = minus(left, parcel.amounts)
    for parcel in host.parcels:
        if parcel.owner == TOP:
            parcel.amounts = left
        parcel.idle = parcel.amounts
