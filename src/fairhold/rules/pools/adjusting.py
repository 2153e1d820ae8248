"""Who owns which hosts, adjusted step by step with the least movement (SPEC §6.7, S2.16-30, R-ADJUST-0 to R-ADJUST-3).

Top level first, then inside what each parent owns. A holding is what a consumer and all below it own of a host.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING

from fairhold.kernels.vectors import add, beyond, common, less
from fairhold.ledger.pools import Machine, PoolBooks
from fairhold.model.vector import DEFAULT_PREFERENCE, in_steps, part_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from fairhold.kernels.vectors import Vector
    from fairhold.model.vector import Owning

Holding = dict[Machine, "Vector"]


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """A consumer and one of its entries."""

    row: int
    entry: Owning


class Level:
    """The children of one consumer, and what they divide.

    space  : host → what there is to own: the whole host, or what the parent owns of it
    busy   : whether anybody's units stand on what a row owns of a host now
    load   : host → place of its workload
    holds  : target → what it owns; entries: row → its targets
    left   : host → what none of the children owns
    former : row → host → what it owned of it before, and nobody used
    """

    def __init__(
        self,
        books: PoolBooks,
        parent: int,
        space: dict[Machine, Vector],
        load: Callable[[Machine], int],
        steps: Vector,
    ) -> None:
        self.books, self.parent, self.space, self.load, self.steps = books, parent, space, load, steps
        terms = books.terms
        self.rows = sorted(
            (row for row in terms.tree.children[parent] if terms.own.get(row)), key=lambda row: terms.position[row]
        )
        keys = {(row, entry): Target(row, entry) for row in self.rows for entry in terms.own[row]}
        self.entries = {row: [keys[row, entry] for entry in terms.own[row]] for row in self.rows}
        self.holds: dict[Target, Holding] = {key: {} for key in keys.values()}
        self.left = dict(space)
        self.owners: dict[Machine, list[Target]] = {}
        self.former: dict[int, Holding] = {row: {} for row in self.rows}
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
        self._place = {key: at for at, key in enumerate(self.holds)}
        worst = 1 + max((terms.rank[row] for row in self.rows), default=0)
        self._rank = {key: worst if key.entry.remaining else terms.rank[key.row] for key in self.holds}

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

    def assign(self, row: int, host: Machine, amounts: Vector) -> None:
        """Take in what a row owned of a host before; it goes to the entry that asks for it."""
        amounts = common(amounts, self.left[host])  # the parent may have less of it by now than its children had
        if not any(amounts):
            return
        fitting = self._fitting(row, host)
        if not fitting:
            return
        key = fitting[0]
        if len(fitting) > 1:
            key = next((each for each in fitting if self._lacks(each, host)), key)
        self.ever.add(host)
        if key.entry.per_host:  # what goes of a part is another's at once
            amounts = common(amounts, self.part_of(key.entry, host))
        self._add(key, host, amounts)

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
        return host not in self.holds[key] if key.entry.per_host else bool(self.missing(key))

    def missing(self, key: Target) -> dict[int, int]:
        """Of a total, what an entry does not have yet, by place of the resource."""
        have = (0,) * self.books.terms.dimensions
        for amounts in self.holds[key].values():
            have = add(have, amounts)
        return {at: most - have[at] for at, most in key.entry.total if have[at] < most}

    def release_unused(self, is_busy: Callable[[int, Machine], bool]) -> None:
        """What nobody's units stand on goes to the public pool, and is remembered (R-ADJUST-1)."""
        for key, holding in self.holds.items():
            for host in list(holding):
                if not is_busy(key.row, host):
                    self.former[key.row][host] = self._drop(key, host)

    def trim(self) -> None:
        """Who has more than its target gives up least workload first, worst preference, last in inventory (R-ADJUST-2).

        Entries of a row that may stand for one another are one target.
        """
        for _, keys in self._alike():
            self._trim_hosts(keys)
        for key in [key for key in self.holds if key not in self.target or key.entry.names]:
            holding, entry = self.holds[key], key.entry
            order = sorted(holding, key=lambda host: (self.load(host), -host.place))
            if key in self.target:
                self._trim_hosts([key])
            elif entry.per_host:
                for host in order:
                    part = common(holding[host], self.part_of(entry, host))
                    if any(part):
                        self._set(key, host, part)
                    else:
                        self._drop(key, host)
            else:
                self._trim_total(key, order)

    def _trim_hosts(self, keys: list[Target]) -> None:
        """Whole hosts beyond what entries are to have together go; what one has too many of is another's that lacks."""

        def order(each: tuple[Target, Machine]) -> tuple[int, int, int]:
            return self.load(each[1]), -(each[0].entry.preference or DEFAULT_PREFERENCE), -each[1].place

        held = sorted([(key, host) for key in keys for host in self.holds[key]], key=order)
        for key, host in held[: max(0, len(held) - sum(self.target[key] for key in keys))]:
            self._drop(key, host)
        lacking = [key for key in keys for _ in range(self.target[key] - len(self.holds[key]))]
        for key in keys:
            last_first = sorted(self.holds[key], key=lambda host: -host.place)
            for host in last_first[: max(0, len(last_first) - self.target[key])]:
                self._add(lacking.pop(0), host, self._drop(key, host))

    def _trim_total(self, key: Target, order: list[Machine]) -> None:
        holding = self.holds[key]
        have = (0,) * self.books.terms.dimensions
        for amounts in holding.values():
            have = add(have, amounts)
        for host in order:
            others = less(have, holding[host])
            needed = {at: max(0, most - others[at]) for at, most in key.entry.total}
            if all(holding[host][at] <= need for at, need in needed.items()):
                continue  # of what is too much it has none; another host may have some
            keep = self.following(holding[host], needed)
            if any(keep):
                self._set(key, host, keep)
            else:
                self._drop(key, host)
            have = add(others, keep)

    def part_of(self, entry: Owning, host: Machine) -> Vector:
        """What an entry by host asks of one."""
        return part_of(entry, self.space[host], self.steps)

    def following(self, there: Vector, needed: dict[int, int]) -> Vector:
        """Of what there is as much as is needed; dimensions left out follow the largest part."""
        if not any(there[at] for at in needed):
            return (0,) * len(there)
        largest = max(Fraction(min(need, there[at]), there[at]) for at, need in needed.items() if there[at])
        return in_steps(there, needed, largest, self.steps)

    def give_short(self) -> None:
        """Whoever is short takes: formerly its own, public hosts, hosts of worse ranks, parts (R-ADJUST-3)."""
        for key in sorted(self.holds, key=lambda key: key.entry.remaining):
            entry = key.entry
            if entry.per_host:
                self._take_parts_of_all(key)
            elif entry.total:
                self._take_total(key)
            elif entry.names:
                for host in self._order(key):
                    if host.name in entry.names and host not in self.holds[key]:
                        self._take_host(key, host)
            else:
                self._take_hosts(key)

    def _order(self, key: Target) -> Iterator[Machine]:
        """Formerly its own; then least workload; then never owned among these siblings, inventory order."""
        former, group = self.former[key.row], key.entry.resource_group
        if group not in self._lines:
            self._lines[group] = self._sorted(self.hosts.get(group, []))
        yield from self._sorted(host for host in former if host.group == group)
        for host in self._lines[group]:
            if host not in former:
                yield host

    def _sorted(self, hosts: Iterable[Machine]) -> list[Machine]:
        return sorted(hosts, key=lambda host: (self.load(host), host in self.ever, host.place))

    def _named_below(self, row: int) -> Iterator[str]:
        """Hosts that entries below a row name."""
        for child in self.books.terms.tree.children[row]:
            for entry in self.books.terms.own.get(child, ()):
                yield from entry.names
            yield from self._named_below(child)

    def _fit(self, key: Target, host: Machine) -> int:
        """Whether a count takes a host first (0: named below it), late (2: below others) or last (3: by others)."""
        if host.name in self.named:
            return 3
        if host.name in self.below[key.row]:
            return 0
        return 2 if host.name in self.named_below else 1

    def _fitting_first(self, key: Target) -> Iterator[Machine]:
        """The same for a count: what is named below it first, what others name last."""
        if not self.named and not self.named_below:  # the common case
            yield from self._order(key)
            return
        for fit in (0, 1, 2, 3):
            for host in self._order(key):
                if self._fit(key, host) == fit:
                    yield host

    def _worse(self, key: Target, host: Machine) -> list[Target]:
        """Owners of strictly worse rank of a host, the worst first; `remaining` is the worst of all."""
        rank = self._rank
        found = [each for each in self.owners.get(host, ()) if rank[each] > rank[key]]
        return sorted(found, key=lambda each: (-rank[each], self._place[each])) if found else found

    def _take_host(self, key: Target, host: Machine) -> None:
        """Take of a host all that no rank as good has: what is public and what worse ranks own."""
        for each in self._worse(key, host):
            self._drop(each, host)
        if any(self.left[host]):
            self._set(key, host, self.left[host])

    def _take_hosts(self, key: Target) -> None:
        holding, target = self.holds[key], self.target.get(key, 0)
        hosts = self._fitting_first(key)
        while len(holding) < target and (host := next(hosts, None)) is not None:
            if self.is_whole(host):
                self._set(key, host, self.space[host])
        if len(holding) < target:
            self._take_owned(key, target, [host for host in self._fitting_first(key) if host not in holding])

    def _take_owned(self, key: Target, target: int, hosts: list[Machine]) -> None:
        """Hosts of worse ranks, then what better ranks leave of theirs: public parts, those of worse ranks."""
        holding, rank = self.holds[key], self._rank
        owned = [(self._worse(key, host), host) for host in hosts]
        of_worse = [(worse, host) for worse, host in owned if worse]
        of_worse.sort(key=lambda each: (self._fit(key, each[1]), -rank[each[0][0]], self.load(each[1])))
        whole = [host for worse, host in of_worse if len(worse) == self._owners(host)]
        public = [host for worse, host in owned if not worse]
        for host in (*whole, *public, *(host for _, host in of_worse)):
            if len(holding) < target and host not in holding:
                self._take_host(key, host)

    def place_entries(self) -> None:
        """Which host is of which entry of a row: for what is reserved those without others' units (R-ADJUST-3)."""
        for row, keys in self._alike():
            self._place_entries(row, keys)

    def _alike(self) -> Iterator[tuple[int, list[Target]]]:
        """Entries of a row for whole hosts of one group, none by name: any host may be of any of them."""
        for row, keys in self.entries.items():
            mine = [key for key in keys if key in self.target and not key.entry.names]
            for group in dict.fromkeys(key.entry.resource_group for key in mine):
                yield row, [key for key in mine if key.entry.resource_group == group]

    def _place_entries(self, row: int, keys: list[Target]) -> None:
        hosts = [host for key in keys for host in self.holds[key]]
        if len(keys) < 2 or len(set(hosts)) < len(hosts):
            return
        sizes = [(key, len(self.holds[key])) for key in sorted(keys, key=lambda key: not key.entry.reserved)]
        parts = {host: self._drop(key, host) for key in keys for host in list(self.holds[key])}
        line = iter(sorted(hosts, key=lambda host: (self._has_strangers(row, host), host.place)))
        for key, size in sizes:
            for host in islice(line, size):
                self._set(key, host, parts[host])

    def _has_strangers(self, row: int, host: Machine) -> bool:
        return any(row not in self.books.terms.above[unit.asked.leaf] for unit in host.units)

    def _owners(self, host: Machine) -> int:
        return len(self.owners.get(host, ()))

    def _take_total(self, key: Target) -> None:
        needed = self.missing(key)
        if not needed:
            return
        former = self.former[key.row]
        for host in self._order(key):
            there = common(self.left[host], former[host]) if host in former else self.left[host]
            if self._add(key, host, self.following(there, needed)) and not (needed := self.missing(key)):
                return
        for host in self._order(key):
            if self._add(key, host, self.following(self.left[host], needed)) and not (needed := self.missing(key)):
                return
        hosts = self.hosts.get(key.entry.resource_group, [])
        worse = [(each, host) for host in hosts for each in self._worse(key, host)]
        worse.sort(key=lambda each: (-self._rank[each[0]], self.load(each[1]), each[1].place))
        for each, host in worse:
            needed = self.missing(key)
            if not needed:
                return
            self._move(each, key, host, self.following(self.holds[each][host], needed))

    def _take_parts_of_all(self, key: Target) -> None:
        for host in self.hosts.get(key.entry.resource_group, []):
            want = self.part_of(key.entry, host)
            have = self.holds[key].get(host, (0,) * len(want))
            self._add(key, host, common(beyond(want, have), self.left[host]))
            for each in self._worse(key, host):
                have = self.holds[key].get(host, (0,) * len(want))
                self._move(each, key, host, common(beyond(want, have), self.holds[each][host]))

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
            if any(left):
                self._set(giver, host, left)
            else:
                self._drop(giver, host)
            self._add(key, host, amounts)
