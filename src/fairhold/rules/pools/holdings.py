"""Targets and holdings of siblings on their parent's hosts, by entry (R-ADJUST-0, R-ADJUST-1).

A holding is what a consumer and all below it own of a host.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from fairhold.kernels.vectors import add, common, less
from fairhold.ledger.pools import Machine, PoolBooks
from fairhold.model.vector import DEFAULT_PREFERENCE, in_steps, part_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import Chain
    from fairhold.model.vector import Owning

Holding = dict[Machine, "Vector"]
Parts = tuple[tuple[int, "Vector"], ...]
"""What entries of a row have of a host: the place of the entry in the row's list, and how much."""


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """A consumer and one of its entries."""

    row: int
    entry: Owning


class Holdings:
    """The children of one consumer, and the hosts that they divide.

    space  : host → what there is to own: the whole host, or what the parent owns of it
    chains : host → those that it is carved out of, with their entries, the parent first
    load   : host → place of its workload
    holds  : target → what it owns; entries: row → its targets
    left   : host → what none of the children owns
    former : target → host → what it owned of it before without any unit on it; formerly: row → hosts of its targets
    """

    def __init__(
        self,
        books: PoolBooks,
        parent: int,
        space: dict[Machine, Vector],
        chains: dict[Machine, Chain],
        *,
        load: Callable[[Machine], int],
        steps: Vector,
    ) -> None:
        self.books, self.parent, self.space, self.chains = books, parent, space, chains
        self.load, self.steps = load, steps
        terms = books.terms
        self.rows = sorted(
            (row for row in terms.tree.children[parent] if terms.own.get(row)), key=lambda row: terms.position[row]
        )
        self.entries = {row: [Target(row, entry) for entry in terms.own[row]] for row in self.rows}
        self.holds: dict[Target, Holding] = {key: {} for keys in self.entries.values() for key in keys}
        self.left = dict(space)
        self.owners: dict[Machine, list[Target]] = {}
        self.former: dict[Target, Holding] = {key: {} for key in self.holds}
        self.formerly: dict[int, dict[Machine, None]] = {row: {} for row in self.rows}
        self.ever: set[Machine] = set()
        self.hosts: dict[str, list[Machine]] = {}
        for host in space:
            self.hosts.setdefault(host.group, []).append(host)
        self.named = {name for row in self.rows for entry in terms.own[row] for name in entry.names}
        self.below = {row: set(self._named_below(row)) for row in self.rows}
        self.named_below = set().union(*self.below.values())
        self.target: dict[Target, int] = {}
        self._lines: dict[str, list[Machine]] = {}
        self._of_group: dict[tuple[int, str], list[Target]] = {}
        self._parts: dict[tuple[Owning, Vector], Vector] = {}
        self._preferred: dict[tuple[Target, int], Owning] = {}
        self._place = {key: at for at, key in enumerate(self.holds)}
        worst = 1 + max((terms.rank[row] for row in self.rows), default=0)
        self._rank = {key: worst if key.entry.remaining else terms.rank[key.row] for key in self.holds}
        self._worst = max(self._rank.values(), default=0)

    def preference(self, key: Target, host: Machine) -> int:
        """That of an entry on a host: its own, else that of the parent's entry of which the host is."""
        above = self.chains[host]
        return key.entry.preference or (above[0][1].preference if above else None) or DEFAULT_PREFERENCE

    def preferred(self, key: Target, host: Machine) -> Owning:
        """An entry with its preference on a host."""
        place = key, self.preference(key, host)
        if place not in self._preferred:
            self._preferred[place] = replace(key.entry, preference=place[1])
        return self._preferred[place]

    def _set(self, key: Target, host: Machine, amounts: Vector) -> None:
        """Let an entry own so much of a host."""
        holding, left = self.holds[key], self.left[host]
        if host in holding:
            left = add(left, holding[host])
        else:
            self.owners.setdefault(host, []).append(key)
        holding[host] = amounts
        self.left[host] = less(left, amounts)

    def _drop(self, key: Target, host: Machine) -> Vector:
        """Let an entry own none of a host; what it had."""
        amounts = self.holds[key].pop(host)
        self.owners[host].remove(key)
        self.left[host] = add(self.left[host], amounts)
        return amounts

    def is_whole(self, host: Machine) -> bool:
        """Whether none of the children owns any of a host."""
        return not self.owners.get(host)

    def set_targets(self) -> None:
        """How many whole hosts each entry is to have (R-ADJUST-0)."""
        left = {group: len(hosts) for group, hosts in self.hosts.items()}
        counted = [
            key for key in self.holds if key.entry.names or key.entry.percent is not None or key.entry.hosts is not None
        ]
        for key in sorted(counted, key=lambda key: (self._rank[key], not key.entry.names)):
            group = key.entry.resource_group
            self.target[key] = max(0, min(self._wanted(key.entry), left.get(group, 0)))
            left[group] = left.get(group, 0) - self.target[key]
        for key in self.holds:
            if key.entry.remaining:
                self.target[key] = max(0, left.get(key.entry.resource_group, 0))

    def _wanted(self, entry: Owning) -> int:
        """How many hosts an entry by name, number or percentage asks for."""
        there = self.hosts.get(entry.resource_group, [])
        if entry.names:
            return sum(host.name in entry.names for host in there)
        return entry.hosts if entry.hosts is not None else int((entry.percent or Fraction(0)) * len(there))

    def assign(self, row: int, host: Machine, amounts: Vector, said: Parts = ()) -> None:
        """Take in what a row owned of a host before; it goes to the entries that had it, else to those that ask for it.

        said : what its entries had of it, by their places
        """
        amounts = common(amounts, self.left[host])  # the parent may have less of it by now than its children had
        fitting = self._fitting(row, host) if any(amounts) else []
        if fitting:
            self.ever.add(host)
        for key, part in self._as_said(row, host, said):
            self._add(key, host, part := common(part, amounts))
            amounts = less(amounts, part)
        if not any(amounts):
            return
        for key in self._in_turn(fitting, host, amounts) if len(fitting) > 1 else fitting:
            part = amounts
            if key.entry.per_host:  # what goes of a part is another's at once
                part = common(amounts, self.part_of(key.entry, host))
            self._add(key, host, part)
            amounts = less(amounts, part)

    def _as_said(self, row: int, host: Machine, said: Parts) -> list[tuple[Target, Vector]]:
        """What entries had of a host; nothing where one names it by now that had none of it."""
        keys = self.entries[row]
        known = [(keys[at], part) for at, part in said if at < len(keys)]
        naming = [key for key in keys if host.name in key.entry.names]
        if naming and not any(key in naming for key, _ in known):
            return []
        return [
            (key, part)
            for key, part in known
            if key.entry.resource_group == host.group and (key in naming or not key.entry.names)
        ]

    def _in_turn(self, keys: list[Target], host: Machine, amounts: Vector) -> list[Target]:
        """Entries that a host may have been of, so that it stays with the one that it was of, as far as that shows.

        A whole host is of who lacks a host; else first of who asks for a part of every one, then of a total that lacks
        as much, then of anybody who lacks something.
        """
        lack = [key for key in keys if self._lacks(key, host)]
        if amounts == self.space[host] and (whole := [key for key in lack if key in self.target]):
            return whole[:1]
        parts = [key for key in lack if key.entry.per_host]
        of_all = [key for key in lack if key.entry.total and self._lacks_all(key, amounts)]
        rest = [key for key in (*of_all, *lack, *keys) if not key.entry.per_host]
        return parts + rest[:1]

    def _lacks_all(self, key: Target, amounts: Vector) -> bool:
        missing = self.missing(key)
        return all(amounts[at] <= most for at, most in missing.items())

    def _fitting(self, row: int, host: Machine) -> list[Target]:
        """Entries of a row that a host can be of: those that name it, else those that name none."""
        if self.named:
            mine = [key for key in self.entries[row] if key.entry.resource_group == host.group]
            named = [key for key in mine if host.name in key.entry.names]
            return named or [key for key in mine if not key.entry.names]
        place = row, host.group
        if place not in self._of_group:
            self._of_group[place] = [key for key in self.entries[row] if key.entry.resource_group == host.group]
        return self._of_group[place]

    def _lacks(self, key: Target, host: Machine) -> bool:
        if key in self.target:
            return len(self.holds[key]) < self.target[key]
        return host not in self.holds[key] if key.entry.per_host else self.is_short(key)

    def missing(self, key: Target) -> dict[int, int]:
        """Of a total, what an entry does not have yet, by place of the resource; 0 of what is met."""
        have = (0,) * self.books.terms.dimensions
        for amounts in self.holds[key].values():
            have = add(have, amounts)
        return {at: max(0, most - have[at]) for at, most in key.entry.total}

    def is_short(self, key: Target) -> bool:
        """Whether an entry for a total has less than that of anything."""
        return any(self.missing(key).values())

    def is_good(self, key: Target, part: Vector) -> bool:
        """Whether a part of a host has something of what an entry is for; of a total, of what it names."""
        return any(part[at] for at, _ in key.entry.total) if key.entry.total else any(part)

    def part_of(self, entry: Owning, host: Machine) -> Vector:
        """What an entry by host asks of one; hosts that are alike are worked out once."""
        place = entry, self.space[host]
        found = self._parts.get(place)
        if found is None:
            found = self._parts[place] = part_of(entry, self.space[host], self.steps)
        return found

    def following(self, there: Vector, needed: dict[int, int]) -> Vector:
        """Of what there is as much as is needed; dimensions left out follow the largest part."""
        if not any(there[at] for at in needed):
            return (0,) * len(there)
        largest = max(Fraction(min(need, there[at]), there[at]) for at, need in needed.items() if there[at])
        return in_steps(there, needed, largest, self.steps)

    def _named_below(self, row: int) -> Iterator[str]:
        """Hosts that entries below a row name."""
        for child in self.books.terms.tree.children[row]:
            for entry in self.books.terms.own.get(child, ()):
                yield from entry.names
            yield from self._named_below(child)

    def _add(self, key: Target, host: Machine, amounts: Vector) -> bool:
        """Let an entry own more of a host; whether it is any."""
        if not any(amounts):
            return False
        holding = self.holds[key]
        self._set(key, host, add(holding[host], amounts) if host in holding else amounts)
        return True

    def _move(self, giver: Target, key: Target, host: Machine, amounts: Vector) -> None:
        if any(amounts):
            left = less(self.holds[giver][host], amounts)
            if self.is_good(giver, left):
                self._set(giver, host, left)
            else:
                self._drop(giver, host)
            self._add(key, host, amounts)

    def place_entries(self, is_lent: Callable[[int, Machine, Vector], bool]) -> None:
        """Which host is of which entry of a row: of what is reserved others' units go, if it can be (R-ADJUST-3).

        A reserved entry's host with others' units changes places with one on which none stand at all, of an entry that
        lends. Nothing else moves: what stands on an entry's host stays under its terms. A reserved host gets no more
        of such units, so that a second run finds no other to change for. Of a host of several entries nothing moves.

        is_lent : whether others' units stand on what a row has of a host
        """
        for row, keys in self._alike():
            if any(key.entry.reserved for key in keys):
                self._place_entries(keys, partial(is_lent, row))

    def _alike(self) -> Iterator[tuple[int, list[Target]]]:
        """Entries of a row for whole hosts of one group, none by name: any host may be of any of them."""
        for row, keys in self.entries.items():
            mine = [key for key in keys if key in self.target and not key.entry.names]
            for group in dict.fromkeys(key.entry.resource_group for key in mine):
                yield row, [key for key in mine if key.entry.resource_group == group]

    def _place_entries(self, keys: list[Target], is_lent: Callable[[Machine, Vector], bool]) -> None:
        mine = self.entries[keys[0].row]
        there = [(host, key) for key in keys for host in self.holds[key]]
        there = [each for each in there if sum(each[0] in self.holds[key] for key in mine) == 1]
        there.sort(key=lambda each: each[0].place)
        free = [each for each in there if not each[1].entry.reserved and self._is_without_others(*each)]
        reserved = [each for each in there if each[1].entry.reserved] if free else []
        lent = [(host, key) for host, key in reserved if is_lent(host, self.holds[key][host])]
        for (host, key), (better, other) in zip(lent, free, strict=False):
            given, taken = self._drop(key, host), self._drop(other, better)
            self._set(key, better, taken)
            self._set(other, host, given)

    def _is_without_others(self, host: Machine, key: Target) -> bool:
        above = self.books.terms.above
        return all(key.row in above[unit.asked.leaf] for unit in host.units)
