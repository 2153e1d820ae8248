"""Usage equals an independent integral over the log, for any two instants, after restarts and compaction too."""

from __future__ import annotations

import json
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING

import pytest

from fairhold.errors import InputError
from fairhold.ledger.vectors import POOLED
from fairhold.model.spec import Spec
from fairhold.orchestrator import changes as say
from fairhold.orchestrator.cluster import Cluster
from fairhold.orchestrator.events import JobChanged, JobSubmitted
from fairhold.orchestrator.freeze import freeze, thaw
from fairhold.orchestrator.lending import lending
from fairhold.orchestrator.opening import open_cluster_books
from fairhold.orchestrator.owned import owned_slots
from fairhold.planio.plan import parse_plan
from fairhold.ports import Retention
from fairhold.runtime.live.journal import change_of
from fairhold.runtime.live.submitting import Submission
from fairhold.runtime.live.usage import HOUR
from fairhold.runtime.live.views.usage import OF_ACCOUNTS, UsageQuery, usage_document
from fairhold.units import SECOND, format_instant, parse_instant
from tests.live.play import MIXED, PLAIN, START, Play, plan_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fairhold.orchestrator.attempts import Attempt
    from fairhold.ports import Entry, Store

    Measure = Callable[[Cluster, int, int], Iterator["Piece"]]

SLOTS = {"resource": "slots", "unit": ""}
Row = tuple[str, str, str, str, str]
Piece = tuple[Row, int, int, Fraction | int]
"""Who and which resource, from, to before, amount; a lump where both instants are the same: amount-microseconds."""


def naive(store: Store, entries: list[Entry], end: int, of: Measure | None = None) -> list[Piece]:
    """Every entry applied to a cluster of its own, which is measured between any two of them."""
    pieces: list[Piece] = []
    cluster: Cluster | None = None
    of = of or measure
    before = 0
    for entry in entries:
        fields = json.loads(entry.body)
        if cluster is not None and entry.at > before:
            pieces += of(cluster, before, entry.at)
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
    return [*pieces, *of(cluster, before, end)]


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
        yield from capacity(cluster, group, since, until)
        if books.vectors is not None:
            yield from lent_by_parcels(cluster, since, until)
            continue
        for row, slots in lending(books).lenders(books.rows.tree).items():
            yield (books.rows.path(row), "", "", "lent", "slots"), since, until, slots


def lent_by_parcels(cluster: Cluster, since: int, until: int) -> Iterator[Piece]:
    """What is not own stands on somebody else's parcels, or on what nobody owns."""
    for attempt in cluster.attempts.values():
        leaf, whole = attempt.job.consumer, amounts(attempt)
        if attempt.job.resource_group != POOLED:
            continue
        owner = attempt.lenders[0] if attempt.lenders else leaf if attempt.pool not in {"", "/"} else "/"
        for path, name, text in attempt.parts or [(owner, *each) for each in whole]:
            if path == "/" or not f"{leaf}/".startswith(f"{path}/"):
                yield (path, "", "", "lent", name), since, until, Fraction(text)


def capacity(cluster: Cluster, group: str, since: int, until: int) -> Iterator[Piece]:
    """What every host has is up where it may start work; of others what is in use."""
    books = cluster.books[group]
    plan = books.rows.source
    planned = {host.name: host for host in books.rows.group.hosts}
    for (at, name), host in cluster.hosts.items():
        if at != group:
            continue
        there = {"slots": Fraction(host.slots)}
        if group == POOLED:
            each = zip(plan.resources, planned[name].amounts, strict=True)
            there = {resource.name: Fraction(amount, resource.base) for resource, amount in each}
        used = dict.fromkeys(there, Fraction(0))
        for attempt in cluster.attempts.values():
            for place, units in attempt.places if attempt.job.resource_group == group else ():
                for resource, amount in (amounts(attempt) if group == POOLED else [("slots", units)]) * (place == name):
                    used[resource] += amount
        for resource, whole in there.items():
            up = whole if cluster.is_open(group, name) else min(whole, used[resource])
            yield ("/", "", "", "up", resource), since, until, up
            yield ("/", "", "", "down", resource), since, until, whole - up


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
    document = usage_document(
        play.store, play.core.usage.tail(play.clock.instant), UsageQuery(since, until, OF_ACCOUNTS)
    )
    rows = {
        (row["consumer"], row["user"], row["job"], row["kind"], row["resource"]): Fraction(row["resource_seconds"])
        * SECOND
        for row in document["rows"]
    }
    for row in document["capacity"]:
        both = {kind: Fraction(row[f"{kind}_seconds"]) * SECOND for kind in ("up", "down")}
        rows |= {("/", "", "", kind, row["resource"]): amount for kind, amount in both.items() if amount}
    for row in document["balance"]:
        assert row["borrowed_seconds"] == row["lent_seconds"], row
        assert not row["why"]
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
    assert {row[3] for row, *_ in pieces} == {"own", "borrowed", "lent", "lost", "up", "down"}
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
    assert {row[3] for row, *_ in pieces} == {"own", "borrowed", "lent", "lost", "up", "down"}
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
    assert {row: amount for row, amount in before[0].items() if row[3] == "own"} == {
        ("/B", "ann", "1", "own", "slots"): 2 * SECOND
    }
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
    rows, *used = told(play, since, until)
    assert rows["/B", "ann", "1", "own", "slots"] == 30 * SECOND
    assert used == [since, until]
    play.store.close()


def test_usage_is_told_by_what_is_asked(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_text(PLAIN))
    play.submit("/B", 7)
    play.submit("/A/a1", 1, user="bob")
    play.pass_time(10 * SECOND)
    begin = max(attempt.started for attempt in play.core.cluster.attempts.values())
    tail = play.core.usage.tail(play.clock.instant)
    document = usage_document(play.store, tail, UsageQuery(begin, begin + SECOND, ["user", "kind"]))
    assert document["rows"] == [
        {"user": "", "kind": "lent", **SLOTS, "resource_seconds": "4"},
        {"user": "ann", "kind": "borrowed", **SLOTS, "resource_seconds": "4"},
        {"user": "ann", "kind": "own", **SLOTS, "resource_seconds": "3"},
        {"user": "bob", "kind": "own", **SLOTS, "resource_seconds": "1"},
    ]
    for by, since, until in ((["colour"], 0, 1), (["user", "user"], 0, 1), (["user"], 2, 1)):
        with pytest.raises(InputError):
            usage_document(play.store, tail, UsageQuery(since, until, by))
    play.store.close()


def test_usage_is_told_by_labels_also_of_jobs_that_are_gone(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_text(PLAIN))
    for team in ("red", "blue", ""):
        event = JobSubmitted("", "/B", "compute", 1, user="ann")
        spec = Spec("/B", ("true",), labels={"team": team} if team else {})
        play.core.submit(Submission("ann", "", event, spec))
    play.pass_time(SECOND)
    begin = play.clock.instant
    play.core.change(JobChanged("2"), {"team": "green"})
    play.pass_time(HOUR)
    for attempt in list(play.core.cluster.attempts):
        play.end(attempt)
    play.commit()

    def by_team() -> dict[str, str]:
        query = UsageQuery(begin, begin + 2 * SECOND, ("label:team",))
        rows = usage_document(play.store, play.core.usage.tail(play.clock.instant), query)["rows"]
        return {row["label:team"]: row["resource_seconds"] for row in rows}

    assert by_team() == {"": "2", "green": "2", "red": "2"}
    while play.store.compact(Retention(jobs=play.clock.instant + 1)):
        pass
    assert play.store.job("1") is None
    assert by_team() == {"": "2", "green": "2", "red": "2"}
    tail = play.core.usage.tail(play.clock.instant)
    hours = usage_document(play.store, tail, UsageQuery(0, tail.end, ("hour",)))["rows"]
    days = usage_document(play.store, tail, UsageQuery(0, tail.end, ("day",)))["rows"]
    assert [row["hour"] for row in hours] == ["2026-01-05T08:00:00Z", "2026-01-05T09:00:00Z"]
    assert [row["day"] for row in days] == ["2026-01-05"]
    assert sum(Fraction(row["resource_seconds"]) for row in hours) == Fraction(days[0]["resource_seconds"])
    with pytest.raises(InputError, match="future"):
        usage_document(play.store, tail, UsageQuery(tail.end + 1, tail.end + 2, ("job",)))
    play.store.close()


def test_usage_of_a_consumer_is_told_in_parts_of_the_time(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_text(PLAIN))
    play.core.submit(Submission("ann", "", JobSubmitted("", "/B", "compute", 1), Spec("/B", ("true",))))
    begin = play.clock.instant
    play.pass_time(3 * SECOND)
    tail = play.core.usage.tail(play.clock.instant)
    begin -= begin % SECOND
    query = UsageQuery(begin, begin + 3 * SECOND, ("consumer",), (), "/B", SECOND)
    found = usage_document(play.store, tail, query)
    whole = usage_document(play.store, tail, query._replace(step=0))
    assert {row["consumer"] for row in found["rows"]} == {"/B"}
    assert len({(row["from"], row["to"]) for row in found["rows"]}) == len(found["rows"]) > 1
    assert sum(Fraction(row["resource_seconds"]) for row in found["rows"]) == Fraction(
        whole["rows"][0]["resource_seconds"]
    )
    assert usage_document(play.store, tail, query._replace(consumer="/A"))["rows"] == []
    empty = usage_document(play.store, tail, query._replace(since=tail.end, until=tail.end + SECOND))
    assert (empty["from"], empty["rows"]) == (format_instant(tail.end), [])
    with pytest.raises(InputError, match="parts of this length"):
        usage_document(play.store, tail, query._replace(step=1))
    play.store.close()
