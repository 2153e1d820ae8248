"""What waits to be told: bounded, in the store before it is sent, and sent until it is had."""

from __future__ import annotations

from contextlib import closing
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.runtime.live.journal import Journal
from fairhold.runtime.live.outbox import AT_ONCE, EVERY, GIVE_UP, MAIL, MOST_FACTS, WEBHOOK, Outbox
from fairhold.store import open_store
from fairhold.units import SECOND
from tests.live.play import START

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fairhold.ports import Store
    from fairhold.runtime.live.outbox import Delivery


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(tmp_path / "state", cluster="", node="n", now=START)) as found:
        yield found


class Box:
    """An outbox over a store, with what it would commit."""

    def __init__(self, store: Store) -> None:
        self.journal = Journal(store)
        self.outbox = Outbox(store, self.journal)
        self.outbox.open()

    def add(self, job: int, at: int = START, user: str = "ben", event: str = "end", **more: Any) -> None:
        self.outbox.add(WEBHOOK, user, {"event": event, "job": str(job)} | more, at)

    def commit(self) -> None:
        self.outbox.flush()
        self.journal.commit()

    def take(self, now: int) -> list[Delivery]:
        found = self.outbox.take(now, lambda _user, _fact: True)
        self.commit()
        return found


def jobs(delivery: Delivery) -> list[str]:
    return [fact["job"] for fact in delivery.facts]


def test_the_first_is_sent_at_once_and_what_follows_together(store: Store) -> None:
    box = Box(store)
    box.add(1)
    (first,) = box.take(START)
    for job in (2, 3):
        box.add(job, START + SECOND)
    assert box.outbox.done(first, START + SECOND, is_sent=True)
    assert box.take(START + EVERY) == []
    (second,) = box.take(START + SECOND + EVERY)
    assert (jobs(first), jobs(second), first.id != second.id) == (["1"], ["2", "3"], True)


def test_to_one_that_was_tried_nothing_is_added_and_it_keeps_its_id_over_a_crash(store: Store) -> None:
    box = Box(store)
    box.add(1)
    (first,) = box.take(START)
    box.add(2)
    box.commit()
    again = Box(store)  # a crash: nobody knows whether the first was had
    (second,) = again.take(START + 10 * SECOND)
    assert second == first
    again.outbox.done(second, START + 11 * SECOND, is_sent=True)
    again.commit()
    (third,) = Box(store).take(START + 60 * SECOND)
    assert (jobs(third), third.id != first.id) == (["2"], True)


def test_nothing_that_was_delivered_comes_again_after_a_start(store: Store) -> None:
    box = Box(store)
    box.add(1)
    box.outbox.done(box.take(START)[0], START, is_sent=True)
    box.commit()
    assert Box(store).take(START + GIVE_UP) == []
    assert store.notifications("outbox") == {}


def test_a_storm_is_two_messages_and_a_number(store: Store) -> None:
    box = Box(store)
    box.add(0)
    (first,) = box.take(START)
    for job in range(1, 10_001):
        box.add(job)
    box.commit()
    assert box.outbox.waiting() == {MAIL: 0, WEBHOOK: 2}
    assert len(store.notifications("outbox")["webhook ben"]) < 10_000
    box.outbox.done(first, START, is_sent=True)
    (second,) = box.take(START + EVERY)
    assert (len(second.facts), second.more) == (MOST_FACTS, 10_000 - MOST_FACTS)


def test_the_same_of_one_job_is_one_fact_with_all_its_tasks(store: Store) -> None:
    box = Box(store)
    box.add(1, event="reclaim", tasks=2, deadline="a")
    box.add(1, event="reclaim", tasks=3, deadline="b")
    box.add(1, event="end")
    ((delivery),) = box.take(START)
    assert [(fact["event"], fact.get("tasks")) for fact in delivery.facts] == [("reclaim", 5), ("end", None)]


def test_the_earliest_deadline_holds_and_what_is_said_last_is_how_it_is(store: Store) -> None:
    box = Box(store)
    box.add(1, event="reclaim", tasks=2, deadline="b")
    box.add(2, event="reclaim", tasks=1, deadline="e")
    box.add(1, event="reclaim", tasks=1, deadline="c")
    box.add(1, event="withdrawn", tasks=3)
    box.add(1, event="reclaim", tasks=1, deadline="d")
    ((delivery),) = box.take(START)
    assert [(fact["job"], fact["event"], fact["tasks"], fact.get("deadline")) for fact in delivery.facts] == [
        ("1", "reclaim", 3, "b"),
        ("2", "reclaim", 1, "e"),
        ("1", "withdrawn", 3, None),
        ("1", "reclaim", 1, "d"),
    ]


def test_the_day_after_which_a_message_is_given_up_begins_with_its_first_try(store: Store) -> None:
    box = Box(store)
    box.add(1)
    (first,) = box.take(START)
    box.add(2)
    assert box.outbox.done(first, START + GIVE_UP, is_sent=False)
    (second,) = box.take(START + GIVE_UP + EVERY)
    assert not box.outbox.done(second, START + GIVE_UP + EVERY, is_sent=False)
    assert box.outbox.waiting()[WEBHOOK] == 1
    (again,) = Box(store).take(START + GIVE_UP + 60 * SECOND)
    assert jobs(again) == ["2"]


def test_who_does_not_take_it_is_asked_ever_more_seldom_and_given_up_after_a_day(store: Store) -> None:
    box, now, tries = Box(store), START, []
    box.add(1)
    while found := box.take(now):
        tries.append((now - START) // SECOND)
        if box.outbox.done(found[0], now, is_sent=False):
            break
        while not box.outbox.is_due(now):
            now += SECOND
    assert tries[:6] == [0, 10, 30, 70, 150, 310]
    assert {later - earlier for earlier, later in pairwise(tries[10:])} == {3_600}
    assert 86_400 <= tries[-1] <= 90_000
    assert (box.outbox.failed[WEBHOOK], box.outbox.waiting()[WEBHOOK]) == (1, 0)


def test_one_who_is_away_keeps_nobody_else_waiting_and_so_many_are_sent_at_once(store: Store) -> None:
    box = Box(store)
    for number in range(AT_ONCE + 5):
        box.add(1, user=f"u{number}")
    first = box.take(START)
    assert (len(first), box.outbox.is_due(START), box.take(START)) == (AT_ONCE, False, [])
    box.outbox.add(MAIL, "u0", {"event": "end", "job": "1"}, START)
    assert box.outbox.is_due(START)
    assert [(each.channel, each.user) for each in box.take(START)] == [(MAIL, "u0")]
    box.outbox.done(first[0], START, is_sent=True)
    assert len(box.take(START)) == 1
    assert len(box.take(START + 600 * SECOND)) == AT_ONCE + 1  # nothing was heard of those: they are sent again


def test_what_somebody_may_not_know_any_more_is_not_sent(store: Store) -> None:
    box = Box(store)
    box.add(1)
    box.add(2)
    box.add(3, user="cy")
    (delivery,) = box.outbox.take(START, lambda user, fact: user == "ben" and fact.get("job") != "1")
    assert (delivery.user, jobs(delivery)) == ("ben", ["2"])
    box.commit()
    assert [*store.notifications("outbox")] == ["webhook ben"]


def test_what_was_withheld_once_is_not_in_a_later_try(store: Store) -> None:
    box = Box(store)
    box.add(1)
    box.add(2)
    (first,) = box.outbox.take(START, lambda _user, fact: fact.get("job") != "1")
    box.outbox.done(first, START, is_sent=False)
    (second,) = box.take(START + 10 * SECOND)
    assert (jobs(second), second.id) == (["2"], first.id)


def test_a_message_of_which_all_is_withheld_is_not_a_number(store: Store) -> None:
    box = Box(store)
    for job in range(MOST_FACTS + 3):
        box.add(job)
    assert box.outbox.take(START, lambda _user, fact: not fact) == []
    box.commit()
    assert store.notifications("outbox") == {}
