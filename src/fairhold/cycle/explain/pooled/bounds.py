"""Which setting says how fast a unit has to let go of a parcel (R-LEND-6, S2.13, S2.30)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairhold.cycle.explain.pooled.inquiry import duration
from fairhold.ledger.pools import PUBLIC
from fairhold.rules.pools.content import within
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.explain.pooled.inquiry import Document, Inquiry
    from fairhold.ledger.pool_terms import Terms
    from fairhold.ledger.pools import Parcel, Unit
    from fairhold.model.vector import Owning


@dataclass(frozen=True, slots=True)
class Bound:
    """A duration that some setting gives.

    micros   : UNLIMITED = none
    setting  : its key in the plan; empty where nothing bounds
    consumer : row that states it
    entry    : of a `lend_grace`, the entry of `own` in which it stands
    """

    micros: int = UNLIMITED
    setting: str = ""
    consumer: int = PUBLIC
    entry: Owning | None = None

    def document(self, inquiry: Inquiry) -> Document:
        """The bound as data; `consumer` is null where the whole policy entry says it."""
        if not self.setting:
            return {"within": None, "setting": None, "consumer": None}
        return {
            "within": duration(self.micros),
            "setting": self.setting,
            "consumer": inquiry.owner(self.consumer),
        }


def bounds_on(terms: Terms, parcel: Parcel, leaf: int, pool: int) -> Iterator[Bound]:
    """All that bounds a leaf's unit in a pool on a parcel; nothing on its own."""
    if parcel.owner == leaf:
        return
    if parcel.owner == PUBLIC:
        yield Bound(within(terms.settings.public_pool_grace), "public_pool_grace")
        return
    for row, entry in parcel.chain:
        if row == pool:
            break
        yield Bound(within(entry.lend_grace), "lend_grace", row, entry)
    if parcel.owner in terms.above[leaf]:
        yield Bound(within(terms.pool_grace.get(parcel.owner)), "private_pool_grace", parcel.owner)


def bound_of(terms: Terms, parcel: Parcel, leaf: int, pool: int) -> Bound:
    """The smallest of them, of equal ones the first; one without a setting where there is none."""
    found = [bound for bound in bounds_on(terms, parcel, leaf, pool) if bound.micros < UNLIMITED]
    return min(found, key=lambda bound: bound.micros) if found else Bound()


def grace_from(terms: Terms, unit: Unit) -> Bound:
    """The grace in force of a unit, and whose setting it is: its holder's own where no bound is smaller."""
    leaf = unit.asked.leaf
    own = Bound(terms.grace[leaf], "reclaim_grace", leaf)
    bounds = [bound_of(terms, parcel, leaf, unit.pool) for parcel in unit.books]
    return min([own, *bounds], key=lambda bound: bound.micros)
