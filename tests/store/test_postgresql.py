"""A store in PostgreSQL: what it is opened with, who may write, and a server that comes and goes."""

from __future__ import annotations

import os
import shutil
import signal
import time
import traceback
from contextlib import closing, suppress
from typing import TYPE_CHECKING

import psycopg
import pytest

from fairhold.errors import Fault, InputError, UsageError
from fairhold.ports import StoreError, StoreFull, StoreGone
from fairhold.runtime.live.contents import LiveContents
from fairhold.store.choosing import check_store, copy_store, place_of, restore_store
from fairhold.store.choosing import open_store as open_anywhere
from fairhold.store.opening import open_store as open_file
from fairhold.store.postgresql.address import Address, parse_address
from fairhold.store.postgresql.opening import has_store, open_store
from fairhold.store.postgresql.patience import PATIENCE
from fairhold.store.postgresql.troubles import translated
from fairhold.store.schema import MIGRATIONS, steps
from tests.store.contract import NOW, fill
from tests.store.proxy import Proxy
from tests.store.server import PASSWORD, Server, the_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fairhold.store.postgresql.store import PostgresStore


@pytest.fixture
def server() -> Server:
    return the_server()


@pytest.fixture
def address(server: Server) -> Address:
    return parse_address(server.address(server.database()))


def opened(address: Address, state: Path, migrations: Path = MIGRATIONS) -> PostgresStore:
    return open_store(address, state, {"cluster": "bank"}, migrations)


def refusal_of(address: Address, state: Path, migrations: Path = MIGRATIONS) -> Fault:
    with pytest.raises(InputError) as caught:
        opened(address, state, migrations)
    told = "".join(traceback.format_exception(caught.value))
    assert PASSWORD not in told
    assert PASSWORD.replace("/", "%2F") not in told
    (fault,) = caught.value.faults
    assert fault.file in {address.told, ""}
    return fault


def test_what_cannot_be_used_is_refused_with_the_reason(server: Server, address: Address, tmp_path: Path) -> None:
    nobody = parse_address(server.address("nowhere"))
    assert refusal_of(nobody, tmp_path).code == "store-unreachable"
    assert 'database "nowhere" does not exist' in refusal_of(nobody, tmp_path).what
    closed = parse_address(f"postgresql://ann:{PASSWORD.replace('/', '%2F')}@127.0.0.1:1/x")
    assert refusal_of(closed, tmp_path).code == "store-unreachable"
    wrong = parse_address(f"postgresql://fairhold:{PASSWORD.replace('/', '%2F')}x@127.0.0.1:{server.port}/postgres")
    assert "password authentication failed" in refusal_of(wrong, tmp_path).what
    server.ask(f"CREATE ROLE guest LOGIN PASSWORD '{PASSWORD}'")
    guest = parse_address(server.address(str(address.settings["dbname"])).replace("//fairhold:", "//guest:"))
    assert refusal_of(guest, tmp_path).code == "store-rights"
    server.ask("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
    assert refusal_of(parse_address(server.address("latin")), tmp_path).code == "store-encoding"
    opened(address, tmp_path).close()  # the directory was let go


def test_another_program_s_schema_and_a_service_s_are_left_alone(
    server: Server, address: Address, tmp_path: Path
) -> None:
    database = str(address.settings["dbname"])
    server.ask("CREATE SCHEMA songs; CREATE TABLE songs.meta (name text, value text)", database)
    other = parse_address(server.address(database, "?schema=songs"))
    assert refusal_of(other, tmp_path).code == "store-foreign"
    assert not has_store(other)
    with closing(opened(address, tmp_path / "one")) as store:
        fill(store)
        fault = refusal_of(address, tmp_path / "two")
        assert (fault.code, "in use by fairhold " in fault.what) == ("store-in-use", True)
        with closing(opened(parse_address(server.address(database, "?schema=second")), tmp_path / "two")) as second:
            assert second.last == 0
        assert check_store(address, LiveContents) != ()  # read beside the service: these entries are of no cluster
    opened(address, tmp_path / "two").close()


def test_an_older_store_is_brought_to_the_format_of_now_and_a_newer_is_refused(
    address: Address, tmp_path: Path
) -> None:
    later = tmp_path / "later"
    shutil.copytree(MIGRATIONS, later)
    step = later / f"{len(steps()) + 1:04d}_more.sql"
    step.write_text("ALTER TABLE plans ADD COLUMN colour TEXT NOT NULL DEFAULT 'blue'; SELECT nothing FROM nowhere")
    with closing(opened(address, tmp_path / "state")) as store:
        fill(store)
    assert refusal_of(address, tmp_path / "state", later).code == "store-not-migrated"
    with closing(opened(address, tmp_path / "state")) as store:
        assert (store.last, store.check(), store.meta()["format"]) == (7, (), str(len(steps())))
    step.write_text(
        "ALTER TABLE plans ADD COLUMN colour TEXT NOT NULL DEFAULT 'blue'; "
        "UPDATE meta SET value = 'new' WHERE name = 'color'"
    )
    with closing(opened(address, tmp_path / "state", later)) as store:
        assert (store.meta()["color"], store.last) == ("new", 7)
    assert refusal_of(address, tmp_path / "state").code == "store-newer"


def test_a_server_that_is_gone_and_back_has_all_that_was_confirmed(tmp_path: Path) -> None:
    the_server()  # skips
    server = Server()
    try:
        server.start()
        address = parse_address(server.address(server.database()))
        with closing(opened(address, tmp_path)) as store:
            fill(store)
            for how in (signal.SIGINT, signal.SIGQUIT):
                server.stop(how)
                for _ in range(2):
                    with pytest.raises(StoreGone), store.transaction() as batch:
                        batch.append(NOW + 10, "[]")
                with pytest.raises(StoreGone):
                    store.plan()
                last = store.last
                server.start()
                with store.transaction() as batch:
                    assert not batch.settled
                    assert batch.append(NOW + 10, "[]") == last + 1
                assert len(store.entries(0)) == last + 1
            assert (store.last, store.check()) == (9, ())
    finally:
        server.close()


@pytest.fixture
def proxy(server: Server) -> Iterator[Proxy]:
    made = Proxy(server.port)
    yield made
    made.close()


@pytest.mark.parametrize("cut", ["asked", "answer"])
def test_a_commit_whose_end_nobody_saw_is_found_out_about(
    server: Server, proxy: Proxy, tmp_path: Path, cut: str
) -> None:
    text = server.address(server.database()).replace(f":{server.port}/", f":{proxy.port}/")
    with closing(opened(parse_address(text), tmp_path)) as store:
        fill(store)
        proxy.cuts = cut
        with pytest.raises(StoreGone), store.transaction() as unsure:
            unsure.append(NOW + 10, '["Unsure"]')
        with pytest.raises(StoreGone):
            store.save_snapshot(6, NOW, b"")
        assert store.last == 7
        proxy.cuts = ""
        store.save_snapshot(6, NOW, b"six")  # another who writes comes first
        with store.transaction() as batch:
            assert cut == "answer" or not batch.settled  # a first part of the answer may come before the commit
            assert batch.append(NOW + 10, "[]") == (9 if batch.settled else 8)
        with store.transaction() as following:
            assert not following.settled
        assert store.check() == ()


def test_a_server_that_stands_still_is_not_waited_for_without_end(
    server: Server, address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(opened(address, tmp_path)) as store:
        fill(store)
        assert store.plan() is not None  # whoever reads has a connection of its own
        monkeypatch.setattr(PATIENCE, "seconds", 1.0)
        query = f"SELECT pid FROM pg_stat_activity WHERE datname = '{address.settings['dbname']}'"
        backends = [int(str(pid)) for (pid,) in server.ask(query)]
        assert len(backends) > 1
        for pid in backends:
            os.kill(pid, signal.SIGSTOP)
        try:
            with pytest.raises(StoreGone):
                store.plan()
            with pytest.raises(StoreGone), store.transaction() as unsure:
                unsure.append(NOW + 10, "[]")
            with pytest.raises(StoreGone, match="still held"), store.transaction() as batch:
                batch.append(NOW + 10, "[]")
        finally:
            for pid in backends:
                os.kill(pid, signal.SIGCONT)
        while True:
            with suppress(StoreGone), store.transaction() as batch:
                batch.append(NOW + 10, "[]")
                break
            time.sleep(0.1)
        assert store.last == (9 if batch.settled else 8)
        assert store.check() == ()


def disconnect(server: Server, address: Address) -> None:
    database = address.settings["dbname"]
    server.ask(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'")


def test_who_lost_the_store_without_noticing_writes_nothing_more(
    server: Server, address: Address, tmp_path: Path
) -> None:
    with closing(opened(address, tmp_path / "one")) as first:
        fill(first)
        disconnect(server, address)
        with closing(opened(address, tmp_path / "two")) as second:
            with pytest.raises(StoreGone), first.transaction() as batch:
                batch.append(NOW + 10, '["Old"]')
            with second.transaction() as batch:
                assert batch.append(NOW + 10, '["New"]') == 8
        for _ in range(2):
            with pytest.raises(StoreError, match="taken the store over") as caught, first.transaction() as batch:
                batch.append(NOW + 10, '["Old"]')
            assert caught.value.code == "store-lost"
        assert first.entries(7)[0].body == '["New"]'


def test_the_turn_alone_keeps_out_who_still_has_a_connection(server: Server, address: Address, tmp_path: Path) -> None:
    with closing(opened(address, tmp_path)) as store:
        fill(store)
        server.ask("UPDATE fairhold.meta SET value = '99:0' WHERE name = 'turn'", str(address.settings["dbname"]))
        with pytest.raises(StoreError) as caught, store.transaction() as batch:
            batch.append(NOW + 10, "[]")
        assert caught.value.code == "store-lost"
        assert len(store.entries(0)) == 7


def test_a_database_that_lost_what_it_had_confirmed_is_not_gone_on_with(
    server: Server, address: Address, tmp_path: Path
) -> None:
    with closing(opened(address, tmp_path)) as store:
        fill(store)
        server.ask("UPDATE fairhold.meta SET value = '1:2' WHERE name = 'turn'", str(address.settings["dbname"]))
        disconnect(server, address)
        with pytest.raises(StoreGone), store.transaction() as batch:
            batch.append(NOW + 10, "[]")
        with pytest.raises(StoreError, match="lost transactions") as caught, store.transaction() as batch:
            batch.append(NOW + 10, "[]")
        assert caught.value.code == "store-behind"


def test_a_store_goes_to_the_other_database_and_back_with_all_that_it_has(address: Address, tmp_path: Path) -> None:
    with closing(open_file(tmp_path / "one", cluster="bank")) as store:
        fill(store)
    copied = copy_store(tmp_path / "one", address, None)
    assert copied == copy_store(address, tmp_path / "two", None) > 30
    with pytest.raises(InputError, match="store-exists"):
        copy_store(tmp_path / "one", address, None)
    with closing(open_file(tmp_path / "two")) as store:
        assert (store.last, store.check(), store.meta()["cluster"]) == (7, (), "bank")
        store.backup(tmp_path / "backup")
    with pytest.raises(InputError, match="store-exists"):
        restore_store(tmp_path / "backup", address, replace=False, contents=None)
    restore_store(tmp_path / "backup", address, replace=True, contents=None)
    with closing(opened(address, tmp_path / "three")) as shared:
        assert (shared.meta()["restored"], shared.last, shared.check()) == ("7", 7, ())


def test_the_next_start_finds_the_store_where_it_was(address: Address, tmp_path: Path) -> None:
    state, words = tmp_path / "state", {"cluster": "bank", "node": "", "now": NOW}
    assert place_of("", "", state) == state
    open_anywhere(state, address, **words).close()  # type: ignore[arg-type]
    before = place_of("", "", state)
    assert isinstance(before, Address)
    assert (before.told, before.has_password) == (address.told, False)
    assert PASSWORD not in (state / "store.address").read_text()
    copy_store(address, state, None)
    assert place_of("", "", state) == state


def test_a_damaged_store_is_not_copied(server: Server, address: Address, tmp_path: Path) -> None:
    with closing(opened(address, tmp_path / "state")) as store:
        fill(store)
        server.ask("UPDATE fairhold.jobs SET state = 'dooe'", str(address.settings["dbname"]))
        assert next(fault.what for fault in store.check()) == "row 1 of jobs is not as it was written"
        with pytest.raises(StoreError, match="not as it was written"):
            store.job("1")
    with pytest.raises(InputError, match="store-damaged"):
        copy_store(address, tmp_path / "copy", None)
    assert open_file(tmp_path / "copy").last == 0


def test_a_full_database_is_told_as_such() -> None:
    assert isinstance(translated(psycopg.errors.DiskFull("could not extend file")), StoreFull)
    assert translated(psycopg.errors.DataCorrupted("invalid page")).code == "store-damaged"


def test_a_password_is_no_argument_of_a_program_and_is_never_told(tmp_path: Path) -> None:
    text = "postgresql://ann:se%20cret@db.bank:5433/shared?schema=fh_2&sslmode=require"
    address = parse_address(text)
    assert address.settings["password"] == "se cret"
    assert (address.told, address.schema) == (
        "postgresql://ann@db.bank:5433/shared?sslmode=require&schema=fh_2",
        "fh_2",
    )
    assert "cret" not in repr(address)
    with pytest.raises(UsageError, match="PGPASSFILE") as caught:
        place_of(text, "", tmp_path)
    assert "cret" not in str(caught.value)
    assert place_of("", text, tmp_path) == address
    assert place_of("", "", tmp_path) == tmp_path


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://u:se%cret@h:port/x",
        "postgresql://u@h/x?secret",
        "postgresql://u@h/x?passwrd=secret",
        "postgresql://u@h/x?schema=Not%20One",
        "postgresql://u@h/x?schema=pg_mine",
        "postgresql://u:secret@[h/x",
        "postgresql://u@h/x#secret",
    ],
)
def test_what_is_no_connection_string_is_refused_without_quoting_it(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_address(text)
    assert caught.value.faults[0].code == "store-address"
    assert "secret" not in str(caught.value)
