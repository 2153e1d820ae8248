"""Vectors in a live cluster: storms, and who replays or thaws is the same as who was there."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cycle.document import run_cycle
from fairhold.errors import InputError
from fairhold.ledger.vectors import POOLED
from fairhold.model.siting import Siting
from fairhold.orchestrator.events import Held, JobSubmitted, MachineReported
from fairhold.orchestrator.freeze import freeze, thaw
from fairhold.orchestrator.instructions import Instruction, Notify, Start
from fairhold.orchestrator.opening import open_cluster_books
from fairhold.orchestrator.vectors import state_of
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from tests.orchestrator.house import SECOND, House, notices, starts, stops
from tests.orchestrator.vector_storm import VectorStorm

if TYPE_CHECKING:
    from fairhold.model.adjusted import Adjusted
    from fairhold.orchestrator.cluster import Cluster


@pytest.mark.parametrize("seed", range(12))
def test_a_storm_leaves_everything_in_order(seed: int) -> None:
    storm = VectorStorm(Random(seed), forgets=seed % 2 == 0)
    storm.run(300)
    assert storm.cycles > 20
    assert len(storm.seen) >= 11


@pytest.mark.parametrize("seed", range(6))
def test_a_storm_of_queues_leaves_everything_in_order(seed: int) -> None:
    """History too: it is the same after a restart as without one, whatever it began with (R-HISTORY-1)."""
    entry = {
        "resource_groups": ["all", "more"],
        "policy": "fair_share",
        "settings": {"k": "1", "half_life": "20s", "usage_window": "60s", "consolidation": True},
        "consumers": {
            "/A": {"deserved": {"cpu": 6, "gpu": 2}},
            "/A/a2": {"deserved": {"cpu": 3, "gpu": 1}, "over_quota_weight": 2},
            "/B": {"deserved": {"cpu": 4}, "limit": {"cpu": 9}},
            "/C": {"priority": 50},
        },
    }
    storm = VectorStorm(Random(seed), forgets=seed % 2 == 0, policies=[entry])
    storm.run(250)
    assert storm.cycles > 20


GPUS: dict[str, Any] = {
    "fairhold": 1,
    "resources": {"cpu": {}, "memory": {"unit": "GiB"}, "gpu": {}},
    "resource_groups": {"gpu": {"hosts": [{"name": "h1", "cpu": 8, "memory": 64, "gpu": 4, "labels": ["fast"]}]}},
    "consumers": {"A": {"reclaim_grace": "5s"}, "B": {"reclaim_grace": "5s"}, "C": {}},
    "policies": [
        {
            "resource_groups": ["gpu"],
            "policy": "multidimensional",
            "consumers": {"/A": {"own": [{"resource_group": "gpu", "hosts": 1}]}, "/C": {"share_limit": {"gpu": 1}}},
        }
    ],
}
ONE = (("cpu", "2"), ("memory", "8"), ("gpu", "1"))


class GpuHouse(House):
    """One host of four GPUs that /A owns."""

    def __init__(self, plan: dict[str, Any] = GPUS) -> None:
        super().__init__(plan=parse_plan(json.dumps(plan), "plan")[0], forgets=True, own="h1")

    def submit(self, consumer: str = "/B", count: int = 1, **terms: Any) -> list[Instruction]:
        self.jobs += 1
        unit = terms.pop("unit", ONE)
        return self.take(JobSubmitted(f"j{self.jobs}", consumer, POOLED, count, unit=unit, **terms))


def devices(out: list[Instruction]) -> list[tuple[str, tuple[int, ...] | None]]:
    return [(each.job, each.devices) for each in out if isinstance(each, Start)]


def test_gpus_have_numbers_until_the_end_is_proven() -> None:  # R-LIVE-3
    house = GpuHouse()
    assert devices(house.submit("/A", 3)) == [("j1", (0,)), ("j1", (1,)), ("j1", (2,))]
    assert devices(house.end(2)) == []
    assert devices(house.submit("/A", unit=(("gpu", "2"),))) == [("j2", (1, 3))]
    assert devices(house.submit("/A", unit=(("cpu", "1"),))) == [("j3", ())]
    start = next(
        each for each in house.submit("/A", unit=(("memory", "0.5"), ("cpu", "0.25"))) if isinstance(each, Start)
    )
    assert (start.cpu, start.memory) == (250, 512 * 2**20)


def test_a_freed_unit_waits_for_its_taker_until_the_task_is_gone() -> None:  # R-LIVE-2
    house = GpuHouse()
    house.submit("/B", 4)
    out = house.submit("/A", 1)
    assert [each[1:] for each in notices(out)] == [(house.now + 5 * SECOND, "quota")]
    assert [each.job for each in out if isinstance(each, Notify)] == ["j2"]
    attempt = notices(out)[0][0]
    assert stops(house.wait(5 * SECOND)) == [(attempt, "reclaim")]
    assert starts(house.wait(SECOND)) == []  # it is still dying
    assert house.submit("/B", 1) == [] or starts(house.wait(0)) == []
    assert starts(house.end(attempt, "reclaim")) == [("j2", 0, 1)]
    assert house.live.attempts[5].pool == "own"
    assert house.live.attempts[1].lenders == ("/A",)


def test_controls_hold_back_what_is_taken_and_wake_it_again() -> None:  # R-CONTROL-6
    entry = GPUS["policies"][0] | {"settings": {"await_ends": "10s", "max_reclaims": 2}}
    house = GpuHouse(GPUS | {"policies": [entry]})
    house.submit("/B", 4)
    assert notices(house.submit("/A", 3)) == []
    assert notices(house.wait(9 * SECOND)) == []
    thawed = thaw(freeze(house.live.cluster), open_cluster_books(house.plan, 0), forgets=True, own="h1")
    assert thawed.books[POOLED].shortages == house.live.books[POOLED].shortages != {}
    assert len(notices(house.wait(SECOND))) == 2
    assert len(notices(house.wait(SECOND))) == 1


def test_when_ownership_was_adjusted_stays_known() -> None:  # R-ADJUST-5
    entry = GPUS["policies"][0] | {"settings": {"rebalance_interval": "10s"}}
    house = GpuHouse(GPUS | {"policies": [entry]})
    house.submit("/B", 1)
    first = _adjusted(house.live.cluster)
    house.wait(5 * SECOND)
    house.submit("/B", 1)
    assert _adjusted(house.live.cluster) == first
    document = json.loads(json.dumps(freeze(house.live.cluster)))
    assert _adjusted(thaw(document, open_cluster_books(house.plan, 0), forgets=True, own="h1")) == first
    house.wait(5 * SECOND)  # nothing else happens
    assert first.at + 10 * SECOND <= _adjusted(house.live.cluster).at <= house.now


def test_what_each_of_several_entries_has_stays_known() -> None:  # R-ADJUST-1
    own = [
        {"resource_group": "gpu", "total": {"gpu": 2}},
        {"resource_group": "gpu", "total": {"gpu": 1}, "reserved": True},
    ]
    consumers = GPUS["policies"][0]["consumers"]
    entry = GPUS["policies"][0] | {"consumers": consumers | {"/A": consumers.get("/A", {}) | {"own": own}}}
    house = GpuHouse(GPUS | {"policies": [entry]})
    house.submit("/B", 1)
    vectors = house.live.cluster.books[POOLED].vectors
    assert vectors is not None
    assert [(each.entry, each.amounts[-1]) for each in vectors.own_entries] == [(0, 2000), (1, 1000)]
    document = json.loads(json.dumps(freeze(house.live.cluster)))
    thawed = thaw(document, open_cluster_books(house.plan, 0), forgets=True, own="h1").books[POOLED].vectors
    assert thawed is not None
    assert (thawed.ownership, thawed.own_entries) == (vectors.ownership, vectors.own_entries)


def _adjusted(cluster: Cluster) -> Adjusted:
    vectors = cluster.books[POOLED].vectors
    assert vectors is not None
    return vectors.adjusted["gpu"]


def test_a_gang_begins_whole_or_not_at_all() -> None:
    house = GpuHouse()
    house.submit("/A", 2)
    assert starts(house.submit("/A", 4, min_count=3)) == []
    assert len(starts(house.end(1))) == 3
    assert len(starts(house.end(2))) == 1


@pytest.mark.parametrize(
    ("consumer", "count", "terms", "code", "words"),
    [
        ("/A", 1, {"unit": (("gpu", "5"),)}, "never-fits", "the nearest, `h1`, has 4 of 5 gpu"),
        ("/A", 9, {"min_count": 5}, "never-fits", "room for 4"),
        ("/C", 2, {"min_count": 2}, "never-fits", "the `share_limit` of `/C` has room for 1"),
        ("/A", 2, {"min_count": 3}, "gang-above-count", "has 2 tasks"),
        ("/A", 1, {"unit": ()}, "missing-unit", "cpu, memory, gpu"),
        ("/A", 1, {"unit": (("tpu", "1"),)}, "unknown-resource", "tpu"),
        ("/A", 1, {"unit": (("gpu", "0"),)}, "out-of-range", "nothing"),
        ("/A", 1, {"unit": (("gpu", "-1"),)}, "out-of-range", "nothing"),
        (
            "/A",
            1,
            {"unit": (("gpu", "0.00001"),)},
            "no-multiple",
            "0.00001 of `gpu` in its unit is not a whole multiple of 0.001",
        ),
        ("/A", 1, {"siting": Siting(need=("ssd",))}, "never-fits", "no host with ssd: the nearest, `h1`, lacks ssd"),
        ("/A", 1, {"siting": Siting(avoid=("fast",))}, "never-fits", "without fast: the nearest, `h1`, has fast"),
        (*("/A", 5, {"siting": Siting(place="pack"), "min_count": 5}), "never-fits", "largest has room for 4"),
        ("/A", 1, {"units": 2}, "out-of-range", "`units` is 2"),
    ],
)
def test_what_can_never_start_is_refused(
    consumer: str, count: int, terms: dict[str, Any], code: str, words: str
) -> None:  # R-LIVE-1
    house = GpuHouse()
    with pytest.raises(InputError) as error:
        house.submit(consumer, count, **terms)
    fault = error.value.faults[0]
    assert fault.code == code
    assert words in fault.what + fault.mend
    assert house.live.jobs == {}


def test_the_nearest_host_is_the_one_that_explain_names() -> None:  # R-LIVE-1
    """Two resources are short on h2, by a quarter and a fifth, and one on h1, by two fifths."""
    hosts: list[dict[str, Any]] = [
        {"name": "h1", "cpu": 8, "memory": 64, "gpu": 3},
        {"name": "h2", "cpu": 6, "memory": 64, "gpu": 4},
    ]
    plan = GPUS | {"resource_groups": {"gpu": {"hosts": hosts}}}
    with pytest.raises(InputError) as error:
        GpuHouse(plan).submit("/B", 1, unit=(("cpu", "8"), ("gpu", "5")))
    assert "the nearest, `h2`, has 6 of 8 cpu and 4 of 5 gpu" in error.value.faults[0].what
    request = {"id": "r", "consumer": "/B", "unit": {"cpu": 8, "gpu": 5}, "count": 1}
    state = {"fairhold_state": 1, "now": "2026-01-05T09:00:00Z", "requests": [request]}
    read = parse_plan(json.dumps(plan), "plan")[0]
    (refused,) = run_cycle(read, parse_state(json.dumps(state), read, "state")).document["refused"]
    assert refused["nearest"] == {"host": "h2", "missing": {"cpu": 2, "gpu": 1}}


def test_tasks_go_where_the_labels_of_plan_and_agents_say() -> None:  # R-SITE-5
    hosts: list[dict[str, Any]] = [{"name": name, "cpu": 8, "memory": 64, "gpu": 4} for name in ("h1", "h2", "h3")]
    hosts[1]["labels"] = {"zone": "a"}
    house = GpuHouse(GPUS | {"resource_groups": {"gpu": {"hosts": hosts}}})
    seen = {name: tuple(labels) for name, labels in (("h2", ["disk=old"]), ("h3", ["ssd", "zone=b"]))}
    for name, labels in seen.items():
        house.take(MachineReported(name, "boot", 0, (), labels=labels))

    def hosts_of(out: list[Instruction]) -> list[str]:
        return [each.host for each in out if isinstance(each, Start)]

    assert hosts_of(house.submit("/A", 2, siting=Siting(need=("zone=a",)))) == ["h2", "h2"]
    assert hosts_of(house.submit("/B", 1, siting=Siting(need=("ssd",)))) == ["h3"]
    assert hosts_of(house.submit("/B", 1, siting=Siting(prefer=("zone=b",)))) == ["h3"]
    assert sorted(hosts_of(house.submit("/B", 3, siting=Siting(place="spread")))) == ["h1", "h2", "h3"]
    thawed = thaw(freeze(house.live.cluster), open_cluster_books(house.plan, 0), forgets=True, own="h1")
    assert state_of(thawed, house.now).labels == state_of(house.live.cluster, house.now).labels != {}
    house.take(MachineReported("h3", "boot", 0, tuple(_held(house, "h3"))))
    assert hosts_of(house.submit("/B", 1, siting=Siting(avoid=("zone",)))) != ["h2"]
    with pytest.raises(InputError, match="no host with ssd"):
        house.submit("/B", 1, siting=Siting(need=("ssd",)))


def _held(house: GpuHouse, host: str) -> list[Held]:
    mine = [each for each in house.live.attempts.values() if each.places[0][0] == host]
    return [Held(each.name, is_alive=True, exit=None) for each in mine]


def test_a_unit_stays_on_the_parcels_on_which_it_stands() -> None:  # R-POOL-2
    """It is on record what it uses of whom: over a restart, a new plan with other names, and in the next cycle."""
    plan = json.loads(json.dumps(GPUS))
    mine = {"resource_group": "gpu", "per_host": {"gpu": 1, "cpu": 2, "memory": 16}}
    plan["policies"][0]["consumers"] = {"/A": {"own": [mine]}, "/C": {"own": [mine]}}
    house = GpuHouse(plan)
    assert starts(house.submit("/C", 1, unit=(("gpu", "0.5"),)))
    assert starts(house.submit("/B", 1, unit=(("cpu", "7"), ("gpu", "2"))))
    unit = house.live.attempts[2]
    assert (unit.pool, unit.lenders) == ("/", ("/A", "/C"))
    assert unit.parts == (
        *(("/", "cpu", "4"), ("/", "gpu", "2")),
        *(("/A", "cpu", "2"), ("/C", "cpu", "1")),
    )
    rows = house.plan.tree.rows
    books = {rows["/"]: (4000, 0, 2000), rows["/A"]: (2000, 0, 0), rows["/C"]: (1000, 0, 0)}
    assert state_of(house.live.cluster, house.now).allocations[1].parts == tuple(sorted(books.items()))
    house.end(1)  # what is idle now lets a unit that says nothing be booked otherwise
    assert [each.parts for each in house.live.attempts.values()] == [unit.parts]
    document = json.loads(json.dumps(freeze(house.live.cluster)))
    renamed = parse_plan(json.dumps(plan).replace('"C"', '"D"').replace('"/C"', '"/D"'), "plan")[0]
    there = thaw(document, open_cluster_books(renamed, 0), forgets=True, own="h1", moved={"/C": "/D"}).attempts[2]
    assert [path for path, name, _ in there.parts if name == "cpu"] == ["/", "/A", "/D"]
    gone = thaw(document, open_cluster_books(renamed, 0), forgets=True, own="h1").attempts[2]
    assert (gone.lenders, gone.parts) == (("/A",), ())


def test_a_plan_without_the_resources_of_jobs_is_not_applied() -> None:
    house = GpuHouse()
    house.submit("/A", 2)
    document = freeze(house.live.cluster)
    other = json.loads(json.dumps(GPUS).replace('"gpu": {}}', '"gpus": {}}').replace('"gpu": 4', '"gpus": 4'))
    other["policies"][0]["consumers"].pop("/C")
    with pytest.raises(
        InputError,
        match="jobs that have not ended need what the plan does not share, or not with their leaves: `j1`",
    ):
        thaw(document, open_cluster_books(parse_plan(json.dumps(other), "plan")[0], 0), forgets=True, own="h1")
    finer = json.loads(json.dumps(GPUS))
    finer["resources"]["gpu"] = {"base": 0.0001}
    cluster = thaw(document, open_cluster_books(parse_plan(json.dumps(finer), "plan")[0], 0), forgets=True, own="h1")
    assert [each.devices for each in cluster.attempts.values()] == [(0,), (1,)]
    vectors = cluster.books[POOLED].vectors
    assert vectors is not None
    assert vectors.ownership is not None
    assert vectors.ownership[0].amounts == (8000, 64 * 1024, 40000)


def test_an_attempt_is_told_how_long_it_may_run() -> None:
    """R-RUN-1: the nearest consumer on the way up says it, under vectors too."""
    plan = json.loads(json.dumps(GPUS))
    plan["policies"][0]["consumers"]["/B"] = {"max_run_time": "90s"}
    house = GpuHouse(plan)
    assert [each.longest for each in house.submit("/B") if isinstance(each, Start)] == [90_000_000]
    assert [each.longest for each in house.submit("/C") if isinstance(each, Start)] == [0]


def test_a_user_holds_no_more_than_the_limit_and_others_go_on() -> None:
    """R-USER-2: units of any size count; a gang beyond the limit is refused at once."""
    plan = json.loads(json.dumps(GPUS))
    plan["policies"][0]["consumers"]["/B"] = {"user_limit": 2}
    house = GpuHouse(plan)
    assert len(starts(house.submit("/B", 5, user="ann"))) == 2
    assert len(starts(house.submit("/B", 1, user="bob"))) == 1
    assert starts(house.end(1)) == [("j1", 2, 1)]
    with pytest.raises(InputError, match="the user limit of `/B` is 2"):
        house.submit("/B", 3, user="ann", min_count=3)
