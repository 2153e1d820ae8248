"""Several services share a store: one leads, the others follow its log, and one of them takes over when it is gone."""

from __future__ import annotations

import gc
import logging
import secrets
import socket
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING

from fairhold.engines.leader import Leader, clock
from fairhold.errors import FairholdError, InputError
from fairhold.leadership import Ask, Do, Seen, Terms
from fairhold.ports import StoreError, StoreWaits
from fairhold.ports.leading import LeaderNote
from fairhold.runtime.live.desk import MustEndError
from fairhold.runtime.live.led import StoppedWhileWaitingError, check_leads, on_signals
from fairhold.runtime.live.recovery import follow
from fairhold.store.choosing import follow_store, has_store, lease_of
from fairhold.store.processes import is_gone, this_process

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fairhold.ports import Store
    from fairhold.ports.leading import StoreLease
    from fairhold.runtime.live.core import Core
    from fairhold.store.choosing import Place

_LOG = logging.getLogger("fairhold")
_LOOK = 0.1
"""Seconds between two looks for new entries of the log, and for a lease that is free."""
_AGAIN = 0.5
"""Seconds between two tries to open a store that is made, or brought to another format, by somebody else."""
_NOTE = "note"


class StoreBehindError(MustEndError):
    """The store has lost what it had confirmed: somebody knows more of it than it does."""

    code = "store-behind"

    def __init__(self, why: str) -> None:
        mend = "bring back the store that has it, or accept the loss: `fairhold store backup`, then `store restore`"
        super().__init__(f"the store lacks what it had confirmed: {why}; {mend} [{self.code}]")


class Outdone:
    """Agents that know of a later service than this one, though the store says that this one leads.

    Another may have taken over a moment ago: that is found out with the next renewal of the lease. Where this service
    still leads after that, the store has forgotten the other.
    """

    def __init__(self, leader: StoreLeader, wake: Callable[[], object]) -> None:
        self._leader, self._wake = leader, wake
        self._told: tuple[int, str] | None = None

    def told(self, why: str) -> None:
        """An agent has said so; from any thread."""
        if self._told is None:
            self._told = (self._leader.note.beat, why)
        self._wake()

    def check(self) -> None:
        """Raise StoreBehindError where that is certain."""
        if self._told is not None and self._leader.note.beat > self._told[0] + 1:
            raise StoreBehindError(self._told[1])


class _ChangedError(StoreError):
    """The note is another than the one that was seen."""


class StoreLeader(Leader):
    """A participant in leading a store.

    addresses : for clients
    duration  : seconds of silence of a leader after which another takes its place
    """

    troubles = (StoreError,)

    def __init__(
        self,
        lease: StoreLease,
        addresses: tuple[str, ...],
        duration: float,
        on_changed: Callable[[], None] = lambda: None,
    ) -> None:
        terms = Terms(duration)
        super().__init__(f"{socket.gethostname()}-{secrets.token_hex(4)}", terms, on_changed, regains=True)
        self._lease, self._addresses, self._is_alone = lease, addresses, False
        self._process = this_process()
        self.term = 0
        """By which it leads, or did; 0 = it never has."""

    @property
    def note(self) -> LeaderNote:
        """What was seen last of who leads."""
        found: LeaderNote = self.seen.document.get(_NOTE, LeaderNote(0))
        return found

    @property
    def is_other(self) -> bool:
        """Whether another was seen to lead."""
        return self.seen.holder not in {"", self.identity}

    def begin(self, term: int) -> None:
        """Lead: the store was opened for this service alone. Raises StoreError."""
        self._is_alone, self.term = True, term
        self._lease.begin(self._mine(term))
        self.start()

    def _mine(self, term: int) -> LeaderNote:
        return LeaderNote(term, self.identity, self._process, self._addresses, self._terms.duration)

    def _ask(self, ask: Ask) -> Seen:
        if ask.do is Do.LOOK:
            note = self._lease.look()
            return Seen() if note is None else _seen(note)
        known: LeaderNote | None = ask.seen.document.get(_NOTE)
        if known is None:
            raise StoreError("nobody has said who leads the store", "store-failed")
        if ask.do is Do.HOLD and known.holder != self.identity:
            taken = self._lease.take(known, self._mine(known.term))
            if taken is None:
                raise _ChangedError("another has taken the store")
            self.term = taken.term
            return _seen(taken)
        note = known.following if ask.do is Do.HOLD else known.following._replace(holder="")
        if not self._lease.renew(known, note):
            raise _ChangedError("another has taken the store")
        self.term = note.term
        return _seen(note)

    def _is_conflict(self, error: Exception) -> bool:
        return isinstance(error, _ChangedError)

    def _looked(self, seen: Seen) -> None:
        del seen

    def _say(self, seen: Seen) -> None:
        note: LeaderNote | None = seen.document.get(_NOTE)
        if note is None or not seen.holder or (self._is_alone and seen.holder == self.identity):
            return  # a service that is alone has nothing to say of that
        what = "this service leads" if seen.holder == self.identity else f"waiting: {seen.holder} leads"
        _LOG.info("%s, at %s, term %d", what, ", ".join(note.addresses), note.term)

    def _let_go(self) -> None:
        self._lease.close()


def _seen(note: LeaderNote) -> Seen:
    """A leader whose process has ended on this machine has let go."""
    is_free = not note.holder or is_gone(note.process)
    return Seen(note.text, "" if is_free else note.holder, note.duration, {_NOTE: note})


@dataclass(frozen=True, slots=True)
class Turn:
    """It is this service's turn.

    store : that it writes from now on; leader: holds the lease; core: that has followed, None = there was nothing to
    has_waited : another led before, who may have read a later plan file
    """

    store: Store
    leader: StoreLeader
    core: Core | None = None
    has_waited: bool = False


class Standby:
    """Waits for its turn, and follows the log meanwhile.

    place     : of the store; state: directory of the state; make_leader: a participant
    open_here : opens a store that nobody uses, or makes one
    make_core : over a store that is only read
    is_known  : the store was there before: a database that is gone is waited for
    """

    def __init__(
        self,
        place: Place,
        state: Path,
        *,
        make_leader: Callable[[StoreLease], StoreLeader],
        open_here: Callable[[], Store],
        make_core: Callable[[Store], Core],
        is_known: bool = False,
    ) -> None:
        self._place, self._state, self._is_known = place, state, is_known
        self._make_leader, self._open_here, self._make_core = make_leader, open_here, make_core
        self._came = Event()
        self._has_waited = False
        self.leader: StoreLeader | None = None
        self.on_turn: Callable[[], object] = lambda: None
        """Called when it is this service's turn, before anything is opened."""
        self.followed = 0
        """Number of the last entry that was followed."""

    def wait(self, yields: float = 0.0) -> Turn:
        """Wait until it leads. InputError, StoreBehindError; StoppedWhileWaitingError after a signal.

        yields : seconds that others are given to take over first
        """
        with on_signals(self._came.set):
            until = clock() + yields
            while clock() < until and not self._is_taken():
                if self._came.wait(_LOOK):
                    raise _stopped()
            while True:
                if found := self._tried():
                    self.on_turn()
                    return found
                if self._came.wait(_AGAIN):
                    raise _stopped()

    def _tried(self) -> Turn | None:
        """Open the store, or follow it until it is one's turn; None where that has to be begun anew."""
        try:
            return self._opened() or self._followed()
        except InputError as error:
            if not self._is_known or error.faults[0].code != "store-unreachable":
                raise
        except StoreError as error:
            if not self._is_known:
                raise
            _LOG.warning("the store cannot be used, which is tried again: %s", error)
        return None

    def _is_taken(self) -> bool:
        """Whether somebody has taken over what was handed over; False also where that cannot be found out."""
        with suppress(StoreError):
            note = self._note()
            return note is not None and bool(note.holder)
        return False

    def _note(self) -> LeaderNote | None:
        """Who leads the store that is there; None = nobody has ever said so. StoreError."""
        with closing(lease_of(self._place)) as lease:
            return lease.look()

    def _opened(self) -> Turn | None:
        """Open a store of which nobody has said that he leads it; None where somebody has, or uses it."""
        if has_store(self._place):
            self._is_known = True
            if self._note() is not None:
                return None
        return self._opened_alone()

    def _opened_alone(self) -> Turn | None:
        try:
            return self.open_alone()
        except InputError as error:
            if error.faults[0].code != "store-in-use":
                raise
            return None

    def open_alone(self) -> Turn:
        """Open a store for this service alone. InputError `store-in-use` where another uses it, and others."""
        store = self._open_here()
        leader = self._make_leader(lease_of(self._place))
        try:
            leader.begin(store.term)
        except BaseException:
            store.close()
            raise
        return Turn(store, leader, has_waited=self._has_waited)

    def _followed(self) -> Turn | None:
        """Follow the store until it is one's turn; None where that has to be begun anew."""
        try:
            store = follow_store(self._place)
        except InputError as error:
            if error.faults[0].code == "store-older":
                return self._opened_alone()
            _LOG.warning("the store cannot be followed: %s", error)
            return None
        leader = self.leader = self._make_leader(lease_of(self._place))
        with ExitStack() as opened:
            opened.callback(store.close)
            opened.callback(leader.close)
            try:
                leader.start()
                core = self._follow(store, leader)
                store.lead(self._state, leader.term)
            except (StoreError, InputError) as error:
                if isinstance(error, StoreError) and error.code == "store-behind":
                    raise StoreBehindError(error.what) from error
                _LOG.warning("following begins anew: %s", error)
                gc.unfreeze()  # what was followed is of no use any more
                return None
            opened.pop_all()
        return Turn(store, leader, core, has_waited=self._has_waited)

    def _follow(self, store: Store, leader: StoreLeader) -> Core:
        self._has_waited |= leader.is_other
        core = self._make_core(store)
        follow(core)
        _LOG.info("following the store: %d entries of its log are taken up", core.seen)
        while not leader.wait(_LOOK):
            self._has_waited |= leader.is_other
            if self._came.is_set():
                raise _stopped()
            check_leads(leader)
            with suppress(StoreWaits):  # who cannot ask now asks again
                store.refresh()
                follow(core)
                self.followed = core.seen
        return core


def _stopped() -> FairholdError:
    return StoppedWhileWaitingError("stopped while another service leads")
