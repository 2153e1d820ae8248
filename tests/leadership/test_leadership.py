"""Who leads: never two at the same true time, whatever clocks, network and administrators do; and one leads again."""

from __future__ import annotations

import heapq
from itertools import count
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairhold.leadership import NOBODY_YET, Ask, Do, Leadership, Refused, Seen, Terms

if TYPE_CHECKING:
    from collections.abc import Callable

D = 15.0
TERMS = Terms(D)
BUSY, QUIET = 20 * D, 5 * D
"""Seconds of true time with faults, and after them without."""


class World:
    """True time, a server that holds the lease, a network, and participants with clocks of their own.

    drift    : by how much a clock is faster or slower than true time, at most
    longest  : duration of the lease of some of them, in D
    regains  : whether they hold the lease again that nobody took when they could not renew it
    """

    def __init__(
        self, random: Random, number: int, *, drift: float = 0.01, longest: float = 1.0, regains: bool = False
    ) -> None:
        self.random, self.drift, self.longest, self.regains = random, drift, longest, regains
        self.now = 0.0
        self.lease = Seen()
        self.is_busy = True
        self.participants: list[Participant] = []
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order, self._versions, self.names = count(), count(1), count()
        for _ in range(number):
            self.join()

    def join(self) -> None:
        self.participants.append(joined := Participant(self))
        joined.wake()

    def leave(self, who: Participant) -> None:
        """It ends; another comes in its place."""
        self.participants.remove(who)
        self.after(self.random.uniform(0, D), self.join)

    def after(self, seconds: float, what: Callable[[], None]) -> None:
        heapq.heappush(self._events, (self.now + seconds, next(self._order), what))

    def delay(self) -> float:
        """Of the network, or of a process that is not scheduled."""
        if self.is_busy and self.random.random() < 0.15:
            return self.random.uniform(0, self.random.choice((D / 3, 3 * D)))
        return self.random.choice((0.0, self.random.uniform(0, 0.3)))

    def serve(self, ask: Ask, who: Leadership) -> Seen | Refused:
        """What the API server answers."""
        if ask.do is Do.LOOK:
            return self.lease
        if ask.seen.version != self.lease.version:
            return Refused.CONFLICT
        holder = {Do.MAKE: NOBODY_YET, Do.HOLD: who.identity}.get(ask.do, "")
        self.lease = Seen(str(next(self._versions)), holder, who.terms.duration)
        return self.lease

    def release(self, ask: Ask, who: Leadership) -> None:
        self.serve(ask, who)

    def leaders(self) -> list[Participant]:
        return [each for each in self.participants if each.core.left(each.clock()) > 0]

    def run(self, until: float) -> None:
        while self._events and self._events[0][0] <= until:
            self.now, _, what = heapq.heappop(self._events)
            what()
            leaders = self.leaders()
            assert len(leaders) <= 1, (self.now, [each.core.identity for each in leaders])
        self.now = until


class Participant:
    def __init__(self, world: World) -> None:
        self.world = world
        random = world.random
        self._rate = 1 + random.choice((-1, 1, random.uniform(-1, 1))) * world.drift
        self._offset = random.uniform(0, 1e6)
        terms = Terms(D * random.choice((1.0, world.longest)))
        self.core = Leadership(f"p{next(world.names)}", terms, regains=world.regains)
        self.is_asking, self.cut_until = False, 0.0

    @property
    def is_here(self) -> bool:
        return self in self.world.participants

    def clock(self) -> float:
        return self._offset + self._rate * self.world.now

    def wake(self) -> None:
        if self.is_asking or not self.is_here:
            return
        ask = self.core.next(self.clock())
        if self.core.lost:
            self.world.leave(self)
        elif ask is not None:
            self.send(ask)
        else:
            wait = max(0.0, self.core.due() - self.clock()) / self._rate
            self.world.after(wait + self.world.delay() / 10, self.wake)

    def send(self, ask: Ask) -> None:
        """A request may come late, also when nobody waits for its answer any more, and so may the answer, or never."""
        world, began = self.world, self.clock()
        self.is_asking = True

        def hear(answer: Seen | Refused) -> None:
            if self.is_here and not is_over:
                is_over.append(True)
                self.is_asking = False
                self.core.answered(ask, began, self.clock(), answer)
                self.wake()

        def arrive() -> None:
            answer = world.serve(ask, self.core)
            if not self.is_lost():
                world.after(world.delay(), lambda: hear(answer))

        is_over: list[bool] = []
        if not self.is_lost():
            world.after(world.delay(), arrive)
        world.after(self.core.terms.request / self._rate, lambda: hear(Refused.UNKNOWN))

    def is_lost(self) -> bool:
        """Whether the network loses a message."""
        return self.world.is_busy and (self.world.now < self.cut_until or self.world.random.random() < 0.1)

    def cut(self) -> None:
        """Nothing gets through for a while."""
        self.cut_until = self.world.now + self.world.random.uniform(0, 2 * D)

    def stop(self) -> None:
        """In good order."""
        ask = None if self.is_asking else self.core.release()
        self.world.leave(self)
        if ask is not None:
            self.world.after(self.world.delay(), lambda: self.world.release(ask, self.core))


def faults(world: World, *, deletes: bool) -> None:
    """Crashes, orderly ends, broken networks, and administrators who delete the lease."""
    random, at = world.random, 0.0
    while (at := at + random.expovariate(1 / (2 * D))) < BUSY:

        def happen() -> None:
            victims = world.leaders() * 2 + world.participants
            what = random.choice(("crash", "stop", "cut", "cut", "delete")[: 5 if deletes else 4])
            if what == "delete":
                world.lease = Seen()
            elif victims:
                victim = random.choice(victims)
                {"crash": lambda: world.leave(victim), "stop": victim.stop, "cut": victim.cut}[what]()

        world.after(at, happen)


@given(seed=st.integers(0, 2**32), number=st.integers(2, 3), deletes=st.booleans(), regains=st.booleans())
@settings(max_examples=150, deadline=None)
def test_never_two_lead_and_one_leads_again(*, seed: int, number: int, deletes: bool, regains: bool) -> None:
    world = World(Random(seed), number, longest=1.0 if deletes else 2.0, regains=regains)
    faults(world, deletes=deletes)
    world.run(BUSY)
    world.is_busy = False
    world.run(BUSY + QUIET + 6 * D)  # what is still on its way comes, and the dead are replaced
    assert len(world.leaders()) == 1, world.lease


def test_the_margin_is_what_keeps_clocks_of_other_speed_apart() -> None:
    """A clock so slow that its second is worth more than the margin breaks it: the test above can fail."""
    slow, quick = Leadership("slow", TERMS), Leadership("quick", TERMS)
    first = Seen("1", "slow", D)
    slow.answered(Ask(Do.HOLD, Seen()), 0.0, 0.0, first)
    quick.answered(Ask(Do.LOOK), 0.0, 0.0, first)
    taken = quick.next(D)
    assert taken == Ask(Do.HOLD, first)
    quick.answered(taken, D, D, Seen("2", "quick", D))
    assert slow.left(D * 0.98 / 1.02) == 0.0 < quick.left(D)
    assert slow.left(D * 0.89) > 0 < quick.left(D)


def leading(now: float = 0.0) -> Leadership:
    core = Leadership("me", TERMS)
    free = Seen("1", "", D)
    assert core.next(now) == Ask(Do.LOOK)
    core.answered(Ask(Do.LOOK), now, now, free)
    assert core.next(now) == Ask(Do.HOLD, free)
    core.answered(Ask(Do.HOLD, free), now, now + 1, Seen("2", "me", D))
    return core


def test_a_lease_counts_from_the_begin_of_the_request() -> None:
    core = leading()
    assert core.left(1.0) == pytest.approx(D - TERMS.margin - 1.0)
    assert core.next(TERMS.renew - 0.1) is None
    assert core.next(TERMS.renew) == Ask(Do.HOLD, Seen("2", "me", D))


def test_a_new_lease_is_taken_after_a_silence_only() -> None:
    core = Leadership("me", TERMS)
    core.answered(Ask(Do.LOOK), 0.0, 1.0, Seen())
    assert core.next(1.0) == Ask(Do.MAKE, Seen())
    new = Seen("1", NOBODY_YET, D)
    core.answered(Ask(Do.MAKE, Seen()), 1.0, 2.0, new)
    assert core.next(D + 1) == Ask(Do.LOOK)
    assert core.next(D + 2) == Ask(Do.HOLD, new)


def test_a_lease_that_nobody_can_have_had_is_taken_when_it_is_made() -> None:
    core = Leadership("me", TERMS)
    core.is_first = True
    core.answered(Ask(Do.LOOK), 0.0, 1.0, Seen())
    ask = core.next(1.0)
    assert ask == Ask(Do.HOLD, Seen())
    core.answered(ask, 1.0, 2.0, Seen("1", "me", D))
    assert core.left(2.0) == pytest.approx(D - TERMS.margin - 1.0)


@pytest.mark.parametrize("answer", list(Refused))
def test_who_was_not_alone_in_making_the_first_lease_waits_as_others_do(answer: Refused) -> None:
    core = Leadership("me", TERMS)
    core.is_first = True
    core.answered(Ask(Do.LOOK), 0.0, 1.0, Seen())
    core.answered(Ask(Do.HOLD, Seen()), 1.0, 2.0, answer)
    assert core.next(4.0) == Ask(Do.LOOK)
    core.answered(Ask(Do.LOOK), 4.0, 4.0, Seen())
    assert core.next(4.0) == Ask(Do.MAKE, Seen())


def test_an_answer_that_was_lost_is_looked_up_and_does_not_count() -> None:
    core = leading()
    core.answered(Ask(Do.HOLD, Seen("2", "me", D)), 5.0, 9.0, Refused.UNKNOWN)
    assert core.next(9.5) is None
    assert core.next(10.0) == Ask(Do.LOOK)
    core.answered(Ask(Do.LOOK), 10.0, 10.1, Seen("3", "me", D))
    assert core.left(10.1) == pytest.approx(D - TERMS.margin - 10.1)
    assert core.next(10.1) == Ask(Do.HOLD, Seen("3", "me", D))


@pytest.mark.parametrize("other", [Seen("3", "you", D), Seen("3", "", D), Seen()])
def test_who_sees_the_lease_in_other_hands_leads_no_more(other: Seen) -> None:
    core = leading()
    core.answered(Ask(Do.HOLD, Seen("2", "me", D)), 5.0, 5.1, Refused.CONFLICT)
    assert core.next(5.1) == Ask(Do.LOOK)
    core.answered(Ask(Do.LOOK), 5.1, 5.2, other)
    assert core.lost
    assert core.left(5.2) == 0.0
    assert core.next(5.2) is None
    assert core.release() is None


def test_an_answer_that_comes_after_the_end_does_not_make_it_lead_again() -> None:
    core = leading()
    core.answered(Ask(Do.HOLD, Seen("2", "me", D)), 13.0, 14.0, Seen("3", "me", D))
    assert core.lost == "the lease could not be renewed in time"
    assert core.left(14.0) == 0.0


def test_a_lease_is_released_only_where_its_state_is_known() -> None:
    core = leading()
    assert core.release() == Ask(Do.RELEASE, Seen("2", "me", D))
    assert core.left(1.0) == 0.0
    assert core.release() is None
    doubtful = leading()
    doubtful.answered(Ask(Do.HOLD, Seen("2", "me", D)), 5.0, 9.0, Refused.UNKNOWN)
    assert doubtful.release() is None


def test_a_holder_that_says_a_longer_duration_has_it() -> None:
    core = Leadership("me", TERMS)
    longer = Seen("1", "you", 2 * D)
    core.answered(Ask(Do.LOOK), 0.0, 0.0, longer)
    assert core.next(2 * D - 1) == Ask(Do.LOOK)
    assert core.next(2 * D) == Ask(Do.HOLD, longer)


def test_who_could_not_renew_in_time_holds_the_lease_again_where_nobody_took_it() -> None:
    core = Leadership("me", TERMS, regains=True)
    core.answered(Ask(Do.LOOK), 0.0, 0.0, Seen("1", "", D))
    core.answered(Ask(Do.HOLD, Seen("1", "", D)), 0.0, 1.0, Seen("2", "me", D))
    assert core.next(2 * D) == Ask(Do.LOOK)
    assert (core.left(2 * D), core.lost) == (0.0, "")
    core.answered(Ask(Do.LOOK), 2 * D, 2 * D, Seen("2", "me", D))
    assert core.next(2 * D) == Ask(Do.HOLD, Seen("2", "me", D))
    core.answered(Ask(Do.HOLD, Seen("2", "me", D)), 2 * D, 2 * D, Seen("3", "me", D))
    assert core.left(2 * D) == pytest.approx(D - TERMS.margin)
    assert core.next(4 * D) == Ask(Do.LOOK)
    core.answered(Ask(Do.LOOK), 4 * D, 4 * D, Seen("4", "you", D))
    assert core.lost == "you leads"
