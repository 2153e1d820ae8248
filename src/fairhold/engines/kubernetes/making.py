"""Bare pods that are to be made anew, since nobody else makes one in their place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.engines.kubernetes.work import Tried
from fairhold.engines.kubernetes.writes import recreate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.engines.kubernetes.vacancies import Vacancies
    from fairhold.engines.kubernetes.writes import Write
    from fairhold.ports.governor import Family


class Anew(Tried):
    """A pod to make.

    packed : its manifest; is_awaited: a task waits for it, and once none does it is not made any more
    """

    __slots__ = ("is_awaited", "packed")

    def __init__(self, packed: bytes, *, is_awaited: bool) -> None:
        super().__init__()
        self.packed, self.is_awaited = packed, is_awaited


class Making:
    """All of them by family, each until a pod of its name is there."""

    def __init__(self, vacancies: Vacancies) -> None:
        self._vacancies = vacancies
        self._of: dict[Family, Anew] = {}

    def add(self, family: Family, packed: bytes) -> None:
        """A pod is gone that is to be made anew."""
        self._of[family] = Anew(packed, is_awaited=bool(self._vacancies.seats(family)))

    def clear(self) -> None:
        """None is made."""
        self._of.clear()

    def writes(self, now: int) -> Iterator[Write]:
        """Requests to make now; each is answered."""
        for family, each in list(self._of.items()):
            if each.is_awaited and not self._vacancies.seats(family):
                del self._of[family]
            elif not each.is_busy and each.retry_at <= now:
                each.is_busy = True
                yield recreate(family[0], each.packed)

    def answered(self, family: Family, now: int, *, is_done: bool) -> int:
        """A request was answered; instant at which it is made again, 0 = never."""
        each = self._of.get(family)
        if each is None:
            return 0
        if is_done:
            del self._of[family]
        each.count_try(now, is_done=is_done)
        return each.retry_at
