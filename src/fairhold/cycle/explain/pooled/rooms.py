"""What requests find at each level, worked out once for all that find the same."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from fairhold.cycle.explain.pooled.spaces import (
    beyond_unit,
    lent_parts,
    lent_spaces,
    own_spaces,
    owned_by,
    parts_of,
    pool_spaces,
    whole_hosts,
)
from fairhold.kernels.vectors import count, fits
from fairhold.ledger.pools import OWN, PUBLIC
from fairhold.rules.pools.alone import are_alone
from fairhold.rules.pools.siting import packs_whole, where_packed, will_do

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fairhold.cycle.explain.pooled.bounds import Bound
    from fairhold.cycle.explain.pooled.inquiry import Inquiry
    from fairhold.cycle.explain.pooled.spaces import Gap, Lack, Part, Space
    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import Parcel, PendingRequest

    Room = Callable[[Space], Vector]


class Spaces:
    """The hosts of one level as a request finds them, in inventory order; what holds for a size of unit is kept.

    is_packed : whether all units of the request stand on one host, so that it finds no more than one of them has
    """

    def __init__(self, spaces: list[Space], *, is_packed: bool = False) -> None:
        self.spaces, self.is_packed = spaces, is_packed
        self._has: dict[tuple[Vector, Room], bool] = {}
        self._units: dict[tuple[Vector, Room], int] = {}
        self._nearest: dict[tuple[Vector, Room], tuple[Lack, Gap] | None] = {}

    @cached_property
    def passed(self) -> tuple[tuple[int, Bound], ...]:
        """Owners of parcels that the request may not use, with their bounds."""
        return tuple(dict.fromkeys(each for space in self.spaces for each in space.passed))

    def has(self, unit: Vector, room: Room) -> bool:
        """Whether a unit fits into some room of any host."""
        if (unit, room) not in self._has:
            self._has[unit, room] = any(fits(unit, room(space)) for space in self.spaces)
        return self._has[unit, room]

    def first(self, unit: Vector, room: Room) -> str:
        """The name of the first host that has room for a unit; empty where none has."""
        return next((space.host.name for space in self.spaces if fits(unit, room(space))), "")

    def units(self, unit: Vector, room: Room) -> int:
        """How many units fit on all hosts that it may use together."""
        if (unit, room) not in self._units:
            fit = [count(unit, room(space)) for space in self.spaces]
            self._units[unit, room] = max(fit, default=0) if self.is_packed else sum(fit)
        return self._units[unit, room]

    def nearest(self, unit: Vector, room: Room) -> tuple[Lack, Gap] | None:
        """How much is missing where the least is, and what; None = there is no host."""
        if (unit, room) not in self._nearest:
            self._nearest[unit, room] = beyond_unit(unit, self.spaces, room)
        return self._nearest[unit, room]


def nearest(unit: Vector, levels: Iterable[Spaces], room: Room) -> Gap | None:
    """The host on which the smallest part of a unit is missing, and what; the first of equal ones; None = no host."""
    found = [near for spaces in levels if (near := spaces.nearest(unit, room)) is not None]
    return min(found, key=lambda near: near[0])[1] if found else None


class Rooms:
    """Finds what requests find, for one inquiry.

    kept : requests for which something is kept on a parcel: nobody finds what they find
    """

    def __init__(self, inquiry: Inquiry) -> None:
        self.inquiry = inquiry
        parcels = [parcel for host in inquiry.books.hosts for parcel in host.parcels]
        self.kept = {asked for parcel in parcels for asked in parcel.kept}
        self._owners = {parcel.owner for parcel in parcels} - {PUBLIC}
        self._owned = owned_by(inquiry)
        self._parts: dict[int, list[Part]] = {}
        self._lent: dict[int, list[Part]] = {}
        self._known: dict[Any, Spaces] = {}

    def _once(self, asked: PendingRequest, key: Any, find: Callable[[], list[Space]]) -> Spaces:  # noqa: ANN401 - whatever tells them apart
        """What a request finds; one that packs finds nothing where it does not go on (R-SITE-3)."""
        if not packs_whole(asked):
            if key not in self._known:
                self._known[key] = Spaces(find())
            return self._known[key]
        if (asked, key) not in self._known:
            able = set(where_packed(asked, self.inquiry.books.hosts, self.inquiry.reservations.of.get(asked)))
            self._known[asked, key] = Spaces([each for each in find() if each.host in able], is_packed=True)
        return self._known[asked, key]

    def _alike(self, asked: PendingRequest) -> tuple[object, ...]:
        """What requests have in common that find the same in a pool: where they may stand and what they may use."""
        terms, leaf = self.inquiry.terms, asked.leaf
        above = tuple(row for row in terms.above[leaf] if row in self._owners)
        is_alone = are_alone(self.inquiry.books)
        return asked.siting, terms.grace[leaf], above, leaf if is_alone else None, asked if asked in self.kept else None

    def whole(self, asked: PendingRequest) -> Spaces:
        """Every host that will do as if it were empty and everybody's."""
        if asked.siting not in self._known:
            mine = [each for each in whole_hosts(self.inquiry) if will_do(asked, each.host)]
            self._known[asked.siting] = Spaces(mine)
        return self._known[asked.siting]

    def own(self, asked: PendingRequest) -> list[tuple[int, Spaces]]:
        """What it finds on what its leaf owns, preference by preference."""
        key = asked.leaf, asked.siting, asked if asked in self.kept else None

        def mine(preference: int, parcels: list[list[Parcel]]) -> Spaces:
            return self._once(asked, (OWN, preference, *key), lambda: own_spaces(self.inquiry, asked, parcels))

        return [(preference, mine(preference, parcels)) for preference, parcels in self._owned.get(asked.leaf, ())]

    def pool(self, asked: PendingRequest, pool: int, givers: frozenset[int]) -> Spaces:
        """What it finds in a pool.

        givers : leaves that may be asked to give a unit
        """
        if pool not in self._parts:
            self._parts[pool] = parts_of(self.inquiry, pool)
        parts = self._parts[pool]
        key = pool, givers, self._alike(asked)
        return self._once(asked, key, lambda: pool_spaces(self.inquiry, asked, pool, parts, givers))

    def lent(self, asked: PendingRequest, pool: int) -> Spaces:
        """What it finds where the owner of a private pool may take back what it lent up."""
        if pool not in self._lent:
            self._lent[pool] = lent_parts(self.inquiry, pool)
        parts = self._lent[pool]
        return self._once(asked, (pool, self._alike(asked)), lambda: lent_spaces(self.inquiry, asked, pool, parts))
