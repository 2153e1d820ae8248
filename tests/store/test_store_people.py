"""What every store keeps of people: access documents, tokens, records."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from fairhold.access.chain import START, Record, first_break, sealed
from fairhold.ports import Retention
from fairhold.ports.people import AccessVersion, RecordFilter, TokenRecord
from tests.store.contract import NOW, STORES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fairhold.ports import Store


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with closing(STORES[request.param](tmp_path)) as found:
        yield found


def chain(number: int) -> list[Record]:
    found: list[Record] = []
    before = START
    for seq in range(1, number + 1):
        told = ("ben" if seq % 2 else "ada", "token 1", "here", "submit_job", f"{seq}", "done", "{}")
        found.append(sealed(Record(seq, NOW + seq, *told, before, "")))
        before = found[-1].hash
    return found


def put(store: Store, records: list[Record]) -> None:
    with store.transaction() as batch:
        for record in records:
            batch.put_record(record)


def test_an_empty_store_knows_nobody(store: Store) -> None:
    assert store.access() is None
    assert (store.accesses(), store.tokens(), store.records(0, RecordFilter())) == ([], [], [])
    assert store.chain_begin() == (0, START)


def test_versions_of_the_access_document(store: Store) -> None:
    versions = [AccessVersion(number, NOW + number, "ada", "why", f"text {number}") for number in (1, 2, 3)]
    with store.transaction() as batch:
        for each in versions:
            batch.put_access(each)
    assert store.access() == versions[2]
    assert store.access(2) == versions[1]
    assert store.access(4) is None
    assert store.accesses(limit=2) == versions[:0:-1]
    assert store.accesses(before=2) == versions[:1]


def test_tokens_are_replaced_and_used(store: Store) -> None:
    token = TokenRecord(1, "ben", "laptop", "digest", NOW, NOW + 9, "ada")
    with store.transaction() as batch:
        batch.put_token(token)
        batch.put_token(token._replace(number=2))
    with store.transaction() as batch:
        batch.put_token(token._replace(revoked=NOW + 5))
        batch.use_tokens({2: NOW + 7, 99: NOW})
    assert store.tokens() == [token._replace(revoked=NOW + 5), token._replace(number=2, used=NOW + 7)]


def test_notifications_are_kept_by_kind_and_name_until_they_go(store: Store) -> None:
    with store.transaction() as batch:
        batch.put_notification("watch", "7 ben", '["end"]')
        batch.put_notification("watch", "7 ada", "[]")
        batch.put_notification("person", "7 ben", "{}")
        batch.put_notification("watch", "7 ada", '["start"]')
    assert store.notifications("watch") == {"7 ada": '["start"]', "7 ben": '["end"]'}
    with store.transaction() as batch:
        batch.put_notification("watch", "7 ada", "{}")
        batch.put_notification("watch", "7 ada", "")
        batch.put_notification("watch", "7 ben", "")
        batch.put_notification("watch", "7 ben", "[]")
    assert (store.notifications("watch"), store.notifications("person")) == ({"7 ben": "[]"}, {"7 ben": "{}"})
    assert store.check() == ()


def test_records_are_found_in_order_and_by_what_they_say(store: Store) -> None:
    whole = chain(6)
    put(store, whole)
    assert store.records(0, RecordFilter()) == whole
    assert store.records(2, RecordFilter(), 2) == whole[2:4]
    assert store.records(0, RecordFilter(user="ada")) == whole[1::2]
    assert store.records(0, RecordFilter(target="3")) == whole[2:3]
    assert store.records(0, RecordFilter(since=NOW + 2, until=NOW + 4)) == whole[1:3]
    assert store.last_records(RecordFilter(user="ben"), 2) == [whole[2], whole[4]]
    assert store.last_records(RecordFilter(user="ben", before=5), 2) == [whole[0], whole[2]]


def test_nothing_of_a_transaction_that_fails_is_kept(store: Store) -> None:
    def fail() -> None:
        with store.transaction() as batch:
            batch.put_record(chain(1)[0])
            raise OSError

    with pytest.raises(OSError, match=r"^$"):
        fail()
    assert store.records(0, RecordFilter()) == []


def test_the_first_records_go_and_the_rest_can_still_be_followed(store: Store) -> None:
    whole = chain(1_000)
    put(store, whole)
    while store.compact(Retention(records=NOW + 701)):
        pass
    assert store.chain_begin() == (700, whole[699].hash)
    assert first_break(store.records(0, RecordFilter(), 1_000), store.chain_begin()) == ((1_000, whole[-1].hash), None)
    while store.compact(Retention(records=2**60)):
        pass
    assert store.chain_begin() == (1_000, whole[-1].hash)
