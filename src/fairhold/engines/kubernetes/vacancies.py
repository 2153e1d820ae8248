"""Tasks whose pod was stopped, and that wait for the pod that their controller makes in its place."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairhold.ports.governor import Replaced

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairhold.engines.kubernetes.pods import Pod
    from fairhold.ports.governor import Family, Seat


@dataclass(slots=True)
class Vacancy:
    """A task that waits for a pod.

    until   : instant at which it is given up, 0 = its pod has not ended yet
    is_held : the service was told to start nothing of it
    """

    seat: Seat
    until: int = 0
    is_held: bool = False


class Vacancies:
    """All of them, by family, those that wait longest in front."""

    def __init__(self) -> None:
        self._of: dict[Family, deque[Vacancy]] = {}

    def open(self, family: Family, seat: Seat) -> None:
        """The pod of a task is going; its controller may make another one even before it is gone."""
        if self._find(family, seat) is None:
            self._of.setdefault(family, deque()).append(Vacancy(seat))

    def await_until(self, family: Family, seat: Seat, until: int) -> None:
        """The pod of a task is gone, and no other has taken its place yet: it is awaited until an instant."""
        vacancy = self._find(family, seat)
        if vacancy is not None:
            vacancy.until, vacancy.is_held = until, True

    def fill(self, family: Family) -> Vacancy | None:
        """The task whose pod a new pod of a family is from now on; None where none waits for one."""
        waiting = self._of.get(family)
        if not waiting:
            return None
        vacancy = waiting.popleft()
        if not waiting:
            del self._of[family]
        return vacancy

    def close(self, family: Family, seat: Seat) -> None:
        """A task waits for no pod any more."""
        left = deque(each for each in self._of.pop(family, ()) if each.seat != seat)
        if left:
            self._of[family] = left

    def drop(self, job: str) -> None:
        """A job waits for no pod any more."""
        self._keep(lambda each: each.seat[0] != job)

    def leave(self, seat: Seat) -> None:
        """A task waits for no pod any more."""
        self._keep(lambda each: each.seat != seat)

    def given_up(self, now: int) -> list[Seat]:
        """Tasks that have waited for too long; they are forgotten here."""
        late = [each.seat for waiting in self._of.values() for each in waiting if each.until and each.until <= now]
        for seat in late:
            self.leave(seat)
        return late

    def seats(self, family: Family) -> list[Seat]:
        """Tasks that wait for a pod of a family."""
        return [each.seat for each in self._of.get(family, ())]

    def held(self, job: str) -> list[Seat]:
        """Tasks of a job whose pod is gone, and that wait for another."""
        return [each.seat for waiting in self._of.values() for each in waiting if each.seat[0] == job and each.is_held]

    def _find(self, family: Family, seat: Seat) -> Vacancy | None:
        return next((each for each in self._of.get(family, ()) if each.seat == seat), None)

    def _keep(self, stays: Callable[[Vacancy], bool]) -> None:
        for family, waiting in list(self._of.items()):
            left = deque(each for each in waiting if stays(each))
            if left:
                self._of[family] = left
            else:
                del self._of[family]


def replaced(seat: Seat, pod: Pod) -> Replaced:
    """A pod has this place from now on."""
    return Replaced(*seat, pod.name, pod.uid, owner_of(pod))


def owner_of(pod: Pod) -> str:
    """The family of a pod in one word."""
    return "/".join(pod.family or ())
