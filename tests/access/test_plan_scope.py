"""A change of the plan within a part of the tree, and all ways beyond it."""

from __future__ import annotations

import pytest

from fairhold.access.plan_scope import beyond
from fairhold.planio.plan import parse_plan

PLAN = """\
fairhold: 1
cluster: bank
resource_groups: {compute: {slots: 100}}
consumers:
  Trading: {reclaim_grace: 30s, consumers: {Risk: {}, FX: {reclaim_grace: 10s}}}
  Research: {reclaim_grace: 10s, consumers: {Models: {}}}
policies:
  - resource_groups: [compute]
    policy: hybrid
    consumers:
      /Trading: {owned: 60, limit: 80}
      /Trading/Risk: {owned: 40}
      /Research: {owned: 40}
"""
LISTS = """\
fairhold: 1
resource_groups: {compute: {slots: 100}}
consumers: {Trading: {}, Research: {}, Ops: {consumers: {A: {}, B: {}}}}
policies:
  - resource_groups: [compute]
    policy: ownership
    consumers:
      /Trading: {owned: 50, lend_to: [{consumer: /Ops/A}]}
      /Research: {owned: 30}
      /Ops: {owned: 20}
      /Ops/A: {owned: 10}
      /Ops/B: {owned: 10}
"""


def found(old: str, new: str, paths: list[str], moved: dict[str, str] | None = None) -> list[str]:
    plans = [parse_plan(text, "plan.yaml")[0] for text in (old, new)]
    return [each.text() for each in beyond(plans[0], plans[1], moved or {}, paths)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/Trading/Risk: {owned: 40}", "/Trading/Risk: {owned: 50, limit: 60}"),
        ("/Trading/Risk: {owned: 40}", "/Trading/Risk: {owned: 40}\n      /Trading/FX: {owned: 20}"),
        ("Risk: {}, FX", "Risk: {}, Rates: {rank: 1}, FX"),
        ("Risk: {}, FX", "Risk: {consumers: {a: {}, b: {}}}, FX"),
        ("FX: {reclaim_grace: 10s}", "FX: {reclaim_grace: 30s}"),
        ("FX: {reclaim_grace: 10s}", "FX: {}"),
        ("/Trading/Risk: {owned: 40}", "/Trading/Risk: {owned: 40, reclaim_grace: 30s}"),
        ("fairhold: 1\n", "fairhold: 1\n# only a remark\n"),
    ],
)
def test_what_is_below_may_change(old: str, new: str) -> None:
    assert found(PLAN, PLAN.replace(old, new), ["/Trading"]) == []


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("/Trading: {owned: 60", "/Trading: {owned: 61", "policies[0].consumers./Trading.owned"),
        ("limit: 80", "limit: 90", "policies[0].consumers./Trading.limit"),
        ("/Research: {owned: 40}", "/Research: {owned: 39}", "policies[0].consumers./Research.owned"),
        ("Trading: {reclaim_grace: 30s", "Trading: {reclaim_grace: 40s", "consumers./Trading.reclaim_grace"),
        ("Models: {}", "Models: {rank: 3}", "consumers./Research/Models.rank"),
        ("Models: {}", "Models: {}, More: {}", "consumers./Research.consumers"),
        ("slots: 100", "slots: 110", "resource_groups.compute"),
        ("cluster: bank", "cluster: bank\ndefault_rank: 2", "default_rank"),
        ("cluster: bank", "cluster: shop", "cluster"),
        ("policy: hybrid", "policy: hybrid\n    settings: {victims: oldest}", "policies[0].settings.victims"),
        ("policy: hybrid", 'policy: hybrid\n    window: "Mon-Sun 00:00-24:00"', "policies[0].window"),
        ("  Research:", "  New: {}\n  Research:", "consumers./.consumers"),
    ],
)
def test_nothing_else_may(old: str, new: str, place: str) -> None:
    assert any(place in each for each in found(PLAN, PLAN.replace(old, new, 1), ["/Trading"]))
    assert found(PLAN, PLAN.replace(old, new, 1), ["/"]) == []


def test_one_may_not_keep_what_is_borrowed_longer_than_the_consumer_above() -> None:
    for old, new in (
        ("FX: {reclaim_grace: 10s}", "FX: {reclaim_grace: 31s}"),
        ("/Trading/Risk: {owned: 40}", "/Trading/Risk: {owned: 40, reclaim_grace: 31s}"),
        ("/Trading/Risk: {owned: 40}", "/Trading/Risk: {owned: 40, min_runtime: 5m}"),
    ):
        (told,) = found(PLAN, PLAN.replace(old, new), ["/Trading"])
        assert "longer than that of `/Trading`" in told


def test_a_shorter_time_than_was_set_by_others_may_be_written_if_it_is_within_what_is_had() -> None:
    given = PLAN.replace("/Trading: {owned: 60", "/Trading: {owned: 60, min_runtime: 10m")
    assert found(given, given.replace("Risk: {owned: 40}", "Risk: {owned: 40, min_runtime: 5m}"), ["/Trading"]) == []


def test_all_parts_of_one_who_has_several_count() -> None:
    new = PLAN.replace("Risk: {owned: 40}", "Risk: {owned: 30}").replace("Models: {}", "Models: {rank: 3}")
    assert found(PLAN, new, ["/Trading", "/Research"]) == []
    assert found(PLAN, new, []) != []


def test_a_consumer_moves_within_its_part_and_not_out_of_it() -> None:
    inside = PLAN.replace("Risk", "Risks")
    assert found(PLAN, inside, ["/Trading"], {"/Trading/Risk": "/Trading/Risks"}) == []
    assert found(PLAN, PLAN.replace("Trading", "Trade"), ["/Trading"], {"/Trading": "/Trade"}) != []
    out = (
        PLAN.replace("Risk: {}, ", "")
        .replace("Models: {}", "Models: {}, Risk: {}")
        .replace("      /Trading/Risk: {owned: 40}\n", "")
    )
    assert any("outside" in each for each in found(PLAN, out, ["/Trading"], {"/Trading/Risk": "/Research/Risk"}))


def test_lists_name_nobody_outside_who_was_not_named() -> None:
    borrowing = LISTS.replace("/Ops/A: {owned: 10}", "/Ops/A: {owned: 10, borrow_from: [{consumer: /Trading}]}")
    assert any("`/Trading` is outside" in each for each in found(LISTS, borrowing, ["/Ops"]))
    lending = LISTS.replace("/Ops/A: {owned: 10}", "/Ops/A: {owned: 10, lend_to: [{consumer: /Ops/B}]}")
    lending = lending.replace("/Ops/B: {owned: 10}", "/Ops/B: {owned: 10, borrow_from: [{consumer: /Ops/A}]}")
    assert found(LISTS, lending, ["/Ops"]) == []
