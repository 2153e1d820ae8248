"""Parcels of hosts, who may use which, and on which a unit is booked (SPEC §6.1-6.3), from documents, exact and slow.

Consumers are paths, amounts are lists in the order of the resources. A consumer has one entry of `own` at most.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

Json = dict[str, Any]
Vector = tuple[int, ...]
OWN, PUBLIC = "own", "/"


@dataclass(eq=False)
class Parcel:
    """What one consumer owns of a host and its children do not; `/` owns what nobody does."""

    host: str
    owner: str
    amounts: Vector


@dataclass(eq=False)
class Wish:
    """A request and the units that it holds."""

    id: str
    leaf: str
    unit: Vector
    count: int
    least: int
    order: tuple[int, str, str]
    units: list[Unit] = field(default_factory=list)


@dataclass(eq=False)
class Unit:
    """A unit that stands, and what it uses of which parcels; place: of its allocation in the state."""

    wish: Wish
    host: str
    pool: str
    books: dict[Parcel, Vector]
    started: str = ""
    place: int = 0


class World:
    """A plan document, a state document, and the parcels that a cycle has left."""

    def __init__(self, plan: Json, state: Json, ownership: list[Json]) -> None:
        (entry,) = plan["policies"]
        self.now: str = state["now"]
        self.tree = list(plan["consumers"])
        self.words: dict[str, Json] = {path: entry["consumers"].get(path, {}) for path in self.tree}
        self.settings: Json = entry.get("settings", {})
        self.resources = list(plan["resources"])
        (group,) = plan["resource_groups"].values()
        down = state.get("hosts_down", [])
        self.hosts = {row["name"]: self.vector(row) for row in group["hosts"] if row["name"] not in down}
        self.parcels = [Parcel(row["host"], row["consumer"], self.vector(row["amounts"])) for row in ownership]
        for host, amounts in self.hosts.items():
            taken = [parcel.amounts for parcel in self.parcels if parcel.host == host]
            self.parcels.append(Parcel(host, PUBLIC, less(amounts, *taken)))
        self.wishes = {row["id"]: self.wish(row) for row in state["requests"]}
        rows = [row for row in state.get("allocations", []) if row["host"] in self.hosts]
        listed = list(enumerate(rows))
        listed.sort(key=lambda each: (not {"stands_on", "lenders"} & each[1].keys(), each[1].get("pool") != OWN))
        for at, row in listed:
            for _ in range(row["units"]):
                self.stand(row, at)
        for wish in self.wishes.values():
            wish.units.sort(key=lambda unit: unit.place)

    def vector(self, row: Json) -> Vector:
        return tuple(row.get(name, 0) for name in self.resources)

    def wish(self, row: Json) -> Wish:
        order = -row.get("priority", 0), row.get("submitted", ""), row["id"]
        return Wish(row["id"], row["consumer"], self.vector(row["unit"]), row["count"], row.get("min_count", 0), order)

    def stand(self, row: Json, place: int) -> None:
        """A unit of an allocation, on what it says, else on its lender's parcel, else on its own before its pool's."""
        wish, pool, host = self.wishes[row["request"]], row.get("pool", PUBLIC), row["host"]
        said = {path: self.vector(each) for path, each in row.get("stands_on", {}).items()}
        said = said or dict.fromkeys(row.get("lenders", {}), wish.unit)
        mine = [(each, said[each.owner]) for each in self.on(host) if each.owner in said]
        order = dict.fromkeys([*self.parts(wish.leaf, pool, host), *self.on(host)])
        books = self.booked(wish.unit, mine) or self.booked(wish.unit, [(each, self.idle(each)) for each in order])
        assert books is not None
        is_own = all(parcel.owner == wish.leaf for parcel in books)
        wish.units.append(Unit(wish, host, OWN if is_own else pool, books, row["started"], place))

    # The tree

    def above(self, path: str) -> list[str]:
        """A consumer and all above it, but for the root."""
        return [each for each in reversed(self.tree) if f"{path}/".startswith(f"{each}/")]

    def is_below(self, path: str, pool: str) -> bool:
        return pool == PUBLIC or pool in self.above(path)

    def children(self, path: str) -> list[str]:
        return [each for each in self.tree if (each.rpartition("/")[0] or PUBLIC) == path]

    def leaves(self, path: str = PUBLIC) -> list[str]:
        return [each for each in self.tree if self.is_below(each, path) and not self.children(each)]

    def place(self, path: str) -> list[tuple[int, int]]:
        """Path order: (rank, plan order) level by level."""
        way = reversed(self.above(path))
        return [(self.words[each].get("rank", 0), self.tree.index(each)) for each in way]

    def grace(self, leaf: str) -> int:
        return next(
            (seconds(self.words[up]["reclaim_grace"]) for up in self.above(leaf) if "reclaim_grace" in self.words[up]),
            0,
        )

    def own(self, path: str) -> Json:
        found: Json = self.words[path]["own"][0] if self.words.get(path, {}).get("own") else {}
        return found

    def preference(self, path: str) -> int:
        return next((self.own(up)["preference"] for up in self.above(path) if "preference" in self.own(up)), 5)

    def pools(self) -> list[str]:
        """Private pools, the deepest first, in plan order; then the public one."""
        owners = [path for path in self.tree if self.own(path) and self.children(path)]
        return [*sorted(owners, key=lambda path: -path.count("/")), PUBLIC]

    def wishes_of(self, leaf: str) -> list[Wish]:
        return sorted((wish for wish in self.wishes.values() if wish.leaf == leaf), key=lambda wish: wish.order)

    def units(self) -> list[Unit]:
        return [unit for wish in self.wishes.values() for unit in wish.units]

    # Lending

    def on(self, host: str) -> list[Parcel]:
        return [parcel for parcel in self.parcels if parcel.host == host]

    def has(self, pool: str, parcel: Parcel, leaf: str = "") -> bool:
        """Whether a parcel is of a pool: owned by whose it is, or lent up to it. `own` is that of a leaf."""
        if pool == OWN or parcel.owner in (pool, PUBLIC):
            return parcel.owner == (leaf if pool == OWN else pool)
        way = self.above(parcel.owner)
        below = way[: way.index(pool)] if pool in way else way
        return (pool in way or pool == PUBLIC) and not any(self.own(path).get("reserved") for path in below)

    def bounds(self, parcel: Parcel, leaf: str, pool: str) -> list[int]:
        """Seconds within which a leaf lets go of what it has of a parcel in a pool."""
        if parcel.owner == leaf:
            return []
        if parcel.owner == PUBLIC:
            return spans([self.settings.get("public_pool_grace")])
        way = self.above(parcel.owner)
        lent = [self.own(path).get("lend_grace") for path in (way[: way.index(pool)] if pool in way else way)]
        mine = [self.words[parcel.owner].get("private_pool_grace")] if self.is_below(leaf, parcel.owner) else []
        return spans([*lent, *mine])

    def parts(self, leaf: str, pool: str, host: str) -> list[Parcel]:
        """Parcels that a pool has on a host, in the order in which units of a leaf are booked."""

        def turn(parcel: Parcel) -> tuple[int, ...]:
            if parcel.owner in (leaf, pool):
                return (0 if parcel.owner == leaf else 1,)
            rank = self.words[parcel.owner].get("rank", 0)
            return 2, -self.preference(parcel.owner), -rank, self.tree.index(parcel.owner)

        return sorted((parcel for parcel in self.on(host) if self.has(pool, parcel, leaf)), key=turn)

    def usable(self, leaf: str, pool: str, host: str) -> list[Parcel]:
        """Those of them that the leaf may borrow."""
        grace = self.grace(leaf)
        return [
            each
            for each in self.parts(leaf, pool, host)
            if all(grace <= most for most in self.bounds(each, leaf, pool))
        ]

    # Booking

    def idle(self, parcel: Parcel) -> Vector:
        return less(parcel.amounts, *(unit.books[parcel] for unit in self.units() if parcel in unit.books))

    def booked(self, need: Vector, parcels: Iterable[tuple[Parcel, Vector]]) -> dict[Parcel, Vector] | None:
        """On what a unit is booked if so much is free of each parcel, the first first; None where it does not fit."""
        left, books = need, {}
        for parcel, free in parcels:
            part = tuple(min(pair) for pair in zip(left, free, strict=True))
            if any(part):
                books[parcel], left = part, less(left, part)
        return None if any(left) else books

    def books_for(self, wish: Wish, pool: str, host: str) -> dict[Parcel, Vector] | None:
        return self.booked(wish.unit, [(parcel, self.idle(parcel)) for parcel in self.usable(wish.leaf, pool, host)])

    # Limits

    def limit_allows(self, wish: Wish) -> bool:
        """Whether one more unit in a share pool keeps within all share limits above."""
        for path in self.above(wish.leaf):
            used = add(self.resources, *(unit.wish.unit for unit in self.units() if self.counts(unit, path)), wish.unit)
            limit = self.words[path].get("share_limit", {})
            for name, have, need in zip(self.resources, used, wish.unit, strict=True):
                if need and have > limit.get(name, have):
                    return False
        return True

    def counts(self, unit: Unit, path: str) -> bool:
        return unit.pool != OWN and self.is_below(unit.wish.leaf, path)


def less(amounts: Vector, *taken: Vector) -> Vector:
    return tuple(have - sum(each[at] for each in taken) for at, have in enumerate(amounts))


def add(resources: list[str], *amounts: Vector) -> Vector:
    return tuple(sum(each[at] for each in amounts) for at in range(len(resources)))


def seconds(text: str) -> int:
    return int(text.removesuffix("s"))


def spans(stated: Iterable[str | None]) -> list[int]:
    return [seconds(each) for each in stated if each is not None]
