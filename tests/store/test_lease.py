"""Who leads a store: taken by one, renewed, given back, and refused to whoever has an older term; on every store."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from threading import Barrier
from typing import TYPE_CHECKING

import pytest

from fairhold.errors import InputError
from fairhold.ports import StoreError
from fairhold.ports.leading import LeaderNote, note_of
from fairhold.store.choosing import follow_store, lease_of, open_store, restore_store
from fairhold.store.copies import migrated_copy
from fairhold.store.postgresql.address import parse_address
from fairhold.store.processes import is_gone, pid_of, this_process
from tests.store.contract import NOW, fill
from tests.store.server import the_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fairhold.ports import Store
    from fairhold.ports.leading import StoreLease
    from fairhold.store.choosing import Place

FIRST = LeaderNote(0, "first", "here:1:2", ("http://one:7878",), 3.0)
SECOND = LeaderNote(0, "second", "here:2:2", ("http://two:7878",), 3.0)


class Shared:
    """A place that several services use, each with a state directory where the store is elsewhere."""

    def __init__(self, kind: str, tmp_path: Path) -> None:
        self.state = tmp_path / "state"
        self.other_state = tmp_path / "other" if kind == "postgresql" else self.state
        self.other_state.mkdir(mode=0o700)
        server = the_server() if kind == "postgresql" else None
        self.place: Place = parse_address(server.address(server.database())) if server else self.state

    def opened(self) -> Store:
        return open_store(self.state, self.place, cluster="bank", node="n1", now=NOW)

    def led(self, store: Store, note: LeaderNote = FIRST) -> StoreLease:
        lease = lease_of(self.place)
        lease.begin(note._replace(term=store.term))
        return lease


@pytest.fixture(params=["sqlite", "postgresql"])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> Shared:
    return Shared(request.param, tmp_path)


def refused(store: Store) -> str:
    """With which code a store refuses to write."""
    with pytest.raises(StoreError) as caught, store.transaction() as batch:
        batch.append(NOW + 12, '["Old"]')
    return caught.value.code


def test_who_takes_the_store_over_writes_and_the_one_before_does_not(shared: Shared) -> None:
    with closing(shared.opened()) as first:
        fill(first)
        lease = shared.led(first)
        with closing(follow_store(shared.place)) as second:
            assert (second.last, second.term) == (7, 0)
            with pytest.raises(StoreError, match="follows"), second.transaction() as batch:
                batch.append(NOW + 10, "[]")
            with first.transaction() as batch:
                batch.append(NOW + 10, '["Seen"]')
            assert (second.last, second.refresh(), second.last) == (7, 8, 8)
            other = lease_of(shared.place)
            seen = other.look()
            assert seen == FIRST._replace(term=first.term)
            taken = other.take(seen, SECOND)
            assert taken == SECOND._replace(term=first.term + 1)
            assert lease.take(seen, FIRST) is None
            assert not lease.renew(seen, seen.following)
            second.lead(shared.other_state, taken.term)
            with second.transaction() as batch:
                assert batch.append(NOW + 11, '["New"]') == 9
            codes = [refused(first), refused(first)]  # the first time a connection may be found to be gone
            assert codes in (["store-lost"] * 2, ["store-gone", "store-lost"])
            assert [entry.body for entry in second.entries(8)] == ['["New"]']
            other.close()
        lease.close()
    with closing(shared.opened()) as third:
        assert (third.term, third.check()) == (taken.term + 1, ())


def test_a_lease_is_renewed_and_given_back(shared: Shared) -> None:
    with closing(shared.opened()) as store:
        fill(store)
        lease = shared.led(store)
        note = lease.look()
        assert note is not None
        for _ in range(3):
            assert lease.renew(note, note.following)
            note = note.following
        assert lease.look() == note
        assert note.beat == 3
        assert lease.renew(note, note._replace(holder=""))
        other = lease_of(shared.place)
        free = other.look()
        assert free is not None
        assert free.holder == ""
        taken = other.take(free, SECOND)
        assert taken is not None
        assert taken.term == store.term + 1
        assert set(store.meta()) & {"turn", "leader"} == set()
        other.close()
        lease.close()


def test_of_two_who_take_it_at_once_one_writes(shared: Shared) -> None:
    with closing(shared.opened()) as store:
        fill(store)
        lease = shared.led(store)
    seen = lease.look()
    assert seen is not None
    one = lease.take(seen, FIRST)
    assert one is not None
    assert lease.take(seen, SECOND) is None
    with closing(follow_store(shared.place)) as store:
        with pytest.raises(StoreError) as caught:
            store.lead(shared.other_state, one.term - 1)
        assert caught.value.code == "store-lost"
        store.lead(shared.other_state, one.term)
        assert store.term == one.term
    lease.close()


def test_of_many_who_take_it_at_the_same_moment_one_gets_it(shared: Shared) -> None:
    with closing(shared.opened()) as store:
        fill(store)
        lease = shared.led(store)
    together = Barrier(3)

    def take(number: int) -> LeaderNote | None:
        with closing(lease_of(shared.place)) as mine:
            seen = mine.look()
            assert seen is not None
            together.wait()
            return mine.take(seen, SECOND._replace(holder=f"p{number}"))

    with ThreadPoolExecutor(3) as threads:
        for _ in range(10):
            taken = [note for note in threads.map(take, range(3)) if note is not None]
            assert taken == [lease.look()]
    lease.close()


def test_who_opened_the_store_alone_does_not_undo_that_another_has_taken_it_meanwhile(shared: Shared) -> None:
    with closing(shared.opened()) as store:
        fill(store)
        lease = shared.led(store)
    seen = lease.look()
    assert seen is not None
    with closing(shared.opened()) as store:
        taken = lease.take(seen, SECOND)
        with pytest.raises(StoreError) as caught:
            lease.begin(FIRST._replace(term=store.term))
        assert caught.value.code == "store-lost"
    assert lease.look() == taken
    lease.close()


def test_who_was_outdone_before_it_led_takes_no_lock_from_who_leads(shared: Shared) -> None:
    with closing(shared.opened()) as store:
        fill(store)
        lease = shared.led(store)
    for note in (FIRST, SECOND):
        seen = lease.look()
        assert seen is not None
        assert lease.take(seen, note) is not None
    taken = lease.look()
    assert taken is not None
    lease.close()
    with closing(follow_store(shared.place)) as late, closing(follow_store(shared.place)) as leads:
        leads.lead(shared.other_state, taken.term)
        with pytest.raises((StoreError, InputError), match=r"store-lost|store-in-use"):
            late.lead(shared.other_state, taken.term - 1)
        with pytest.raises(InputError) as used:
            open_store(shared.other_state, shared.place, cluster="bank", node="n1", now=NOW)
        assert used.value.faults[0].code == "store-in-use"


@pytest.mark.parametrize("leads_first", [True, False])
def test_a_restore_and_who_begins_to_lead_leave_one_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, leads_first: bool
) -> None:
    shared = Shared("sqlite", tmp_path)
    with closing(shared.opened()) as store:
        fill(store)
        store.backup(tmp_path / "backup")
        lease = shared.led(store)
    seen = lease.look()
    assert seen is not None
    with closing(follow_store(shared.place)) as follows:
        taken = lease.take(seen, SECOND)
        assert taken is not None
        if leads_first:  # while the copy is made

            def copy(source: Path, target: Path) -> None:
                follows.lead(shared.state, taken.term)
                migrated_copy(source, target)

            monkeypatch.setattr("fairhold.store.copies.migrated_copy", copy)
            with pytest.raises(InputError) as used:
                restore_store(tmp_path / "backup", shared.place, replace=True, contents=None)
            assert used.value.faults[0].code == "store-in-use"
            with follows.transaction() as batch:
                batch.append(NOW + 20, '["Kept"]')
        else:
            restore_store(tmp_path / "backup", shared.place, replace=True, contents=None)
            with pytest.raises(StoreError) as restored:
                follows.lead(shared.state, taken.term)
            assert restored.value.code == "store-restored"
    with closing(shared.opened()) as store:
        assert [entry.body for entry in store.entries(7)] == (['["Kept"]'] if leads_first else [])


def test_terms_go_on_far_above_after_a_restore(shared: Shared, tmp_path: Path) -> None:
    with closing(shared.opened()) as store:
        fill(store)
        store.backup(tmp_path / "backup")
        before = store.term
    shared.opened().close()
    restore_store(tmp_path / "backup", shared.place, replace=True, contents=None)
    with closing(shared.opened()) as store:
        assert before < 1_000_000 < store.term
        assert store.check() == ()


def test_what_only_one_alone_may_do_is_refused_to_who_follows(shared: Shared) -> None:
    with pytest.raises(InputError):
        follow_store(shared.place)
    assert note_of("no note") is None
    assert note_of("[1, 2]") is None


def test_a_process_that_has_ended_is_told_from_one_that_lives() -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    mine, theirs = this_process(), process_of(child)
    assert (pid_of(mine), is_gone(mine)) == (os.getpid(), False)
    child.send_signal(signal.SIGSTOP)
    assert (pid_of(theirs), is_gone(theirs)) == (child.pid, False)
    child.kill()
    child.wait()
    assert (pid_of(theirs), is_gone(theirs)) == (0, True)
    assert not is_gone("another:machine:17:3")
    assert not is_gone("")


def test_a_process_of_which_nothing_can_be_read_is_not_taken_for_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = this_process()

    def refuse(*_: object, **__: object) -> str:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("pathlib.Path.read_text", refuse)
    assert (pid_of(mine), is_gone(mine), this_process()) == (0, False, "")


HOLDS = {
    "store.sqlite": "import sqlite3; a = sqlite3.connect({path!r}, isolation_level=None); a.execute('BEGIN IMMEDIATE')",
    "store.leader": "import fcntl; a = open({path!r}, 'r+'); fcntl.flock(a, fcntl.LOCK_EX)",
}
"""Programs that keep a file of a store locked."""


@contextmanager
def stopped(state: Path, program: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has done something, and stands still."""
    program = f"{program}\nimport time\nprint(flush=True)\ntime.sleep(60)"
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, cwd=state)
    assert child.stdout is not None
    child.stdout.readline()
    child.send_signal(signal.SIGSTOP)
    try:
        yield child
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


@pytest.mark.parametrize("name", HOLDS)
def test_a_leader_that_stands_still_and_keeps_a_file_locked_is_killed_and_no_other(tmp_path: Path, name: str) -> None:
    shared = Shared("sqlite", tmp_path)
    with closing(shared.opened()) as store:
        fill(store)
        lease = shared.led(store)
    holding = HOLDS[name].format(path=str(shared.state / name))
    with stopped(shared.state, "pass") as leader, stopped(shared.state, holding) as other:
        path = shared.state / "store.leader"
        seen = FIRST._replace(term=store.term, process=process_of(leader))
        path.write_text(seen.text)
        with pytest.raises(StoreError) as caught:  # it leads, and another keeps the file
            lease.take(seen, SECOND)
        assert caught.value.code == "store-busy"
        assert (leader.poll(), other.poll()) == (None, None)
        seen = seen._replace(process=process_of(other))
        path.write_text(seen.text)
        taken = lease.take(seen, SECOND)
        assert taken is not None
        assert (leader.poll(), other.wait()) == (None, -signal.SIGKILL)
    assert lease.look() == taken


def process_of(child: subprocess.Popen[bytes]) -> str:
    """How a note names a process."""
    with open(f"/proc/{child.pid}/stat", encoding="utf-8") as file:  # noqa: PTH123 - one line
        started = file.read().rpartition(")")[2].split()[19]
    return f"{this_process().rsplit(':', 2)[0]}:{child.pid}:{started}"
