"""Labels, spread, pack and whole hosts in the live orchestrator (R-SITE-1 to R-SITE-3, R-HOSTS-1)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cycle.open import open_books
from fairhold.errors import InputError
from fairhold.model.siting import Siting, shown_labels
from fairhold.model.state import State
from fairhold.orchestrator.events import MachineReported
from fairhold.orchestrator.fitting import check_hosts
from fairhold.planio.plan import parse_plan
from fairhold.runtime.live.views.waiting import reason_of
from tests.live.play import Play
from tests.orchestrator.house import House, places
from tests.orchestrator.test_freeze import thawed
from tests.packing.play import plan_of

if TYPE_CHECKING:
    from pathlib import Path

LABELS = {"a1": ["zone=a"], "a2": ["zone=a", "ssd"], "b1": {"zone": "b", "gpu": "h100"}}


def plan_text(packing: str = "stacked", group: str = "c", sizes: dict[str, int] | None = None) -> str:
    plan = plan_of(packing, sizes or {"a1": 2, "a2": 3, "b1": 4}, {"/A": 4, "/B": 5})
    plan["resource_groups"] = {group: plan["resource_groups"].pop("g")}
    plan["policies"][0]["resource_groups"] = [group]
    for host in plan["resource_groups"][group]["hosts"]:
        host["labels"] = LABELS.get(host["name"], [])
    return json.dumps(plan)


def house_of(packing: str = "stacked", **sizes: int) -> House:
    return House(plan=parse_plan(plan_text(packing, sizes=sizes), "plan")[0])


@pytest.mark.parametrize(
    ("siting", "hosts"),
    [
        (Siting(need=("zone=b",)), {"b1": 2}),
        (Siting(need=("gpu",)), {"b1": 2}),
        (Siting(need=("zone=a",), prefer=("ssd",)), {"a2": 2}),
        (Siting(avoid=("zone=a",)), {"b1": 2}),
        (Siting(place="spread"), {"a1": 1, "a2": 1}),
        (Siting(prefer=("zone=b",), place="spread"), {"b1": 2}),
    ],
)
def test_tasks_go_where_they_may_stand(siting: Siting, hosts: dict[str, int]) -> None:
    """R-SITE-1, R-SITE-3: two tasks of one slot."""
    started: dict[str, int] = {}
    for place in places(house_of().submit(count=2, siting=siting)):
        started |= {host: started.get(host, 0) + units for host, units in place.items()}
    assert started == hosts


def test_all_units_of_a_task_that_packs_are_on_one_host() -> None:
    """R-SITE-3."""
    house = house_of()
    assert places(house.submit(units=3)) == [{"a1": 2, "a2": 1}]
    assert places(house.submit(units=3, siting=Siting(place="pack"))) == [{"b1": 3}]


@pytest.mark.parametrize(
    ("siting", "units", "what"),
    [
        (Siting(need=("zone=c",)), 1, "there is no host with zone=c: the nearest, `a1`, lacks zone=c"),
        (Siting(need=("zone=a", "gpu")), 1, "there is no host with zone=a, gpu: the nearest, `a1`, lacks gpu"),
        (Siting(avoid=("zone",)), 1, "there is no host without zone: the nearest, `a1`, has zone"),
        (
            Siting(need=("ssd",), avoid=("zone=a",)),
            1,
            "there is no host with ssd and without zone=a: the nearest, `a2`, has zone=a",
        ),
        (Siting(place="pack"), 5, "no host has 5 slots for it at once: the nearest, `b1`, has 4"),
        (Siting(need=("zone=a",), place="pack"), 4, "the nearest, `a2`, has 3, of those with zone=a"),
        (Siting(need=("zone=a",)), 6, "the hosts with zone=a have 5 slots together, and a task needs 6 at once"),
    ],
)
def test_what_no_host_can_take_is_refused_with_the_nearest(siting: Siting, units: int, what: str) -> None:
    """R-SITE-2."""
    with pytest.raises(InputError) as caught:
        house_of().submit(units=units, siting=siting)
    (fault,) = caught.value.faults
    assert fault.code == "never-fits"
    assert what in fault.what


def test_a_group_without_hosts_has_none_that_is_the_nearest() -> None:
    """R-SITE-2."""
    plan = json.loads(plan_text())
    plan["resource_groups"] = {"c": {"slots": 9}}
    books = open_books(parse_plan(json.dumps(plan), "plan")[0], State(now=0))["c"]
    check_hosts(books, 1, Siting(avoid=("gpu",)))
    with pytest.raises(InputError, match="no host with gpu: `c` is a number of slots, without hosts"):
        check_hosts(books, 1, Siting(need=("gpu",)))


def test_a_slot_is_handed_over_only_where_it_will_do() -> None:
    """R-SITE-1: a1 is full of A's tasks; a task that needs zone=b does not get the slot of one that ends there."""
    house = house_of()
    house.submit("/A", count=2)
    house.submit("/A", count=9, siting=Siting(need=("zone=b",)))
    assert places(house.end(1)) == []


def test_nothing_is_handed_over_where_hosts_are_one_consumers() -> None:
    """R-HOSTS-1: the next unit goes where most are, so that the other host becomes empty."""
    house = house_of("exclusive", a1=2, b1=3)
    house.submit("/A", count=6)
    house.submit("/B", count=9)
    assert {host for place in places(house.end(1)) for host in place} <= {"a1", "b1"}
    books = house.live.books["c"]
    by_host: dict[str, set[int]] = {books.hosts.name[host]: set() for host in range(2)}
    for allocation in house.live.cluster.attempt_of["c"]:
        leaf = books.requests.leaf[books.allocations.request[allocation]]
        by_host[books.hosts.name[books.allocations.host[allocation]]].add(leaf)
    assert all(len(leaves) <= 1 for leaves in by_host.values())


def test_what_a_job_says_of_hosts_is_kept() -> None:
    house = house_of()
    house.submit(count=9, siting=Siting(("zone=b",), ("ssd",), (), "spread"))
    cluster = thawed(house, house.plan)
    assert cluster.jobs["j1"].terms.siting == (("zone=b",), ("ssd",), (), "spread")
    assert [*cluster.books["c"].requests.siting.values()] == [Siting(("zone=b",), ("ssd",), (), "spread")]


def test_an_agent_says_what_its_host_has() -> None:
    """R-SITE-1: beside the plan's labels, which come first; kept in a snapshot."""
    house = house_of()
    house.take(MachineReported("b1", "boot", 0, labels=("disk=fast", "zone=c")))
    out = house.submit(siting=Siting(need=("disk=fast", "zone=b")))
    assert places(out) == [{"b1": 1}]
    for cluster in (house.live.cluster, thawed(house, house.plan)):
        labels = cluster.books["c"].hosts.labels[2]
        assert labels == {"zone", "zone=b", "gpu", "gpu=h100", "disk", "disk=fast"}
        assert shown_labels(labels) == ["disk=fast", "gpu=h100", "zone=b"]


@pytest.mark.parametrize("snapshot", [False, True])
def test_a_job_says_which_host_it_waits_for(tmp_path: Path, snapshot: bool) -> None:  # noqa: FBT001
    """R-SITE-1: also after a start, from the log or a snapshot."""
    play = Play(tmp_path, plan_text(group="compute"))
    for host in LABELS:
        play.report(host)
    terms: dict[str, Any] = {"siting": Siting(need=("zone=b",))}
    play.submit("/A", 6, **terms)
    play.submit("/B", 1, units=2, siting=Siting(place="pack"))
    play.pass_time(2_000_000)
    play.restart(snapshot=snapshot)
    for host in LABELS:
        play.report(host)
    play.pass_time(2_000_000)
    reason = reason_of(play.core, play.core.cluster.jobs["1"])
    assert reason is not None
    assert (reason.code, reason.text) == ("site", "it waits for a host with zone=b")
