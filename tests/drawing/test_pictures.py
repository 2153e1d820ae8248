"""What written plans look like, and that the pictures of the documentation are what the command draws."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cli.drawing import draw_plan
from fairhold.drawing.picture import draw
from fairhold.errors import ArgumentError, UsageError
from fairhold.planio.plan import parse_plan, read_plan
from fairhold.planio.state import parse_state, read_state
from tests.docs.console import ROOT
from tests.drawing.reading import read
from tests.pools.small import inputs, of, on, own

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.model.plan import Plan
    from fairhold.model.state import State
    from tests.drawing.reading import Picture

Json = dict[str, Any]
EXAMPLES = ROOT / "examples"
_MADE = re.compile(r"fairhold plan draw (\S+)(?: --state (\S+))? --output \S*?(pictures/\S+\.svg)")


def made() -> list[tuple[str, str, str]]:
    """(plan, state or nothing, picture) of every command that docs/pictures/README.md names."""
    return _MADE.findall((ROOT / "docs/pictures/README.md").read_text())


@pytest.mark.parametrize(("plan", "state", "picture"), made(), ids=lambda name: name.rpartition("/")[2])
def test_pictures_of_the_documentation_are_what_the_command_draws(
    plan: str, state: str, picture: str, tmp_path: Path
) -> None:
    drawn = tmp_path / "drawn.svg"
    draw_plan(ROOT / plan, ROOT / state if state else None, "", drawn)
    assert drawn.read_bytes() == (ROOT / "docs" / picture).read_bytes()
    assert list(read(drawn.read_text()).faults()) == []


def test_every_picture_that_is_drawn_is_named_there() -> None:
    drawn = {path.name for path in (ROOT / "docs/pictures").glob("*.svg") if "fairhold-lent" in path.read_text()}
    assert drawn == {picture.rpartition("/")[2] for _, _, picture in made()}


def picture_of(plan: Plan, state: State | None = None, group: str = "") -> Picture:
    picture = read(draw(plan, state, group))
    assert list(picture.faults()) == []
    return picture


def file_plan(name: str, *, state: str = "", group: str = "") -> Picture:
    plan = read_plan(EXAMPLES / name)[0]
    return picture_of(plan, read_state(EXAMPLES / state, plan) if state else None, group)


PLANS = [
    path
    for path in sorted(EXAMPLES.rglob("*.yaml"))
    if path.read_text().startswith("fairhold: 1") and path.parent.parent.name != "policies"  # these need their package
]


@pytest.mark.parametrize(
    "path", [path for path in PLANS if path.name != "broken.yaml"], ids=lambda path: str(path.relative_to(EXAMPLES))
)
def test_every_example_can_be_drawn(path: Path) -> None:
    plan = read_plan(path)[0]
    assert picture_of(plan).rows


def test_owners_lend_by_arrows_with_both_limits() -> None:
    picture = file_plan("ownership/plan.yaml", state="ownership/night.yaml")
    assert "/Bank/Risk may lend to /Research (≤ 3), /Lab (≤ 4)" in picture.titles
    assert "/Bank/Risk: owned 8; reserved 2; wants 0; holds 0; quota 2" in picture.titles
    assert {"owned", "reserved", "may lend to", "quota"} <= set(picture.texts)


def slots(consumers: Json, policy: str = "ownership", **more: Any) -> Plan:
    plan = {
        "fairhold": 1,
        "resource_groups": {"g": {"slots": 20}},
        "consumers": {path: {} for path in consumers},
        "policies": [{"resource_groups": ["g"], "policy": policy, "consumers": consumers}],
    }
    return parse_plan(json.dumps(plan | more), "plan.json")[0]


def test_queues_are_told_resource_by_resource() -> None:
    told = file_plan("queues/plan.yaml").titles
    assert "/Research/Vision: priority 100; reclaim_grace 30s; weight 2; deserved 4" in told
    picture = file_plan("queues/plan.yaml", state="queues/state.yaml")
    assert (
        "/Product: priority 50; reclaim_grace 30s; weight 1; deserved 4; wants 8; holds 6; fair share 4"
        in picture.titles
    )
    assert {"deserved", "held beyond what it deserves", "fair share", "gpu 16"} <= set(picture.texts)
    assert not any("owns" in text or "Pools" in text for text in picture.texts)


def test_a_queue_without_limit_has_none_drawn_and_all_is_told_in_words() -> None:
    resources: Json = {"cpu": {}, "memory": {"unit": "GiB"}}
    stated: Json = {
        "/a": {"deserved": {"cpu": "unlimited"}, "limit": {"memory": 1.5}, "preemption_delay": "1m"},
        "/b": {"over_quota_weight": {"memory": 0.00005}, "reclaim_min_runtime": "10m"},
    }
    groups: Json = {"g": {"hosts": [{"name": "h", "cpu": 4, "memory": 2}]}}
    titles = picture_of(slots(stated, "fair_share", resources=resources, resource_groups=groups)).titles
    assert titles.count("/") == 2
    assert "/a: preemption_delay 1m; deserved all" in titles
    assert "/a: weight 1; limit 1.5" in titles
    assert "/b: reclaim_min_runtime 10m" in titles
    assert "/b: weight 0.00005" in titles
    totals: Json = {"g": {"capacity": {"cpu": 4}}}
    assert (
        "/b: reclaim_min_runtime 10m"
        in picture_of(slots(stated, "fair_share", resources=resources, resource_groups=totals)).titles
    )


def test_a_list_of_one_side_only_is_told_as_such_and_what_is_lent_now_too() -> None:
    lists: Json = {
        "/a": {"owned": 5, "lend_to": [{"consumer": "/b", "limit": 3}, {"consumer": "/c"}]},
        "/b": {"owned": 5, "borrow_from": [{"consumer": "/a"}]},
        "/c": {"owned": 5},
    }
    plan = slots(lists)
    loan = {"borrower": "/b", "lender": "/a", "resource_group": "g", "units": 2}
    state = {"fairhold_state": 1, "now": "2026-01-05T09:00:00Z", "borrowed": [loan]}
    assert "/a may lend to /b (≤ 3), /c (one side only)" in picture_of(plan).titles
    told = picture_of(plan, parse_state(json.dumps(state), plan, "s")).titles
    assert "/a may lend to /b (2 lent, ≤ 3), /c (one side only)" in told


def test_who_lends_to_each_other_has_an_arrow_each_way() -> None:
    picture = file_plan("ownership/mutual.yaml", state="ownership/both.yaml")
    assert [title for title in picture.titles if "may lend to" in title] == [
        "/Film may lend to /Science (any)",
        "/Science may lend to /Film (3 lent, ≤ 3)",
    ]
    assert tuple(picture.faults()) == ()


def test_many_lenders_are_told_in_words() -> None:
    both: Json = {
        f"/c{at}": {
            "owned": 1,
            "lend_to": [{"consumer": f"/c{at + 1}"}] if at < 20 else [],
            "borrow_from": [{"consumer": f"/c{at - 1}"}] if at else [],
        }
        for at in range(21)
    }
    picture = picture_of(slots(both))
    assert "/c3: owned 1; may lend to /c4 any" in picture.titles
    assert not any("may lend to /c4 (" in title for title in picture.titles)


def test_planned_shares_are_exact_or_marked() -> None:
    ratios = {"/a": {"share_ratio": 2}, "/b": {"share_ratio": 1}, "/c": {"limit": 7}}
    titles = picture_of(slots(ratios, "share_ratio")).titles
    assert titles[2:4] == ["/a: share_ratio 2; planned 10", "/b: share_ratio 1; planned 5"]
    thirds: Json = {"/a": {}, "/b": {}, "/c": {}}
    assert "/a: planned ~6.67" in picture_of(slots(thirds, "share_ratio")).titles


def test_a_picture_for_every_window_named() -> None:
    texts = file_plan("windows/plan.yaml").texts
    assert "compute, 100 slots: hybrid, Mon-Fri 08:00-18:00, quarter_end 06:00-24:00" in texts
    assert "compute, 100 slots: hybrid, at all other times" in texts
    now = file_plan("windows/plan.yaml", state="windows/state.yaml").texts
    assert sum(text.startswith("compute, ") for text in now) == 1


def test_a_plan_of_several_groups_is_drawn_group_by_group() -> None:
    plan = slots({"/a": {"owned": 5}}, "hybrid", resource_groups={"g": {"slots": 20}, "h": {"slots": 3}})
    assert [text for text in picture_of(plan).texts if "hybrid" in text] == ["g, 20 slots: hybrid"]
    both = slots({"/a": {"owned": 5}, "/b": {}}, "hybrid")
    assert picture_of(both, group="g").rows
    assert picture_of(both, group="other").rows == []


def test_parcels_are_told_with_owner_amounts_and_bound() -> None:
    plan, _ = inputs(
        {"/A": own(hosts=["h0"]), "/A/x": own(per_host={"cpu": 1}, reserved=True), "/B": own(per_host={"cpu": "50%"})},
        [],
    )
    titles = picture_of(plan).titles
    assert "h0: /A/x cpu 1, reserved; /A cpu 3" in titles
    assert "private pool of /A: /A cpu 3" in titles
    assert "h1: /B cpu 2; nobody cpu 2" in titles
    assert "public pool: nobody cpu 2" in titles


def test_units_are_told_with_lender_deadline_and_taker() -> None:
    plan, state = inputs(
        {"/A": own(hosts=["h0"]), "/B": {}},
        [of("/A", 2), of("/B", 6)],
        [on("h0", "B", 3, A=3), on("h1", "B", 1)],
        reclaims=[{"request": "B", "host": "h0", "units": 2, "for": "A", "deadline": "2026-01-05T09:00:30Z"}],
        hosts_down=["h1"],
    )
    texts = picture_of(plan, state).texts
    assert {"1 \N{MULTIPLICATION SIGN} B, lent by A", "2 \N{MULTIPLICATION SIGN} B, lent by A"} <= set(texts)
    assert "stops by 09:00:30Z, for A" in texts
    assert "down" in texts
    assert {"lent, and used by whom", "under notice"} <= set(texts)
    assert "lent, and used by whom" not in picture_of(plan).texts


def test_a_deadline_of_another_day_is_told_with_its_day() -> None:
    notice = {"request": "B", "host": "h0", "units": 1, "for": None, "deadline": "2026-01-06T09:00:30Z"}
    plan, state = inputs({"/A": {}, "/B": {}}, [of("/B", 1)], [on("h0", "B", 1)], reclaims=[notice])
    assert "2026-01-06T09:00:30Z" in picture_of(plan, state).texts


def test_what_is_kept_for_a_taker_is_told() -> None:
    plan, state = inputs(
        {"/A": {}, "/B": {}}, [of("/A", 2), of("/B", 1)], held=[{"request": "A", "host": "h0", "units": 1}]
    )
    assert "kept for whom it was freed" in picture_of(plan, state).texts


@pytest.mark.parametrize(("hosts", "boxes"), [(40, 40), (2_000, 3)])
def test_many_hosts_that_are_alike_are_told_as_one(hosts: int, boxes: int) -> None:
    names = {f"h{at:04}": 4 for at in range(hosts)}
    plan, _ = inputs({"/A": own(hosts=7), "/B": own(hosts=3)}, [], hosts=names)
    picture = picture_of(plan)
    assert len(picture.of("host")) == boxes
    assert ("1990 hosts" in picture.texts) == (boxes == 3)


def test_hosts_of_one_owner_are_one_box_where_they_differ_too_much() -> None:
    names = {f"h{at:03}": 1 + at for at in range(100)}
    plan, _ = inputs({"/A": own(hosts="50%"), "/B": own(hosts="remaining")}, [], hosts=names)
    picture = picture_of(plan)
    assert len(picture.of("host")) == 2
    assert {"cpu 1275", "cpu 3775"} <= set(picture.texts)


def test_many_requests_on_a_host_are_told_by_consumer() -> None:
    requests = [of("/B", 1, name=f"r{at}") for at in range(7)]
    stands = [on("h0", "r0", 1, A=1), on("h0", "r1", 1, A=1), *(on("h0", f"r{at}", 1) for at in range(2, 7))]
    notice = {"request": "r0", "host": "h0", "units": 1, "for": "A", "deadline": "2026-01-05T09:00:30Z"}
    told = {"/A": own(per_host={"cpu": 2}), "/B": {}}
    plan, state = inputs(told, [of("/A", 1), *requests], stands, hosts={"h0": 8}, reclaims=[notice])
    assert {"7 units, 2 of them lent", "1 under notice"} <= set(picture_of(plan, state).texts)


def test_an_unknown_group_and_a_file_that_is_an_input_are_refused(tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text((EXAMPLES / "tutorial/plan.yaml").read_text())
    with pytest.raises(ArgumentError, match="no resource group `compote`") as caught:
        draw_plan(plan, None, "compote", None)
    assert caught.value.faults[0].mend == "did you mean `compute`?"
    with pytest.raises(UsageError, match="--output names the plan"):
        draw_plan(plan, None, "", plan)
    with pytest.raises(UsageError, match="--output names the state"):
        draw_plan(EXAMPLES / "tutorial/plan.yaml", plan, "", plan)


def test_without_a_file_it_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    plan = EXAMPLES / "tutorial/plan.yaml"
    draw_plan(plan, None, "compute", None)
    assert capsys.readouterr().out == draw(read_plan(plan)[0]) + "\n"
