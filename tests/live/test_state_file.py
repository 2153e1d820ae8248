"""The live state as a file: the commands on files decide and explain from it what the service does."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.cycle.document import decision_document, run_cycle
from fairhold.cycle.run import run
from fairhold.cycle.verify import verify
from fairhold.ledger.vectors import POOLED
from fairhold.orchestrator.as_file import decided, is_sayable
from fairhold.orchestrator.events import GroupPaused, MachineClosed, MachineSilent
from fairhold.orchestrator.freeze import freeze
from fairhold.orchestrator.pooling import run_vectors
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from fairhold.planio.statewrite import state_document
from fairhold.runtime.explained import of_pools, of_slots
from fairhold.runtime.live.views.consumers import consumer_explanation
from fairhold.runtime.live.views.state import live_state
from fairhold.sim.effect import Standing
from fairhold.units import SECOND
from tests.examples import FEW
from tests.live.play import MIXED, PLAIN, Play, plan_text
from tests.live.test_history import plan as queues_plan
from tests.live.test_vector_views import ONE
from tests.live.test_vector_views import PLAN as POOLS

if TYPE_CHECKING:
    from fairhold.model.plan import Plan
    from fairhold.model.state import State

Document = dict[str, Any]
MOVES = ("grants", "reclaims", "withdrawn")


class Written(NamedTuple):
    """What the command writes of a service, read again."""

    plan: Plan
    state: State
    unsaid: list[str]


def written(play: Play) -> Written:
    core = play.core
    now = core.orchestrator.now
    standing = Standing(core.plan, now, freeze(core.cluster), core.own)
    found = live_state(core.plan, standing.under(core.plan, {}), now)
    in_force = play.store.plan()
    assert in_force is not None
    plan, _ = parse_plan(in_force.text, "plan", places=True)
    return Written(plan, parse_state(json.dumps(found["state"]), plan, "state", places=True), found["unsaid"])


def next_moves(play: Play) -> Document:
    """What a cycle of the service would decide at this instant."""
    found: Document = {kind: [] for kind in MOVES}
    for group, books in play.core.cluster.books.items():
        rows = (
            decided(run_vectors(play.core.cluster, play.core.orchestrator.now))
            if group == POOLED
            else decision_document(run(books, play.core.orchestrator.now))
        )
        for kind in MOVES:
            found[kind] += rows[kind]
    return found


def check_alike(play: Play, *consumers: str) -> Document:
    """The file decides and explains what the service does; returns what is decided."""
    plan, state, _ = written(play)
    cycle = run_cycle(plan, state)
    moves = {kind: cycle.document[kind] for kind in MOVES}
    assert moves == next_moves(play)
    assert not verify(plan, state, cycle.document | {"state": state_document(plan, cycle.after)})
    for path in consumers:
        live = consumer_explanation(play.core, path)()["explanations"]
        assert numbers([*of_slots(plan, state, path), *of_pools(plan, state, path)]) == numbers(live)
    return moves


def numbers(told: list[Document]) -> list[Document]:
    """Explanations without what the service alone knows: titles of jobs, the times of history, which hosts are up."""
    left = json.loads(json.dumps(told, default=str))
    return [_without(each) for each in left]


def _without(node: Any) -> Any:
    if isinstance(node, dict):
        return {
            key: _without(value)
            for key, value in node.items()
            if key not in {"title", "usage_from", "usage_to", "sentence", "hosts"}
        }
    return [_without(each) for each in node] if isinstance(node, list) else node


NOTHING: Document = {kind: [] for kind in MOVES}


def test_slots_at_rest_and_under_notice(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_text(PLAIN))
    play.submit("/C", 9, priority=2)
    play.submit("/A/a1", 20)
    play.pass_time(SECOND)
    assert check_alike(play, "/", "/A", "/A/a1", "/B", "/C") == NOTHING
    play.submit("/B", 3)
    play.pass_time(SECOND // 2)
    assert any(each.notice for each in play.core.cluster.attempts.values())
    assert check_alike(play, "/A/a1", "/B") == NOTHING
    play.submit("/B", 3)  # no cycle has seen this one
    check_alike(play, "/A/a1", "/B")
    play.store.close()


def test_what_only_the_next_cycle_will_decide_is_decided_from_the_file(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_text(PLAIN))
    play.submit("/A/a1", 20)
    play.pass_time(SECOND)
    for attempt in play.live()[:2]:
        play.end(attempt)
    play.core.orchestrator.is_closing = True
    play.end(play.live()[0])
    assert check_alike(play, "/A/a1")["grants"]
    play.store.close()


def test_pools(tmp_path: Path) -> None:
    play = Play(tmp_path, json.dumps(POOLS))
    play.report("h1")
    for consumer, count in (("/B", 3), ("/C", 3), ("/A", 2)):
        play.submit(consumer, count, group=POOLED, unit=ONE)
        play.pass_time(SECOND)
    assert check_alike(play, "/", "/A", "/B", "/C") == NOTHING
    found = written(play)
    assert found.state.ownership
    assert found.state.notices
    assert found.unsaid == []
    play.feed(MachineSilent("h1"))
    play.pass_time(SECOND)
    check_alike(play, "/A", "/B")
    play.store.close()


@pytest.mark.parametrize("settings", [{}, {"k": 1, "usage_window": "128h"}])
def test_queues_with_what_they_have_used(tmp_path: Path, settings: Document) -> None:
    play = Play(tmp_path, queues_plan(**settings))
    for name in ("h1", "h2"):
        play.report(name)
    for consumer, count in (("/A/a", 9), ("/B", 5), ("/A/b", 2)):
        play.submit(consumer, count, group=POOLED, unit=(("gpu", "1"),))
        play.pass_time(3600 * SECOND)
    play.core.orchestrator.now = play.clock.instant
    check_alike(play, "/", "/A", "/A/a", "/B")
    assert bool(written(play).state.usage) == bool(settings)
    play.store.close()


def test_hosts_that_the_plan_does_not_have_are_left_out_and_named(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_text(MIXED))
    for name in ("h1", "h2"):
        play.report(name)
    play.submit("/B", 7)
    play.pass_time(SECOND)
    assert written(play).unsaid == []
    fewer = {"compute": {"hosts": [{"name": "h1", "slots": 4}]}, "gpu": {"slots": 3}}
    play.core.apply_plan(plan_text(fewer), "ann", "", play.core.version)
    play.commit()
    found = written(play)
    assert "left out: what is held on h2, which the plan does not have" in found.unsaid
    assert {each.host for each in found.state.allocations} == {"h1"}
    elsewhere = sum(each.units for each in play.core.cluster.attempts.values() if each.places[0][0] == "h2")
    assert [each.count for each in found.state.requests] == [7 - elsewhere]
    play.store.close()


def test_what_no_file_can_say_is_told(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_text(MIXED))
    for name in ("h1", "h2", ""):
        play.report(name)
    play.feed(GroupPaused("compute", True, False))  # noqa: FBT003 - as the event has it
    play.feed(MachineClosed("", "dust", False))  # noqa: FBT003 - likewise
    assert written(play).unsaid == [
        "hosts of gpu differ from the plan in slots or labels, or its only machine is closed",
        "grants of compute are paused",
    ]
    play.store.close()


@FEW
@given(st.integers(0, 10**9), st.sampled_from([PLAIN, MIXED]))
def test_at_any_instant_of_a_random_history(seed: int, groups: Document) -> None:
    random = Random(seed)
    with TemporaryDirectory() as place:
        play = Play(Path(place), plan_text(groups))
        for name in ("h1", "h2") if groups is MIXED else ("",):
            play.report(name)
        for _ in range(4):
            play.wander(random, 10, [plan_text(groups)])
            written(play)
            if all(map(is_sayable, play.core.cluster.books.values())):
                check_alike(play, "/A/a1", "/B")
        play.store.close()
