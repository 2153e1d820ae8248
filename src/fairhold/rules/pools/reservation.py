"""What is on its way to one host for one request (R-HELD-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import Notice, PendingRequest, Unit


class Reservation:
    """Units of one request that are on their way to one host.

    victims : units under notice for it there
    units   : units of the request that fit into what the victims free and what is held
    pool    : pool of these units, or OWN
    freed   : pool, or OWN → what the victims have of what the request may use in it, once that was asked
    """

    __slots__ = ("freed", "pool", "units", "victims")

    def __init__(self, pool: int) -> None:
        self.victims: tuple[Unit, ...] = ()
        self.units = 0
        self.pool = pool
        self.freed: dict[int, Vector] = {}

    def takes(self, victims: Iterable[Unit]) -> None:
        """These units go for it, and no others."""
        self.victims = tuple(victims)
        self.freed.clear()

    def adds(self, unit: Unit) -> None:
        """One unit more goes for it."""
        self.takes((*self.victims, unit))

    def drops(self, unit: Unit) -> None:
        """A unit does not go for it any more."""
        self.takes([each for each in self.victims if each is not unit])


def given(unit: Unit) -> int:
    """A number that is larger for notices given later."""
    return unit.notice.serial if unit.notice else 0


def told_of(gang: PendingRequest) -> tuple[int, int]:
    """Units of a gang, and how many of them are under notice."""
    return len(gang.units), sum([unit.notice is not None for unit in gang.units])


def latest(unit: Unit) -> tuple[int, int]:
    """Deadline of its notice, and a number that is larger for notices given later; of a unit under none zeros."""
    notice: Notice | None = unit.notice
    return (notice.deadline, notice.serial) if notice else (0, 0)
