"""What may come of a governed cluster, whose plan has nodes as hosts: forecasts, other numbers, its state."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from fairhold.cycle.document import run_cycle
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from fairhold.service.exploring import explored, windows_ahead
from fairhold.service.forecasting import lookout
from fairhold.service.planning import Frozen, state_now
from fairhold.sim.forecaster import answer
from fairhold.units import SECOND, parse_instant
from tests.engines.kubernetes.pretended import node
from tests.live.governed import PLAN, Governed

if TYPE_CHECKING:
    from pathlib import Path

SLOTS = (
    PLAN.replace("resources: {gpu: {base: 1}}\n", "")
    .replace("{nodes: {}}", "{nodes: {}, slot: {nvidia.com/gpu: 1}}")
    .replace("fair_share", "hybrid")
    .replace("{deserved: {gpu: 2}}", "{owned: 2}")
)


@pytest.fixture(params=[PLAN, SLOTS], ids=["resources", "slots"])
def governed(request: pytest.FixtureRequest, tmp_path: Path) -> Governed:
    """A node of four GPUs, which /risk has; one pod of it waits, and one of /trading."""
    made = Governed(tmp_path, request.param)
    for number in range(5):
        made.pod(f"p{number}")
    made.settle()
    for number in range(4):
        made.run(f"p{number}")
    made.pod("owner", "trading")
    made.settle()
    return made


def frozen_of(governed: Governed) -> tuple[Frozen, str]:
    frozen = Frozen(governed.core)
    while frozen.step(governed.core):
        pass
    plan = governed.core.store.plan()
    assert plan is not None
    return frozen, plan.text


def expected(governed: Governed) -> dict[str, int]:
    """Job → when it will start at the latest that is probable, with pods that run for a minute."""
    asked = lookout(*frozen_of(governed), [("/risk", 60 * SECOND)] * 9)
    found = answer(json.loads(json.dumps(asked)) | {"all": True})["expected"]["jobs"]
    return {job: parse_instant(each["p90"]) or 0 for job, each in found.items()}


def test_a_forecast_knows_the_nodes_as_they_are(governed: Governed) -> None:
    now, first = governed.core.now(), expected(governed)
    assert len(first) == 2
    assert now + 50 * SECOND < min(first.values()) <= max(first.values()) < now + 130 * SECOND
    governed.governor.see_node(node("n1"))
    governed.core.orchestrator.is_closing = True  # so that the nodes are there, and nothing has begun yet
    governed.settle()
    governed.core.orchestrator.is_closing = False
    now, second = governed.core.now(), expected(governed)
    assert second == {} or max(second.values()) < now + 2 * SECOND


def test_the_state_goes_with_a_plan_that_says_all_hosts(governed: Governed) -> None:
    frozen, text = frozen_of(governed)
    found = state_now(frozen, text)
    assert found["unsaid"] == []
    plan = parse_plan(found["plan_text"], "plan.yaml", places=True)[0]
    (hosts,) = (group.hosts for group in plan.resource_groups.values())
    assert [(host.name, host.slots or host.amounts) for host in hosts] in ([("n0", (4,))], [("n0", 4)])
    assert "fairhold.io/node" in dict(hosts[0].labels)
    decided = run_cycle(plan, parse_state(json.dumps(found["state"]), plan, "state.json", places=True)).document
    assert [decided[kind] for kind in ("grants", "reclaims", "withdrawn")] == [[], [], []]


def test_other_numbers_can_be_tried_on_the_nodes(governed: Governed) -> None:
    frozen, text = frozen_of(governed)
    key = "deserved.gpu" if "gpu: {base" in text else "owned"
    found = explored(frozen, text, [f"/trading:{key}=0"], "/risk")
    assert {"consumer": "/trading", "key": key, "before": 2, "after": 0} in [
        {name: each[name] for name in ("consumer", "key", "before", "after")} for each in found["differences"]
    ]
    assert found["findings"] == []
    assert found["why"]["after"]


def test_what_a_window_takes_back_is_told_for_nodes(tmp_path: Path) -> None:
    head, entry = SLOTS.split("policies:\n")
    at_ten = entry.replace("hybrid\n", "hybrid\n    window: Mon-Sun 10:00-12:00\n").rstrip()
    at_ten = at_ten.replace("/trading: {owned: 2}", "/trading: {owned: 4}").replace("/risk: {owned: 2}", "/risk: {}")
    governed = Governed(tmp_path, f"{head}policies:\n{at_ten}\n{entry}")
    for number in range(6):
        governed.pod(f"p{number}", "risk" if number < 2 else "trading")
    governed.settle()
    opens, closes = windows_ahead(*frozen_of(governed), 5 * 3_600 * SECOND, with_reclaims=True)["switches"]
    assert [(row["consumer"], row["for"]) for row in opens["reclaims"]] == [("/risk", "/trading")] * 2
    assert [(row["consumer"], row["for"]) for row in closes["reclaims"]] == [("/trading", "/risk")] * 2
