"""Usage of queues: what they borrow of a resource is lent by somebody, level by level, to the base unit."""

from __future__ import annotations

import json
from contextlib import suppress
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.errors import InputError
from fairhold.lab.report.usage_rows import dominant_rows, report_rows
from fairhold.ledger.vectors import POOLED
from fairhold.orchestrator.events import MachineClosed, MachineOpened
from fairhold.runtime.live.views.usage import UsageQuery, usage_document
from fairhold.units import SECOND
from tests.live.integral import lenders
from tests.live.play import START, Play
from tests.live.test_usage import integral, naive

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fairhold.orchestrator.cluster import Cluster
    from tests.live.test_usage import Piece, Row

HOST = {"cpu": 16, "gpu": 4}
DESERVED = ({"/A": 5, "/A/a1": 2, "/A/a2": 2, "/B": 2}, {"/A": 2, "/A/a1": 2, "/B": 5, "/C": 1})
CHILDREN = {"": ["/A", "/B", "/C"], "/A": ["/A/a1", "/A/a2"], "/A/a1": [], "/A/a2": [], "/B": [], "/C": []}
LEAVES = ("/A/a1", "/A/a2", "/B", "/C")


def plan_of(gpus: dict[str, int]) -> str:
    """Two hosts; a queue deserves GPUs, and four times as many CPUs."""
    queues = {path: {"deserved": {"gpu": gpu, "cpu": 4 * gpu}} for path, gpu in gpus.items()}
    consumers: dict[str, Any] = {"A": {"consumers": {"a1": {}, "a2": {}}}, "B": {}, "C": {}}
    groups = {"train": {"hosts": [{"name": "h[1-2]", **HOST}]}}
    entry = {"resource_groups": ["train"], "policy": "fair_share", "consumers": queues}
    terms = {"fairhold": 1, "resources": {"cpu": {"base": 0.5}, "gpu": {}}, "resource_groups": groups}
    return json.dumps(terms | {"consumers": consumers, "policies": [entry]})


def measured(cluster: Cluster, since: int, until: int) -> Iterator[Piece]:
    """Who holds, borrows and lends how much now, from the plan and the attempts alone."""
    plan = cluster.books[POOLED].rows.source
    for at, (resource, base) in enumerate((("cpu", 2), ("gpu", 1000))):
        held, up = dict.fromkeys(LEAVES, 0), 0
        for host in ("h1", "h2"):
            used = 0
            for each in cluster.attempts.values():
                amount = int(Fraction(dict(each.job.terms.unit)[resource]) * base)
                if each.places[0][0] == host:
                    held[each.job.consumer] += amount
                    used += amount
            up += HOST[resource] * base if cluster.is_open(POOLED, host) else used
        owned = dict.fromkeys(CHILDREN, 0)
        for row, settings in plan.policies[0].consumers.items():
            owned[plan.tree.paths[row]] = dict(settings.queue.deserved)[at]
        for path, amount in lenders(CHILDREN, owned, {}, up, held).items():
            yield (path, "", "", "lent", resource), since, until, Fraction(amount, base)
        for leaf, amount in held.items():
            yield (leaf, "", "", "own", resource), since, until, Fraction(min(amount, owned[leaf]), base)
            yield (leaf, "", "", "borrowed", resource), since, until, Fraction(max(0, amount - owned[leaf]), base)
        yield ("/", "", "", "up", resource), since, until, Fraction(up, base)
        yield ("/", "", "", "down", resource), since, until, Fraction(2 * HOST[resource] * base - up, base)


def told(play: Play, since: int, until: int) -> dict[Row, Fraction]:
    query = UsageQuery(since, until, ("consumer", "kind"))
    document = usage_document(play.store, play.core.usage.tail(play.clock.instant), query)
    rows = {
        (row["consumer"], "", "", row["kind"], row["resource"]): Fraction(row["resource_seconds"]) * SECOND
        for row in document["rows"]
        if row["kind"] != "lost"
    }
    for row in document["capacity"]:
        both = {kind: Fraction(row[f"{kind}_seconds"]) * SECOND for kind in ("up", "down")}
        rows |= {("/", "", "", kind, row["resource"]): amount for kind, amount in both.items() if amount}
    for row in document["balance"]:
        assert row["borrowed_seconds"] == row["lent_seconds"]
        assert not row["why"]
    return rows


@pytest.mark.parametrize("seed", range(6))
def test_what_queues_borrow_is_lent_at_every_instant(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    play = Play(tmp_path, plan_of(DESERVED[0]))
    shut: set[str] = set()

    def ask() -> None:
        unit = (("cpu", random.choice(("0.5", "3"))), ("gpu", random.choice(("1", "2"))))
        user, leaf = random.choice(("ann", "bob")), random.choice(LEAVES)
        play.submit(leaf, random.randint(1, 4), user=user, group=POOLED, unit=unit)

    def end() -> None:
        if running := list(play.core.cluster.attempts):
            play.end(random.choice(running))

    def close() -> None:
        host = random.choice(("h1", "h2"))
        play.feed(MachineOpened(host) if host in shut else MachineClosed(host, "broken"))
        shut.symmetric_difference_update({host})

    def change() -> None:
        play.core.apply_plan(plan_of(random.choice(DESERVED)), "ann", "", play.core.version)

    def again() -> None:
        play.restart(snapshot=random.random() < 0.5)

    play.report("h1")
    play.report("h2")
    for _ in range(60):
        play.pass_time(random.choice((0, 1, 700, SECOND // 2, 20 * SECOND)))
        with suppress(InputError):
            random.choices((ask, end, close, change, again), (8, 8, 2, 1, 1))[0]()
    play.commit()
    now = play.clock.instant
    entries = play.store.entries(0, limit=10**6)
    pieces = naive(play.store, entries, now, measured)
    instants = sorted({START, now, *(random.randrange(START, now) for _ in range(6))})
    for since, until in pairwise(instants):
        expected = {row: amount for row, amount in integral(pieces, since, until).items() if row[3] != "lost"}
        assert told(play, since, until) == expected
    assert {row[3] for row in told(play, START, now)} == {"own", "borrowed", "lent", "up", "down"}
    play.store.close()


def test_the_parts_of_the_dominant_resource_add_up_to_what_there_was(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_of(DESERVED[0]))
    play.report("h1")
    play.report("h2")
    job = play.submit("/B", 2, group=POOLED, unit=(("cpu", "2"), ("gpu", "2")))
    play.pass_time(SECOND)
    begin = play.clock.instant
    play.pass_time(10 * SECOND)
    tail = play.core.usage.tail(play.clock.instant)
    document = usage_document(play.store, tail, UsageQuery(begin, begin + 4 * SECOND, ("job",)))
    assert document["dominant"] == [{"job": job, "resource": "gpu", "share": "0.5", "cluster_seconds": "2"}]
    assert document["capacity"] == [
        {"resource": "cpu", "unit": "", "up_seconds": "128", "down_seconds": "0", "reserved_seconds": "0"}
        | {"held_seconds": "16"},
        {"resource": "gpu", "unit": "", "up_seconds": "32", "down_seconds": "0", "reserved_seconds": "0"}
        | {"held_seconds": "16"},
    ]
    document = usage_document(play.store, tail, UsageQuery(begin, begin + 4 * SECOND, ("job", "kind")))
    reported = [most for _, most in dominant_rows(report_rows(document, ["job"]), ["job"])]
    assert reported == [(Fraction(1, 2), "gpu", Fraction(2, 3600))] * 2  # of the job, and of all
    play.store.close()
