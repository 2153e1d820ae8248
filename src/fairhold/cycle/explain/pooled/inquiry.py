"""What an explanation of pools is about: one consumer in one cycle of one policy entry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairhold.ledger.pools import OWN, PUBLIC
from fairhold.model.vector import amounts_document
from fairhold.units import UNLIMITED, format_duration

if TYPE_CHECKING:
    from fairhold.cycle.pooled.active_entries import InForce
    from fairhold.cycle.pooled.run import PooledCycle
    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pool_terms import Terms
    from fairhold.ledger.pools import PendingRequest, PoolBooks
    from fairhold.model.plan import Plan
    from fairhold.model.state import State
    from fairhold.rules.pools.pool_usage import Standing
    from fairhold.rules.pools.reservations import Reservations

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A consumer whose numbers in a cycle are to be told.

    state : before the cycle
    force : the policy entry; cycle: what it decided
    row   : the consumer
    request : the only one of its requests for which is sought what would help it; empty = all
    """

    plan: Plan
    state: State
    force: InForce
    cycle: PooledCycle
    row: int
    request: str = ""

    def is_about(self, asked: PendingRequest) -> bool:
        """What would help a request is to be sought."""
        return self.request in {"", asked.model.id}

    @property
    def books(self) -> PoolBooks:
        """All hosts and requests after the cycle."""
        return self.cycle.books

    @property
    def terms(self) -> Terms:
        """What the entry says of everybody."""
        return self.cycle.books.terms

    @property
    def reservations(self) -> Reservations:
        """What is on its way to whom."""
        return self.cycle.sweeps.reservations

    def pools(self, row: int) -> list[Standing]:
        """How the pools that a consumer shares are used, the nearest first; its own private pool is one of them."""
        standings = self.cycle.sweeps.standings
        return [standings[pool] for pool in self.terms.above[row] if pool in standings]

    def asked(self) -> list[PendingRequest]:
        """The requests of the consumer and of all below it, leaf by leaf in path order, each leaf's in their order."""
        return [
            asked
            for leaf in self.terms.leaves
            if self.row in self.terms.above[leaf]
            for asked in sorted(self.books.by_leaf[leaf], key=lambda each: each.order)
        ]

    def left(self, asked: PendingRequest) -> int:
        """Units that a request waits for and that are not on their way to it."""
        return max(0, asked.waiting - self.reservations.new_units(asked))

    def path(self, row: int) -> str:
        """The path of a consumer."""
        return self.plan.tree.paths[row]

    def owner(self, row: int) -> str | None:
        """The path of an owner; None = nobody owns it."""
        return None if row == PUBLIC else self.path(row)

    def pool(self, pool: int) -> str:
        """The name of a pool, or `own`."""
        return "own" if pool == OWN else self.path(pool)

    def amounts(self, vector: Vector) -> Document:
        """Resource → amount in the declared unit, of those of which there is some."""
        return amounts_document(self.plan.resources, vector)


def duration(micros: int) -> str | None:
    """A duration as files write it; None = any."""
    return None if micros >= UNLIMITED else format_duration(micros)
