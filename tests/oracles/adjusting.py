"""Who owns which hosts: counts, percentages, names, what remains, and parts of every host (SPEC §6.7), slow.

A consumer has one entry of `own` at most. Holdings are consumer → host → amounts, with what those below it have.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tests.oracles.parcels import PUBLIC, World, add, less

if TYPE_CHECKING:
    from tests.oracles.parcels import Json, Vector

Space = dict[str, "Vector"]


class Owning(World):
    """Begins with the parcels that the state says; a host that is down is in no pool, and not remembered."""

    def __init__(self, plan: Json, state: Json) -> None:
        down = state.get("hosts_down", [])
        super().__init__(plan, state, [row for row in state.get("ownership", []) if row["host"] not in down])

    def adjust(self) -> dict[tuple[str, str], Vector]:
        """(Consumer, host) → what it owns of it and its children do not."""
        found: dict[tuple[str, str], Vector] = {}
        self.divide(PUBLIC, dict(self.hosts), found)
        return {place: amounts for place, amounts in found.items() if any(amounts) and place[0] != PUBLIC}

    def divide(self, parent: str, space: Space, found: dict[tuple[str, str], Vector]) -> None:
        """Top level first, then inside what each has."""
        level = Level(self, parent, space)
        level.adjust()
        for host in space:
            found[parent, host] = level.left(host)
        for row in level.rows:
            self.divide(row, {host: level.holds[row][host] for host in space if host in level.holds[row]}, found)

    def load(self, host: str) -> Fraction:
        used = add(self.resources, *(unit.wish.unit for unit in self.units() if unit.host == host))
        return max(
            (Fraction(some, all_) for some, all_ in zip(used, self.hosts[host], strict=True) if all_),
            default=Fraction(0),
        )


class Level:
    """The children of one consumer that own something, and the hosts that it has."""

    def __init__(self, world: Owning, parent: str, space: Space) -> None:
        self.world, self.parent, self.space = world, parent, space
        children = world.children(parent)
        self.before = {row: self.held_before(row) for row in children}
        self.rows = sorted(
            (row for row in children if world.own(row)), key=lambda row: (*self.place(row), world.tree.index(row))
        )
        self.holds: dict[str, Space] = {row: {} for row in self.rows}

    def held_before(self, row: str) -> Space:
        found: Space = {}
        for host, most in self.space.items():
            mine = [
                each for each in self.world.on(host) if each.owner != PUBLIC and self.world.is_below(each.owner, row)
            ]
            amounts = add(self.world.resources, *(each.amounts for each in mine))
            if any(amounts):
                found[host] = tuple(min(pair) for pair in zip(amounts, most, strict=True))
        return found

    # 0: targets

    def rank(self, row: str) -> int:
        found: int = self.world.words[row].get("rank", 0)
        return found

    def place(self, row: str) -> tuple[bool, int]:
        """Its rank; what remains is worse than all."""
        return self.way(row) == "remaining", self.rank(row)

    def way(self, row: str) -> str:
        hosts = self.world.own(row).get("hosts", "parts")
        return "names" if isinstance(hosts, list) else hosts if hosts in {"remaining", "parts"} else "count"

    def names(self, row: str) -> list[str]:
        return list(self.world.own(row)["hosts"]) if self.way(row) == "names" else []

    def targets(self) -> dict[str, int]:
        """Of who is to have whole hosts, so many: full ones in rank order, in one rank names first.

        A part of a host counts as that host.
        """
        found: dict[str, int] = {}
        left = len(self.space)
        for row in sorted(self.rows, key=lambda row: (*self.place(row), self.way(row) != "names")):
            hosts: int | str = self.world.own(row).get("hosts", 0)
            wanted = len([host for host in self.names(row) if host in self.space])
            if self.way(row) == "count":
                wanted = hosts if isinstance(hosts, int) else int(hosts[:-1]) * len(self.space) // 100
            if self.way(row) != "parts":
                found[row] = left if self.way(row) == "remaining" else min(wanted, left)
                left -= found[row]
        return found

    # 1 to 3

    def adjust(self) -> None:
        target = self.targets()
        for row in self.rows:
            for host, amounts in self.before[row].items():
                most = self.asked_of(row, host)
                stays = tuple(min(pair) for pair in zip(amounts, most, strict=True)) if most else ()
                if any(stays) and self.is_busy(row, host):
                    self.holds[row][host] = stays
        for row, mine in self.holds.items():
            while row in target and len(mine) > target[row]:
                order = list(self.space)
                del mine[min(mine, key=lambda host: (self.world.load(host), -order.index(host)))]
        for row, mine in self.holds.items():
            for host in self.space:
                if self.way(row) == "parts" or (host in self.names(row) and host not in mine):
                    self.take(row, host)
            while self.way(row) not in {"parts", "names"} and len(mine) < target[row]:
                found = self.next_host(row)
                if found is None:
                    break
                self.take(row, found)

    def asked_of(self, row: str, host: str) -> Vector | None:
        """What an entry may have of a host: all, none, or a part: those left out follow the largest one named."""
        has, parts = self.space[host], self.world.own(row).get("per_host")
        if parts is None:
            return has if self.way(row) != "names" or host in self.names(row) else None
        named = {
            name: Fraction(have * int(parts[name][:-1]), 100) if isinstance(parts[name], str) else Fraction(parts[name])
            for name, have in zip(self.world.resources, has, strict=True)
            if name in parts
        }
        whole = dict(zip(self.world.resources, has, strict=True))
        largest = max(
            (Fraction(some) / whole[name] for name, some in named.items() if whole[name]), default=Fraction(0)
        )
        return tuple(int(min(named.get(name, largest * have), have)) for name, have in whole.items())

    def is_busy(self, row: str, host: str) -> bool:
        """Whether units of anybody stand on what a consumer, or one below it, has of a host."""
        mine = {each for each in self.world.on(host) if self.world.is_below(each.owner, row) and each.owner != PUBLIC}
        return any(mine & set(unit.books) for unit in self.world.units())

    # Taking

    def left(self, host: str) -> Vector:
        return less(self.space[host], *(mine[host] for mine in self.holds.values() if host in mine))

    def worse(self, row: str, host: str) -> list[str]:
        """Who has some of a host and is of strictly worse rank, the worst first; what remains is worst of all."""
        others = [each for each in self.rows if host in self.holds[each] and each != row]
        able = [each for each in others if self.place(each) > self.place(row)]
        return sorted(able, key=self.place, reverse=True)

    def take(self, row: str, host: str) -> None:
        """As much as is asked of a host: what is public, then what worse ranks have."""
        need = self.asked_of(row, host) if host in self.space else None
        if need is None:
            return
        mine = self.holds[row].get(host, tuple(0 for _ in need))
        sources = [self.left(host), *(self.holds[other][host] for other in self.worse(row, host))]
        for other, amounts in zip(["", *self.worse(row, host)], sources, strict=True):
            part = tuple(max(0, min(a - b, c)) for a, b, c in zip(need, mine, amounts, strict=True))
            mine = add(self.world.resources, mine, part)
            if other:
                self.holds[other][host] = less(amounts, part)
                if not any(self.holds[other][host]):
                    del self.holds[other][host]
        if any(mine):
            self.holds[row][host] = mine

    def next_host(self, row: str) -> str | None:
        """The next host of a count: its own public ones, public ones, those of worse ranks, what better ones leave."""
        able = [host for host in self.space if host not in self.holds[row] and self.is_left(row, host)]
        public = [host for host in able if self.left(host) == self.space[host]]
        of_worse = [host for host in able if self.is_worse_all(row, host)]
        for at, hosts in enumerate((public, of_worse, able)):
            if hosts:
                return min(hosts, key=lambda host: self.order(row, host, at))
        return None

    def is_left(self, row: str, host: str) -> bool:
        return any(self.left(host)) or bool(self.worse(row, host))

    def is_worse_all(self, row: str, host: str) -> bool:
        have = [self.holds[other][host] for other in self.worse(row, host)]
        return bool(have) and add(self.world.resources, self.left(host), *have) == self.space[host]

    def order(self, row: str, host: str, kind: int) -> tuple[int | Fraction | bool, ...]:
        """By what is named; its own of before first; of worse ranks the worst; least workload; never owned."""
        is_other = kind != 1 and (host not in self.before[row] or self.is_busy(row, host))  # no work: it is remembered
        worst = max((self.place(each) for each in self.worse(row, host)), default=(False, 0))
        is_former = any(host in self.before[each] and self.asked_of(each, host) is not None for each in self.rows)
        at = list(self.space).index(host)
        is_public = kind == 2 and not self.worse(row, host)
        return not is_public, self.fit(row, host), is_other, -worst[0], -worst[1], self.world.load(host), is_former, at

    def fit(self, row: str, host: str) -> int:
        """First what consumers below it name, later what those below its siblings name, last what siblings name."""

        def named(top: str) -> bool:
            below = [each for each in self.world.tree if self.world.is_below(each, top)]
            return any(host in self.names(each) for each in below)

        if any(host in self.names(each) for each in self.rows):
            return 3
        return 0 if named(row) else 2 if any(named(each) for each in self.before if each != row) else 1
