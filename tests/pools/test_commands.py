"""`quota`, `cycle` and `windows` under `multidimensional`, alone and beside slots; what other commands say."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cli.explaining import print_explanation
from fairhold.cli.files import check_plan, print_cycle, print_quota
from fairhold.cli.owners import owners
from fairhold.cli.pools import ownership_text, percent
from fairhold.cli.windows import print_windows
from fairhold.cycle.document import run_cycle
from fairhold.errors import ArgumentError
from fairhold.model.vector import Owning, Resource, own_document
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state, state_document
from tests.pools.small import inputs, of, on, own, run

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]
PLAN = """\
fairhold: 1
resources: {cpu: {step: 0.5}, gpu: {}}
resource_groups:
  main: {hosts: [{name: "h[1-2]", cpu: 8, gpu: 2}]}
  slow: {slots: 10}
  big: {hosts: [{name: b1, cpu: 8, gpu: 2}]}
consumers: {A: {}, B: {}, C: {}}
policies:
  - resource_groups: [main]
    policy: multidimensional
    window: "Mon-Fri 08:00-18:00"
    consumers: {/A: {own: [{resource_group: main, hosts: 50%, lend_grace: 30s}]}, /B: {share_limit: {cpu: 4.5}}}
  - resource_groups: [main]
    policy: multidimensional
    consumers: {/B: {own: [{resource_group: main, per_host: {cpu: 50%, gpu: 1}}]}}
  - {resource_groups: [slow], policy: hybrid, consumers: {/A: {owned: 5}, /B: {owned: 5}}}
  - {resource_groups: [big], policy: multidimensional, consumers: {/C: {own: [{resource_group: big, hosts: 1}]}}}
"""
STATE = """\
fairhold_state: 1
now: 2026-01-05T09:00:00Z
demand: {/A: {slow: 8}, /B: {slow: 8}}
requests:
  - {id: a, consumer: /A, unit: {cpu: 2, gpu: 1}, count: 2}
  - {id: b, consumer: /B, unit: {cpu: 1}, count: 20}
  - {id: c, consumer: /C, unit: {cpu: 1, gpu: 1}, count: 20}
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    plan, state = tmp_path / "plan.yaml", tmp_path / "state.yaml"
    plan.write_text(PLAN)
    state.write_text(STATE)
    return plan, state


def test_a_cycle_shares_slots_and_the_vectors_of_every_entry_in_force() -> None:
    plan = parse_plan(PLAN, "plan.yaml")[0]
    cycle = run_cycle(plan, parse_state(STATE, plan, "state.yaml"))
    rows = [(row["consumer"], row["resource_group"], row["units"]) for row in cycle.document["grants"]]
    assert rows == [("/A", "slow", 5), ("/B", "slow", 5), ("/A", "main", 2), ("/B", "main", 4), ("/C", "big", 2)]
    assert list(cycle.document["resource_groups"]) == ["slow"]
    assert {name: list(pools) for name, pools in cycle.document["pools"].items()} == {"main": ["/"], "big": ["/"]}
    members = {name: list(pools["/"]["consumers"]) for name, pools in cycle.document["pools"].items()}
    assert members == {"main": ["/", "/A", "/B"], "big": ["/", "/C"]}
    text = json.dumps(state_document(plan, cycle.after))
    again = run_cycle(plan, parse_state(text, plan, "state.json"))
    assert [again.document[kind] for kind in ("grants", "reclaims", "withdrawn")] == [[], [], []]
    assert json.dumps(state_document(plan, again.after)) == text


def test_r_window_1_the_entry_in_force_counts() -> None:
    plan = parse_plan(PLAN, "plan.yaml")[0]
    night = STATE.replace("09:00", "20:00")
    rows = run_cycle(plan, parse_state(night, plan, "state.yaml")).document["ownership"]
    amounts = {"cpu": 4, "gpu": 1}
    assert rows[:2] == [{"host": host, "consumer": "/B", "amounts": amounts} for host in ("h1", "h2")]


def test_units_on_a_host_that_is_down_stay_until_somebody_says_that_they_are_gone() -> None:
    cycle = run({"/A": {}}, [of("/A", 2)], [on("h0", "A", 2)], hosts_down=["h0"])
    assert [(row.host, row.units) for row in cycle.after.allocations] == [("h0", 2)]
    assert cycle.document["grants"] == []


def test_what_fits_no_host_is_refused() -> None:
    cycle = run({"/A": {}}, [of("/A", 1, 5), of("/A", 1, 4, name="fits")])
    (row,) = cycle.document["refused"]
    assert row == {"request": "A", "reason": "unplaceable", "nearest": {"host": "h0", "missing": {"cpu": 1}}}


def test_grace_that_has_run_out_stops_and_the_space_is_held_for_its_taker() -> None:
    notice = {"request": "B", "host": "h0", "units": 4, "for": "A", "deadline": "2026-01-05T09:00:00Z"}
    consumers: Json = {"/A": {"share_priority": 2}, "/B": {"share_priority": 1}}
    plan, state = inputs(
        consumers, [of("/A", 1, 4), of("/B", 4)], [on("h0", "B", 4)], hosts={"h0": 4}, reclaims=[notice]
    )
    document = run_cycle(plan, state).document
    stop = {"consumer": "/B", "resource_group": "all", "request": "B", "host": "h0", "units": 4}
    assert document["stops"] == [stop]
    assert [(row["request"], row["units"]) for row in document["grants"]] == [("A", 1)]


def test_the_quota_is_told_in_a_table_for_each_pool(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    print_quota(*files, as_json=False)
    tables = capsys.readouterr().out.split("\n\n")
    assert tables[0].startswith("slow: 10 slots\n")
    assert tables[1].startswith("need: ")
    assert tables[2].splitlines() == [
        "main, public pool: cpu 8, gpu 2",
        "consumer  usage  usage demand  usage quota  ~cpu  ~gpu",
        "/         0%     150%          0%           0     0",
        "/A        0%     100%          0%           0     0",
        "/B        0%     50%           0%           0     0",
    ]


def test_the_cycle_is_told_in_tables(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    print_cycle(*files, None, as_json=False)
    text = capsys.readouterr().out
    assert "/B        main            b        h1        4  /     4 /A\n" in text
    assert text.endswith("Owned:\nconsumer  host  cpu  gpu\n/A        h1      8    2\n/C        b1      8    2\n")


def test_the_state_after_it_is_written(files: tuple[Path, Path], tmp_path: Path) -> None:
    after = tmp_path / "after.json"
    print_cycle(*files, after, as_json=True)
    document = json.loads(after.read_text())
    assert document["allocations"][1]["lenders"] == {"/A": 4}
    print_cycle(files[0], after, None, as_json=True)


def test_windows_tell_what_is_owned_and_what_each_switch_takes_back(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    print_windows(*files, "1d", "", as_json=True)
    switches = json.loads(capsys.readouterr().out)["switches"]
    by_day = {"resource_group": "main", "hosts": "50%", "lend_grace": "30s"}
    by_night = {"resource_group": "main", "per_host": {"cpu": "50%", "gpu": 1}}
    evening, morning = (each["consumers"] for each in switches)
    assert evening == {
        "/A": {"own": [[by_day], None]},
        "/B": {"own": [None, [by_night]], "share_limit": [{"cpu": 4.5}, None]},
    }
    assert morning["/B"]["share_limit"] == [None, {"cpu": 4.5}]
    assert [each["reclaims"] != [] for each in switches] == [False, True]
    assert {row["reason"] for row in switches[1]["reclaims"]} == {"limit"}
    print_windows(files[0], None, "1d", "2026-01-05T09:00:00Z", as_json=False)
    assert "resource_group main, hosts 50%, lend_grace 30s -> -" in capsys.readouterr().out


def test_check_knows_it(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    check_plan(files[0], as_json=False)
    text = capsys.readouterr().out
    assert "good; 3 consumers, 4 policy entries" in text
    lines = [line.split() for line in text.splitlines()]
    assert ["/A", "main", "policies[0]", "cpu", "8,", "gpu", "2", "h1"] in lines
    assert ["/B", "main", "policies[1]", "cpu", "8,", "gpu", "2", "parts", "of", "h1,", "h2"] in lines


def test_check_tells_who_would_own_what_as_a_cycle_assigns_it(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    check_plan(files[0], as_json=True)
    rows = json.loads(capsys.readouterr().out)["ownership"]
    half = {"cpu": 4, "gpu": 1}
    assert rows == [
        {
            "consumer": consumer,
            "resource_group": group,
            "hosts": hosts,
            "parts": parts,
            "amounts": {"cpu": 8, "gpu": 2},
            "entry": entry,
        }
        for consumer, group, hosts, parts, entry in (
            ("/A", "main", ["h1"], {}, 0),
            ("/B", "main", [], {"h1": half, "h2": half}, 1),
            ("/C", "big", ["b1"], {}, 3),
        )
    ]
    print_cycle(*files, None, as_json=True)
    in_force = json.loads(capsys.readouterr().out)["ownership"]
    told = [(row["consumer"], name, row["amounts"]) for row in rows if row["entry"] != 1 for name in row["hosts"]]
    assert told == [(row["consumer"], row["host"], row["amounts"]) for row in in_force]


def test_every_group_of_a_consumer_is_explained(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    print_explanation(*files, "/B", "", as_json=True)
    slots, pools = json.loads(capsys.readouterr().out)
    assert (slots["resource_group"], pools["resource_groups"]) == ("slow", ["main"])
    assert pools["share_limits"][0] == {
        "consumer": "/B",
        "resource": "cpu",
        "limit": 4.5,
        "used": 4,
        "under_notice": 0,
        "on_the_way": 0,
        "left": 0.5,
        "rule": "R-LIMIT-1",
    }
    print_explanation(*files, "/B", "main", as_json=False)
    text = capsys.readouterr().out
    assert text.startswith(
        "/B in main: holds 4, wants 20; 16 units of request b wait: a share limit is reached [R-LIMIT-1].\n"
    )
    assert "Borrows of /A (4) [R-LEND-5]" in text
    assert (
        "  4 on h1 in the public pool (4 on what /A owns), new; gives it back within 0s, the reclaim_grace of /B"
        in text
    )
    assert "    the public pool: a share limit is reached: /B has 4 of 4.5 cpu [R-LIMIT-1]\n" in text
    assert "    share_limit cpu 5 instead of 4.5 for /B: holds 5\n" in text


def test_what_is_owned_stands_in_the_order_of_the_plan_s_resources() -> None:
    """The first parcel has no CPUs."""
    hosts = {"h0": {"gpu": 2}, "h1": {"cpu": 4}}
    text = ownership_text(run({"/A": own(hosts=["h0"]), "/B": own(hosts=["h1"])}, [], hosts=hosts).document)
    assert text == "Owned:\nconsumer  host  cpu  gpu\n/A        h0      0    2\n/B        h1      4    0"


@pytest.mark.parametrize("policy", ["multidimensional", "fair_share"])
def test_requests_that_wait_alike_are_told_once_and_one_alone_by_its_name(
    policy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan, state = tmp_path / "plan.yaml", tmp_path / "state.yaml"
    entry = {"resource_groups": ["big"], "policy": policy, "consumers": {"/A": {}, "/B": {}}}
    hosts = {"hosts": [{"name": "h1", "cpu": 4}]}
    head = {"fairhold": 1, "resources": {"cpu": {}}, "resource_groups": {"big": hosts}}
    plan.write_text(json.dumps(head | {"consumers": {"A": {}, "B": {}}, "policies": [entry]}))
    asks = [{"id": f"r{at:02}", "consumer": "/A", "unit": {"cpu": 2}, "count": 1 + at % 2} for at in range(30)]
    asks.append({"id": "wide", "consumer": "/A", "unit": {"cpu": 9}, "count": 1})
    state.write_text(json.dumps({"fairhold_state": 1, "now": "2026-01-05T09:00:00Z", "requests": asks}))
    print_explanation(plan, state, "/A", "", as_json=False)
    text = capsys.readouterr().out
    named = "Requests r02, r03, r04, r05, r06, r07 and 22 more of /A: 42 units of cpu 2; holds 0, 42 wait.\n"
    assert named in text
    assert text.count(" of /A: ") == 4  # of the others one has what it wants, one half of it, and one fits no host
    assert "  request r02 would have more, with one of:\n" in text
    print_explanation(plan, state, "r29", "", as_json=False)
    alone = capsys.readouterr().out
    assert alone.startswith("Request r29 of /A: 2 units of cpu 2; holds 0, 2 wait.\n")
    assert "  It would have more, with one of:\n" in alone
    print_explanation(plan, state, "r29", "", as_json=True)
    (told,) = json.loads(capsys.readouterr().out)
    assert (told["consumer"], [row["request"] for row in told["requests"]]) == ("/A", ["r29"])
    print_explanation(plan, state, "/A", "", as_json=True)
    assert len(json.loads(capsys.readouterr().out)[0]["requests"]) == len(asks)
    with pytest.raises(ArgumentError, match=r"(?s)no request `r30` in the state.*did you mean `r\d\d`\?"):
        print_explanation(plan, state, "r30", "", as_json=False)
    with pytest.raises(ArgumentError, match=r"requests are: r00, r01, .*, r09, …; a consumer is"):
        print_explanation(plan, state, "Trading", "", as_json=False)
    with pytest.raises(ArgumentError, match="no consumer `/r29`"):
        print_explanation(plan, state, "/r29", "", as_json=False)


def test_whoever_shares_no_group_is_told_so(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    print_explanation(*files, "/C", "main", as_json=False)
    assert capsys.readouterr().out == "/C takes no part in main\n"
    with pytest.raises(ArgumentError, match="did you mean `main`"):
        print_explanation(*files, "/C", "mian", as_json=False)


def test_percentages_are_short_and_never_hide_what_is_there() -> None:
    told = [percent(text) for text in ("0", "1", "1/3", "3/2", "1/2000", "1/1999", "1/3000")]
    assert told == ["0%", "100%", "33.3%", "150%", "<0.1%", "0.1%", "<0.1%"]


def test_own_entries_are_told_as_a_plan_writes_them() -> None:
    resources = (Resource("cpu"), Resource("gpu"))
    stated: list[tuple[Json, Json]] = [
        (
            {"remaining": True, "preference": 2, "reserved": True},
            {"hosts": "remaining", "preference": 2, "reserved": True},
        ),
        ({"percent": Fraction(25, 200)}, {"hosts": "12.5%"}),
        ({"names": ("h1", "h2")}, {"hosts": ["h1", "h2"]}),
        (
            {"total": ((1, 1500),), "reclaim_before_next_level": True},
            {"total": {"gpu": 1.5}, "reclaim_before_next_level": True},
        ),
    ]
    told = [own_document(resources, Owning("all", **values)) for values, _ in stated]
    assert told == [{"resource_group": "all", **expected} for _, expected in stated]


def test_check_says_of_whole_hosts_that_they_are_whole_whatever_is_overcommitted() -> None:
    plan, _ = inputs({"/A": own(hosts=1)}, [], resources={"cpu": {"overcommit": 1.5}}, hosts={"h0": 3, "h1": 3})
    (row,) = owners(plan)
    assert (row["hosts"], row["parts"], row["amounts"]) == (["h0"], {}, {"cpu": 3})
