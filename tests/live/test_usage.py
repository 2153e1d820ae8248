"""Usage equals an independent integral over the log, for any two instants, after restarts and compaction too."""

from __future__ import annotations

import json
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING

import pytest

from fairhold.errors import InputError
from fairhold.orchestrator import changes as say
from fairhold.orchestrator.cluster import Cluster
from fairhold.orchestrator.events import JobChanged
from fairhold.orchestrator.freeze import freeze, thaw
from fairhold.orchestrator.lending import lending
from fairhold.orchestrator.opening import open_cluster_books
from fairhold.orchestrator.owned import owned_slots
from fairhold.planio.plan import parse_plan
from fairhold.ports import Retention
from fairhold.runtime.live.journal import change_of
from fairhold.runtime.live.usage import HOUR
from fairhold.runtime.live.using import BY, Terms, usage_document
from fairhold.units import SECOND, parse_instant
from tests.live.play import MIXED, PLAIN, START, Play, plan_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fairhold.orchestrator.tasks import Attempt
    from fairhold.ports import Entry, Store

SLOTS = {"resource": "slots", "unit": ""}
Row = tuple[str, str, str, str, str]
Piece = tuple[Row, int, int, Fraction | int]
"""Who and which resource, from, to before, amount; a lump where both instants are the same: amount-microseconds."""


def naive(store: Store, entries: list[Entry], end: int) -> list[Piece]:
    """Every entry applied to a cluster of its own, which is measured between any two of them."""
    pieces: list[Piece] = []
    cluster: Cluster | None = None
    before = 0
    for entry in entries:
        fields = json.loads(entry.body)
        if cluster is not None and entry.at > before:
            pieces += measure(cluster, before, entry.at)
        before = entry.at
        if fields[0] == "PlanApplied":
            found = store.plan(fields[1])
            assert found is not None
            books = open_cluster_books(parse_plan(found.text, "plan")[0], entry.at)
            held = freeze(cluster) if cluster is not None else None
            cluster = thaw(held, books, forgets=True, own="", moved=fields[2]) if held else Cluster(books, forgets=True)
            continue
        change = change_of(fields[0], fields[1:])
        assert cluster is not None
        if change is None:
            continue
        if isinstance(change, say.Ended) and change.then == "again" and change.reason != "yielded":
            attempt = cluster.attempts[change.attempt]
            path = attempt.job.consumer
            who = path, attempt.job.terms.user, attempt.job.name, "lost"
            for resource, amount in amounts(attempt):
                pieces.append(((*who, resource), entry.at, entry.at, amount * (entry.at - attempt.started)))
        cluster.apply(change, entry.at)
    assert cluster is not None
    return [*pieces, *measure(cluster, before, end)]


def measure(cluster: Cluster, since: int, until: int) -> Iterator[Piece]:
    for group, books in cluster.books.items():
        left = owned_slots(books.rows, books.slots)
        for _, attempt in sorted(cluster.attempts.items()):
            if attempt.job.resource_group != group:
                continue
            leaf = cluster.leaf_of(attempt.job)
            who = (attempt.job.consumer, attempt.job.terms.user, attempt.job.name)
            own = {"slots": Fraction(min(left[leaf], attempt.units))}
            if books.vectors is not None:
                own = own_amounts(attempt, who[0])
            else:
                left[leaf] -= int(own["slots"])
            for resource, amount in amounts(attempt):
                yield (*who, "own", resource), since, until, own.get(resource, 0)
                yield (*who, "borrowed", resource), since, until, amount - own.get(resource, 0)
        lenders = lending(books).lenders(books.rows.tree) if books.vectors is None else {}
        for row, slots in lenders.items():
            yield (books.rows.path(row), "", "", "lent", "slots"), since, until, slots


def amounts(attempt: Attempt) -> list[tuple[str, Fraction]]:
    """What an attempt holds: slots, or amounts of resources."""
    unit = attempt.job.terms.unit
    return [(name, Fraction(text)) for name, text in unit] or [("slots", Fraction(attempt.units))]


def own_amounts(attempt: Attempt, leaf: str) -> dict[str, Fraction]:
    """What a unit has of parcels of its leaf and of those above it."""
    if not attempt.parts:
        is_own = f"{leaf}/".startswith(f"{attempt.lenders[0]}/") if attempt.lenders else attempt.pool not in {"", "/"}
        return dict(amounts(attempt)) if is_own else {}
    found: dict[str, Fraction] = {}
    for owner, name, text in attempt.parts:
        if f"{leaf}/".startswith(f"{owner}/"):
            found[name] = found.get(name, Fraction(0)) + Fraction(text)
    return found


def integral(pieces: list[Piece], since: int, until: int) -> dict[Row, Fraction | int]:
    sums: dict[Row, Fraction | int] = {}
    for row, first, last, units in pieces:
        if first == last:
            amount = units if since <= first < until else 0
        else:
            amount = units * max(0, min(last, until) - max(first, since))
        if amount:
            sums[row] = sums.get(row, 0) + amount
    return sums


def told(play: Play, since: int, until: int) -> tuple[dict[Row, Fraction], int, int]:
    document = usage_document(play.store, play.core.usage.tail(play.clock.instant), since, until, Terms(BY))
    rows = {
        (row["consumer"], row["user"], row["job"], row["kind"], row["resource"]): Fraction(row["resource_seconds"])
        * SECOND
        for row in document["rows"]
    }
    first, last = parse_instant(document["from"]), parse_instant(document["to"])
    assert first is not None
    assert last is not None
    return rows, first, last


@pytest.mark.parametrize("seed", range(12))
def test_usage_is_the_integral_of_the_log_for_any_two_instants(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    groups = MIXED if seed % 2 else PLAIN
    more = {"/A": {"owned": 1}, "/B": {"owned": 6, "limit": 7}}
    plans = [plan_text(groups), plan_text(groups, more), plan_text({"compute": groups["compute"], "gpu": {"slots": 5}})]
    play = Play(tmp_path, plans[-1] if seed % 2 == 0 else plans[0])
    usable = [plan for plan in plans if set(json.loads(plan)["resource_groups"]) == {"compute", "gpu"}] or plans
    play.wander(random, 150, usable if seed % 2 else [plans[2]])
    now = play.clock.instant
    entries = play.store.entries(0, limit=10**6)
    pieces = naive(play.store, entries, now)
    assert {row[3] for row, *_ in pieces} == {"own", "borrowed", "lent", "lost"}
    instants = [START - HOUR, *(entry.at for entry in random.sample(entries, 8)), now]
    instants += [random.randrange(START, now) for _ in range(12)]
    for _ in range(25):
        since, until = sorted(random.sample(instants, 2))
        assert told(play, since, until) == (integral(pieces, since, until), since, until)
    # what a span is cut into adds up to it
    middle = instants[-1]
    parts = [told(play, START, middle)[0], told(play, middle, now)[0]]
    whole = told(play, START, now)[0]
    assert {row: sum(part.get(row, 0) for part in parts) for row in whole} == whole
    play.store.close()


def windowed() -> str:
    """A plan under which leaves own other numbers every few minutes of the morning of `START`."""
    plan = json.loads(plan_text(MIXED))
    (always,) = plan["policies"]
    turns = ", ".join(f"Mon-Sun 08:{minute:02}-08:{minute + 3:02}" for minute in range(1, 55, 6))
    owned = {"/A": {"owned": 1}, "/B": {"owned": 6, "reserved": 1}, "/C": {"owned": 1, "limit": 3}}
    plan["policies"] = [always | {"window": turns, "consumers": owned}, always]
    return json.dumps(plan)


@pytest.mark.parametrize("seed", range(3))
def test_usage_is_the_integral_of_the_log_over_switches_of_windows(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    play = Play(tmp_path, windowed())
    play.wander(random, 150, [windowed()])
    now = play.clock.instant
    entries = play.store.entries(0, limit=10**6)
    switches = [entry.at for entry in entries if entry.body.startswith('["WindowOpened"')]
    assert len(switches) > 4
    pieces = naive(play.store, entries, now)
    assert {row[3] for row, *_ in pieces} == {"own", "borrowed", "lent", "lost"}
    instants = [START, now, *random.sample(switches, 4), *(random.randrange(START, now) for _ in range(6))]
    for _ in range(15):
        since, until = sorted(random.sample(instants, 2))
        assert told(play, since, until) == (integral(pieces, since, until), since, until)
    play.store.close()


@pytest.mark.parametrize("seed", range(4))
def test_compacted_time_is_exact_at_its_borders(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    play = Play(tmp_path, plan_text(PLAIN))
    play.wander(random, 120, [plan_text(PLAIN)])
    play.snapshot()
    play.wander(random, 40, [plan_text(PLAIN)])
    play.snapshot()
    entries = play.store.entries(0, limit=10**6)
    now = play.clock.instant
    pieces = naive(play.store, entries, now)
    ends = [entry.seq for entry in entries if entry.body.startswith('["UsageSpan"') and entry.seq < len(entries) * 0.7]
    through = ends[-1]
    while play.store.compact(Retention(entries_through=through)):
        pass
    assert play.store.first() == through + 1
    moved = 0
    for _ in range(40):
        since, until = sorted(min(now, random.choice(entries).at + 7) for _ in range(2))
        rows, first, last = told(play, since, until)
        assert first <= since <= until <= last
        assert rows == integral(pieces, first, last)
        moved += (first, last) != (since, until)
        if since >= entries[through].at:
            assert first == since
    assert moved
    play.restart(snapshot=True)
    rows, first, last = told(play, START, now)
    assert rows == integral(pieces, START, now)
    play.store.close()


def test_what_is_decided_and_not_yet_written_counts(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_text(PLAIN))
    play.submit("/B", 2)
    play.pass_time(HOUR * 3 // 2)
    play.submit("/C", 1)  # ends the spans of the hours that are over
    begin = play.core.cluster.attempts[1].started
    assert play.core.journal.entries
    before = told(play, START, begin + SECOND)
    play.commit()
    assert told(play, START, begin + SECOND) == before
    assert before[0] == {("/B", "ann", "1", "own", "slots"): 2 * SECOND}
    play.store.close()


def test_a_span_that_is_written_down_long_after_its_end_is_found(tmp_path: Path) -> None:
    """What concerns no units ends no span: many labels may be changed before something else happens."""
    play = Play(tmp_path, plan_text(PLAIN))
    play.submit("/B", 2)
    play.pass_time(SECOND)
    play.commit()
    begin = play.core.cluster.attempts[1].started
    play.clock.instant += 5 * HOUR
    for number in range(450):
        play.core.change(JobChanged("1"), {"try": str(number)})
    play.end(1)
    play.commit()
    since, until = begin + 10 * SECOND, begin + 25 * SECOND
    assert told(play, since, until) == ({("/B", "ann", "1", "own", "slots"): Fraction(30 * SECOND)}, since, until)
    play.store.close()


def test_usage_is_told_by_what_is_asked(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_text(PLAIN))
    play.submit("/B", 7)
    play.submit("/A/a1", 1, user="bob")
    play.pass_time(10 * SECOND)
    begin = max(attempt.started for attempt in play.core.cluster.attempts.values())
    tail = play.core.usage.tail(play.clock.instant)
    document = usage_document(play.store, tail, begin, begin + SECOND, Terms(["user", "kind"]))
    assert document["rows"] == [
        {"user": "", "kind": "lent", **SLOTS, "resource_seconds": "4"},
        {"user": "ann", "kind": "borrowed", **SLOTS, "resource_seconds": "4"},
        {"user": "ann", "kind": "own", **SLOTS, "resource_seconds": "3"},
        {"user": "bob", "kind": "own", **SLOTS, "resource_seconds": "1"},
    ]
    for by, since, until in ((["colour"], 0, 1), (["user", "user"], 0, 1), (["user"], 2, 1)):
        with pytest.raises(InputError):
            usage_document(play.store, tail, since, until, Terms(by))
    play.store.close()
