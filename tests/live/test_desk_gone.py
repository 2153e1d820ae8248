"""The desk while the database is gone: nothing is lost, and nothing new is taken or started."""

from __future__ import annotations

import contextlib
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from fairhold.orchestrator.instructions import Start
from fairhold.ports import Filter, StoreGone
from fairhold.runtime.live.core import Core
from fairhold.store.postgresql.address import parse_address
from fairhold.store.postgresql.opening import open_store
from tests.live.test_desk import Office
from tests.store.proxy import Proxy
from tests.store.server import the_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fairhold.store.postgresql.store import PostgresStore


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    made = Proxy(the_server().port)
    yield made
    made.close()


@pytest.fixture
def reopen(proxy: Proxy, tmp_path: Path) -> Callable[[], PostgresStore]:
    server = the_server()
    text = server.address(server.database()).replace(f":{server.port}/", f":{proxy.port}/")
    return lambda: open_store(parse_address(text), tmp_path, {})


def starts(office: Office) -> list[int]:
    return [order.attempt for order in office.agents.told if isinstance(order, Start)]


@pytest.mark.parametrize("cut", ["asked", "answer"])
def test_what_was_decided_is_written_once_when_the_database_is_back(
    proxy: Proxy, reopen: Callable[[], PostgresStore], tmp_path: Path, cut: str
) -> None:
    with closing(reopen()) as store:
        office = Office(tmp_path, store=store)
        office.submit(key="before")
        sent = starts(office)
        proxy.cuts = cut
        with pytest.raises(StoreGone) as caught:
            office.submit(2)
        assert caught.value.is_kept
        assert (office.desk.trouble is not None, office.desk.since > 0) == (True, True)
        with pytest.raises(StoreGone) as caught:
            office.submit(key="refused")
        assert not caught.value.is_kept
        for start in sent:  # what ends meanwhile is taken in
            office.end(office.agents.starts()[start - 1])
        assert starts(office) == sent, "nothing is started on unsure ground"
        proxy.cuts = ""
        office.desk.round([])
        assert office.desk.trouble is None
        assert len(starts(office)) == 3
        assert office.submit(key="refused") == "3"
        last = store.last
    with closing(reopen()) as store:
        core = Core(store, lambda: store.last_at + 1)
        core.open("", "", "ann")
        assert (store.last, sorted(core.cluster.jobs)) == (last, ["2", "3"])
        assert [job.job for job in store.jobs(Filter()).rows] == ["1"]
        assert [task.attempt for task in store.tasks(Filter()).rows] == sent
        assert store.check() == ()


def test_questions_of_a_round_that_meet_a_gone_database_end_nothing(
    proxy: Proxy, reopen: Callable[[], PostgresStore], tmp_path: Path
) -> None:
    with closing(reopen()) as store:
        office = Office(tmp_path, store=store)
        office.desk.round([])
        proxy.cuts = "asked"
        with pytest.raises(StoreGone):
            office.ask(lambda core: core.store.plan(), is_write=False)
        with contextlib.suppress(StoreGone):
            office.submit(key="asked for first")
        proxy.cuts = ""
        assert office.submit(key="asked for first") == "1"
