"""The service in a few numbers over HTTP, and its state as a file."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cli.live.status import status_text
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from fairhold.runtime.live.views.consumer_versions import KEPT
from tests.service.support import PLAN, Bank
from tests.service.test_plan import put

if TYPE_CHECKING:
    from pathlib import Path

HOSTS = """\
fairhold: 1
resource_groups: {compute: {hosts: [{name: "g[01-20]", slots: 2}, {name: h1, slots: 2}]}}
consumers: {A: {}}
policies: [{resource_groups: [compute], policy: hybrid}]
"""


def test_an_idle_service_waits_for_nothing(bank: Bank) -> None:
    found = bank.get("/status")
    assert found["service"]["state"] == "ok"
    assert found["service"]["address"] == "http://127.0.0.1:7878"
    assert found["service"]["directory"] == str(bank.place)
    assert (found["plan"]["version"], found["plan"]["author"]) == (1, "ann")
    assert found["hosts"] == {"all": 1, "up": 1, "others": []}
    assert found["resource_groups"] == {"compute": {"slots": {"total": 4, "used": 0}, "resources": None}}
    assert found["waiting"] == {"tasks": 0, "jobs": 0, "oldest": None}
    assert found["reclaiming"] == {"attempts": 0, "units": 0, "next": None}


def test_consumers_are_told_as_they_differ_from_what_was_seen(bank: Bank) -> None:
    first = bank.get("/consumers?since=0")
    assert first["since"] is None
    whole = bank.get("/consumers")
    assert (whole["version"], whole["resource_groups"]) == (None, first["resource_groups"])
    same = bank.get(f"/consumers?since={first['version']}")
    assert (same["version"], same["since"]) == (first["version"], first["version"])
    assert same["resource_groups"]["compute"]["consumers"] == []
    bank.submit(consumer="/Trading/FX", hold=True)
    assert bank.get(f"/consumers?since={first['version']}")["version"] == first["version"]
    bank.submit(consumer="/Trading/FX", count=2)
    bank.hub.wait_started(2)
    told = bank.get(f"/consumers?since={first['version']}")
    rows = {row["path"]: row for row in told["resource_groups"]["compute"]["consumers"]}
    assert told["since"] == first["version"] < told["version"]
    assert {"/Trading", "/Trading/FX"} == rows.keys()
    seen = {row["path"]: row for row in first["resource_groups"]["compute"]["consumers"]}
    assert [*(seen | rows).values()] == bank.get("/consumers")["resource_groups"]["compute"]["consumers"]
    part = bank.get(f"/consumers?since={first['version']}&consumer=/Research")
    assert part["version"] is None


RICH = """\
fairhold: 1
time_zone: UTC
resource_groups: {compute: {slots: 6}}
consumers: {A: {rank: 1, consumers: {A1: {}, A2: {}}}, B: {rank: 0}, C: {}}
policies:
  - resource_groups: [compute]
    policy: hybrid
    window: Mon-Sun 00:00-23:59
    consumers:
      /A: {owned: 3, reserved: 1, limit: 5}
      /A/A1: {owned: 2}
      /B: {owned: 2, user_limit: 3}
  - {resource_groups: [compute], policy: hybrid}
"""


@pytest.mark.parametrize("seed", range(3))
def test_what_differs_put_over_what_was_seen_is_all_there_is(seed: int, tmp_path: Path) -> None:
    """Random work, notices and plans: at every step the parts add up to the whole."""
    random = Random(seed)
    with Bank(tmp_path / "state", plan=RICH) as bank:
        seen: dict[str, Any] = {}
        version, compared, plans = 0, 0, 1
        for step in range(25):
            leaf, what = random.choice(["/A/A1", "/A/A2", "/B", "/C"]), random.random()
            if what < 0.6:
                bank.submit(consumer=leaf, count=random.randint(1, 6), hold=random.random() < 0.2)
            elif what < 0.9 and bank.hub.started:
                bank.hub.end(random.choice([*bank.hub.started]))
            elif step:
                put(
                    bank,
                    RICH.replace("/B: {owned: 2,", f"/B: {{owned: {random.randint(0, 3)}, limit: 5,"),
                    f'"{plans}"',
                )
                plans += 1
            told = bank.get(f"/consumers?since={version}")
            whole = bank.get("/consumers")["resource_groups"]
            if bank.get(f"/consumers?since={told['version']}")["version"] != told["version"]:
                version = 0  # something happened in between
                continue
            compared += 1
            version, groups = told["version"], told["resource_groups"]
            rows = {row["path"]: row for row in groups["compute"]["consumers"]}
            seen = rows if told["since"] is None else seen | rows
            assert [*seen.values()] == whole["compute"]["consumers"]
            assert {**groups["compute"], "consumers": 0} == {**whole["compute"], "consumers": 0}
            near = bank.get("/consumers?consumer=/A/A1")["resource_groups"]["compute"]["consumers"]
            assert [row["path"] for row in near] == [path for path in seen if path.count("/") == 1 or path[:3] == "/A/"]
        assert compared > 10


def test_other_consumers_or_a_version_that_is_gone_are_told_whole(bank: Bank) -> None:
    version = bank.get("/consumers?since=0")["version"]
    put(bank, PLAN.replace("Research: {}}", "Research: {}, Risk: {}}"))
    told = bank.get(f"/consumers?since={version}")
    assert told["since"] is None
    assert "/Risk" in {row["path"] for row in told["resource_groups"]["compute"]["consumers"]}
    for _ in range(KEPT):
        bank.submit(consumer="/Risk", count=5)
        bank.get("/consumers?since=0")
    assert bank.get(f"/consumers?since={told['version']}")["since"] is None


def test_who_waits_and_what_is_under_notice(bank: Bank) -> None:
    bank.submit(count=6)
    bank.hub.wait_started(4)
    bank.submit(consumer="/Trading/Risk", count=2)
    bank.submit(hold=True)
    bank.hub.wait_started(5)
    found = bank.get("/status")
    assert found["resource_groups"]["compute"]["slots"] == {"total": 4, "used": 4}
    assert found["waiting"]["jobs"] <= 2
    assert (found["waiting"]["oldest"]["job"], found["waiting"]["oldest"]["consumer"]) == ("1", "/Research")
    last = bank.get("/cycles?limit=1")["cycles"][0]
    assert found["cycle"]["number"] <= last["number"]
    lines = dict(line.split("  ", 1) for line in status_text(found).splitlines())
    assert lines["compute"].strip() == "4/4 slots used"
    assert "the longest: job 1 of /Research, for" in lines["waiting"]


def test_hosts_that_are_not_up_are_folded(tmp_path: Path) -> None:
    with Bank(tmp_path / "state", plan=HOSTS) as bank:
        found = bank.get("/status")
        assert found["hosts"]["all"] == 21
        (down,) = found["hosts"]["others"]
        assert (down["state"], down["count"], down["hosts"]) == ("unseen", 21, ["g[01-20]", "h1"])
        assert "hosts         0 of 21 up; 21 never seen: g[01-20], h1" in status_text(found)
        found["hosts"] = {"all": 1, "up": 0, "others": [{"state": "closed", "count": 1, "hosts": ["-"]}]}
        assert "hosts         0 of 1 up; 1 closed: the service's own\n" in status_text(found)


def test_the_state_is_one_that_files_have(bank: Bank) -> None:
    bank.submit(count=6)
    bank.hub.wait_started(4)
    found = bank.get("/state")
    assert (found["plan"], found["unsaid"]) == (1, [])
    plan = parse_plan(PLAN, "plan")[0]
    state = parse_state(json.dumps(found["state"]), plan, "state")
    assert sum(each.units for each in state.allocations) == 4
    assert [each.count for each in state.requests] == [6]
