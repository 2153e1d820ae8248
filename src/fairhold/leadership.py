"""Which of several services leads: a lease in a cluster or in a store, without I/O (ADR 0038, 0057).

A holder renews the lease. It counts itself as leader until some time after it *began* the last request that renewed
it; a follower takes the lease when it has seen no change of it for longer than that. Both measure by a clock of their
own, and no clock is compared with another's: so two lead at once only if their clocks differ in speed by more than the
margin. A lease that was released is taken at once. One that is not there may have been deleted while somebody leads: a
new one is nobody's, and is taken after the same silence. Only where nothing in the cluster shows that anybody has ever
governed it is a new one taken when it is made.

Every change names the version of the lease that was seen. So of two who take it one gets it, and an answer that was
lost does no harm: the next look tells what became of the request.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


NOBODY_YET = "nobody-yet"
"""Holder of a new lease, which is as silent as one that has crashed."""


class Do(Enum):
    """What is to be asked of who keeps the lease."""

    LOOK = "look"
    MAKE = "make"
    """Make a lease that is held by `NOBODY_YET`; refused where there is one."""
    HOLD = "hold"
    """Take the lease, or renew it."""
    RELEASE = "release"


@dataclass(frozen=True, slots=True)
class Seen:
    """The lease as it was seen.

    version  : of the object, empty = there is none; holder: who has it, empty = nobody
    duration : seconds for which its holder has it, as the holder says
    document : the object
    """

    version: str = ""
    holder: str = ""
    duration: float = 0.0
    document: Mapping[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Ask:
    """A request; seen: the lease that it changes, which must not have changed since."""

    do: Do
    seen: Seen = field(default_factory=Seen)


class Refused(Enum):
    """Why a request brought no lease."""

    CONFLICT = "the lease has changed"
    UNKNOWN = "no answer"


@dataclass(frozen=True, slots=True)
class Terms:
    """How long a lease holds, in seconds.

    duration : silence of a holder after which another takes it
    margin   : by how much sooner a holder counts itself as none; renew: between two renewals
    pause    : between two looks of a follower, and two tries of a request that failed
    request  : what a request about the lease may take; write: the same of a change of the cluster, which is begun only
               while so much is left
    """

    duration: float = 15.0

    @property
    def margin(self) -> float:  # noqa: D102 - see the class
        return self.duration / 10

    @property
    def renew(self) -> float:  # noqa: D102 - see the class
        return self.duration / 3

    @property
    def pause(self) -> float:  # noqa: D102 - see the class
        return self.duration / 15

    @property
    def request(self) -> float:  # noqa: D102 - see the class
        return self.duration / 3

    @property
    def write(self) -> float:  # noqa: D102 - see the class
        return self.duration / 2


class Leadership:
    """What one participant knows and does. `now` is always its own clock, which never goes back, in seconds.

    identity : differs from that of all others
    regains  : who could not renew in time may hold the lease again where nobody has taken it meanwhile: whatever it
               writes is refused once somebody has
    seen     : the lease as it was seen last, None = never
    lost     : why it does not lead any more, empty = it does, or never did; it does nothing more then
    has_led  : it has led, whether it does or not
    is_first : nobody has ever governed the cluster, as it was seen: a lease that is not there is taken at once
    """

    def __init__(self, identity: str, terms: Terms, *, regains: bool = False) -> None:
        self.identity, self.terms, self._regains = identity, terms, regains
        self.seen: Seen | None = None
        self.lost, self.is_first, self.has_led = "", False, False
        self._changed_at = 0.0
        self._until: float | None = None
        self._due = 0.0
        self._has_to_look = True
        self._is_released = False

    def left(self, now: float) -> float:
        """Seconds for which it leads for sure; 0 = it does not."""
        return 0.0 if self._until is None or self.lost else max(0.0, self._until - now)

    def due(self) -> float:
        """When to ask `next` again."""
        return self._due if self._until is None else min(self._due, self._until)

    def next(self, now: float) -> Ask | None:
        """What to ask now; each is answered before the next. None: nothing yet."""
        self._look_at(now)
        if self.lost or self._is_released or now < self._due:
            return None
        seen = self.seen
        if seen is None or self._has_to_look:
            return Ask(Do.LOOK)
        if not seen.version:
            return Ask(Do.HOLD if self.is_first else Do.MAKE, seen)
        if seen.holder in {"", self.identity} or now - self._changed_at >= max(self.terms.duration, seen.duration):
            return Ask(Do.HOLD, seen)
        return Ask(Do.LOOK)

    def answered(self, ask: Ask, began: float, now: float, answer: Seen | Refused) -> None:
        """A request was answered; began: when it was made."""
        self._look_at(now)
        if ask.do is not Do.LOOK:
            self.is_first = False
        if isinstance(answer, Refused):
            self._has_to_look = True
            self._due = now if answer is Refused.CONFLICT else now + self.terms.pause
            return
        if self.seen is None or answer != self.seen:
            self.seen, self._changed_at = answer, now
        self._has_to_look = False
        if ask.do is Do.HOLD and answer.holder == self.identity and not self.lost:
            self._until = began + self.terms.duration - self.terms.margin
            self.has_led = True
            self._due = began + self.terms.renew
            return
        self._due = now if answer.holder in {"", self.identity} else now + self.terms.pause
        if self.has_led and answer.holder != self.identity:
            self._lose(f"{answer.holder} leads" if answer.holder else "somebody has released or deleted the lease")

    def release(self) -> Ask | None:
        """Lead no more; the request that tells others, None where it does not lead or another change is under way."""
        leads = self.has_led and not self.lost and not self._is_released
        self._is_released, self._until = True, None
        return Ask(Do.RELEASE, self.seen) if leads and self.seen and not self._has_to_look else None

    def _look_at(self, now: float) -> None:
        """It leads no more when its time is over."""
        if self._until is None or now < self._until:
            return
        if self._regains:
            self._until, self._has_to_look, self._due = None, True, now
        else:
            self._lose("the lease could not be renewed in time")

    def _lose(self, why: str) -> None:
        self.lost = self.lost or why
