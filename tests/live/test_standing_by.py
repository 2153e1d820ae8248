"""What a service does whose store is taken over, or that takes it over, at an awkward moment."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event, Semaphore
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from fairhold.engines.agents.secret import the_secret
from fairhold.errors import InputError
from fairhold.ports import StoreError, StoreGone
from fairhold.ports.leading import LeaderNote
from fairhold.runtime.live.desk import LeadershipLostError
from fairhold.runtime.live.led import StoppedWhileWaitingError
from fairhold.runtime.live.opening import LiveSettings, open_live
from fairhold.runtime.live.standing_by import Standby, StoreLeader, Turn
from fairhold.store.choosing import follow_store, lease_of, open_store
from fairhold.store.directory import Lock
from fairhold.store.lease import FileLease
from fairhold.store.processes import this_process
from tests.faults.house import PATIENCE, until
from tests.live.play import PLAIN, plan_text

if TYPE_CHECKING:
    from fairhold.ports import Store
    from fairhold.ports.leading import StoreLease
    from fairhold.runtime.live.core import Core

OTHER = LeaderNote(0, "other", "here:2:2", ("http://two:7878",), 3.0)
OLDER = Path(__file__).parents[1] / "store/service_8.sql"
"""A store of an earlier format."""


@pytest.fixture
def settings(tmp_path: Path) -> LiveSettings:
    plan = tmp_path / "plan.yaml"
    plan.write_text(plan_text(PLAIN))
    return LiveSettings(plan, tmp_path / "state", launch=False, standby=True)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """The state directory of a service that has ended in good order."""
    made = tmp_path / "state"
    made.mkdir(mode=0o700)
    with closing(opened(made)) as store:
        with store.transaction() as batch:
            batch.put_meta("written", "yes")
        lease_of(made).begin(LeaderNote(store.term))
    return made


def opened(state: Path) -> Store:
    return open_store(state, state, cluster="bank", node="n", now=1)


def seen(lease: StoreLease) -> LeaderNote:
    found = lease.look()
    assert found is not None
    return found


def take_over(state: Path, note: LeaderNote = OTHER) -> LeaderNote:
    """As another service does that has seen nothing of the leader for too long."""
    lease = lease_of(state)
    taken: LeaderNote = until(lambda: lease.take(seen(lease), note))  # a leader may renew its note in between
    return taken


class Waiting:
    """A service that stands by, in a thread: what it opens alone is counted, and what it follows is not looked at."""

    def __init__(self, state: Path) -> None:
        self.opened = 0
        self._state = state
        self.standby = Standby(
            state,
            state,
            make_leader=lambda lease: StoreLeader(lease, ("http://mine",), 1.0),
            open_here=self._open,
            make_core=lambda store: cast("Core", SimpleNamespace(seen=0, store=store)),
        )
        self._threads = ThreadPoolExecutor(1)
        self.turn = self._threads.submit(self.standby.wait)

    def _open(self) -> Store:
        self.opened += 1
        return opened(self._state)

    def lead(self) -> Turn:
        """Wait until it leads; it goes on until it is closed."""
        return self.turn.result(PATIENCE)

    def close(self) -> None:
        self.standby._came.set()
        self._threads.shutdown()
        if not self.turn.exception():
            self.turn.result().leader.close()
            self.turn.result().store.close()


def test_who_is_outdone_while_it_begins_to_lead_gives_way_and_does_not_fail(
    settings: LiveSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(state: Path) -> bytes:
        take_over(state)
        return the_secret(state)

    monkeypatch.setattr("fairhold.runtime.live.opening.the_secret", slow)
    with pytest.raises(LeadershipLostError, match="another service has taken the store over"):
        open_live(settings)


def test_who_stands_by_again_goes_on_with_the_plan_in_force(settings: LiveSettings) -> None:
    open_live(settings).close()
    assert settings.plan is not None
    settings.plan.write_text("what an editor has left half written")
    live = open_live(replace(settings, is_again=True))
    assert live.core.version == 1
    live.close()
    settings.plan.unlink()
    open_live(replace(settings, is_again=True)).close()


def test_it_leads_by_the_term_that_it_took_and_by_no_other(state: Path) -> None:
    lease = FileLease(state)
    changed = Semaphore(0)
    leader = StoreLeader(lease, ("http://mine",), 1.0, changed.release)
    leader.start()
    assert leader.wait(PATIENCE)
    mine = leader.term
    other = take_over(state)
    assert changed.acquire(timeout=PATIENCE)
    assert (leader.note, leader.term, leader.leads) == (other, mine, False)
    with closing(follow_store(state)) as store:
        with pytest.raises(StoreError) as caught:
            store.lead(state, leader.term)
        assert caught.value.code == "store-lost"
    leader.close()


def test_who_leads_again_is_told_so_that_what_is_due_goes_out(state: Path) -> None:
    class Away(FileLease):
        is_away = False

        def look(self) -> LeaderNote | None:
            if self.is_away:
                raise StoreGone("the database is gone")
            return super().look()

    lease, changed = Away(state), Semaphore(0)
    leader = StoreLeader(lease, ("http://mine",), 0.5, changed.release)
    leader.begin(7)
    assert leader.wait(PATIENCE)
    lease.is_away = True
    until(lambda: not leader.leads)
    assert not changed.acquire(blocking=False)
    lease.is_away = False
    assert changed.acquire(timeout=PATIENCE)
    assert (leader.leads, leader.term) == (True, 7)
    leader.close()


def test_a_look_that_fails_does_not_say_that_nobody_leads(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = Semaphore(0)

    def fail(_: FileLease) -> None:
        looked.release()
        raise StoreError("who leads cannot be read")

    with monkeypatch.context() as broken:
        broken.setattr(FileLease, "look", fail)
        waiting = Waiting(state)
        for _ in range(3):
            assert looked.acquire(timeout=PATIENCE)
    assert waiting.lead().core is not None
    assert waiting.opened == 0
    waiting.close()


def test_who_cannot_say_that_it_leads_tries_again(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (state / "store.leader").unlink()  # so that it opens the store alone
    begin, failed = FileLease.begin, Event()

    def fail_once(self: FileLease, note: LeaderNote) -> None:
        if not failed.is_set():
            failed.set()
            raise StoreError("who leads cannot be written")
        begin(self, note)

    monkeypatch.setattr(FileLease, "begin", fail_once)
    waiting = Waiting(state)
    assert waiting.lead().leader.wait(PATIENCE)
    assert (failed.is_set(), waiting.opened) == (True, 2)
    waiting.close()


def test_that_another_has_led_is_not_forgotten_when_following_begins_anew(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Lock(state)
    first = take_over(state, OTHER._replace(process=this_process()))
    waiting = Waiting(state)
    until(lambda: waiting.standby.leader is not None and waiting.standby.leader.is_other)
    refresh, failed = "fairhold.store.sqlite.SqliteStore.refresh", Event()
    with monkeypatch.context() as broken:

        def fail(_: Any) -> int:
            failed.set()
            raise StoreError("the disk answers nonsense")

        broken.setattr(refresh, fail)
        assert failed.wait(PATIENCE)
        assert FileLease(state).renew(first, first.following._replace(holder=""))
        held.release()
    turn = waiting.lead()
    assert (turn.has_waited, turn.store.term) == (True, first.term + 1)
    waiting.close()


def test_a_store_of_an_earlier_format_is_taken_up_when_the_older_service_has_ended(state: Path) -> None:
    for path in state.iterdir():
        path.unlink()
    with closing(sqlite3.connect(state / "store.sqlite")) as made:
        made.executescript(OLDER.read_text(encoding="utf-8"))
    older = Lock(state)
    note = LeaderNote(1, "older", this_process(), ("http://older",), 1.0)
    FileLease(state).begin(note)
    waiting = Waiting(state)
    until(lambda: waiting.opened >= 3)  # it tries, again and again
    with closing(sqlite3.connect(state / "store.sqlite")) as found:
        assert found.execute("PRAGMA user_version").fetchone() == (8,)
    older.release()
    turn = waiting.lead()
    assert turn.core is None
    with closing(sqlite3.connect(state / "store.sqlite")) as found:
        assert found.execute("PRAGMA user_version").fetchone()[0] > 8
    waiting.close()


def test_a_signal_ends_a_service_that_stands_by(state: Path) -> None:
    held = Lock(state)
    take_over(state, OTHER._replace(process=this_process(), duration=600.0))
    waiting = Waiting(state)
    waiting.standby._came.set()
    with pytest.raises(StoppedWhileWaitingError):
        waiting.lead()
    waiting.close()
    with pytest.raises(InputError, match="in use"):
        opened(state)
    held.release()
