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


QUEUES = """\
fairhold: 1
resources: {gpu: {}}
resource_groups: {gpus: {capacity: {gpu: 32}}}
consumers:
  Trading: {reclaim_grace: 30s, consumers: {Risk: {}, FX: {}}}
  Research: {}
policies:
  - resource_groups: [gpus]
    policy: fair_share
    consumers:
      /Trading: {deserved: {gpu: 16}, min_runtime: 10m, reclaim_min_runtime: 1m, preemption_delay: 5m, max_run_time: 1h}
      /Trading/Risk: {deserved: {gpu: 8}}
      /Research: {deserved: {gpu: 16}}
"""


def test_the_grace_that_results_counts_also_where_the_tree_and_an_entry_say_it() -> None:
    short = PLAN.replace("/Trading: {owned: 60", "/Trading: {owned: 60, reclaim_grace: 5s")
    for old, new in (
        ("FX: {reclaim_grace: 10s}", "FX: {reclaim_grace: 20s}"),
        ("Risk: {}", "Risk: {reclaim_grace: 6s}"),
        ("Risk: {}", "Risk: {reclaim_grace: 6s, consumers: {a: {}}}"),
    ):
        (told,) = found(short, short.replace(old, new), ["/Trading"])
        assert "consumers./Trading/" in told
        assert "longer than that of `/Trading`" in told
    assert found(short, short.replace("Risk: {}", "Risk: {reclaim_grace: 5s}"), ["/Trading"]) == []


def test_what_an_administrator_shortened_is_not_lengthened_by_leaving_it_out() -> None:
    short = PLAN.replace("Risk: {owned: 40}", "Risk: {owned: 40, reclaim_grace: 5s}").replace(
        "/Trading: {owned: 60", "/Trading: {owned: 60, reclaim_grace: 5s"
    )
    tree = short.replace("Risk: {}", "Risk: {reclaim_grace: 30s}")
    (told,) = found(tree, tree.replace(", reclaim_grace: 5s}", "}"), ["/Trading"])
    assert "consumers./Trading/Risk.reclaim_grace" in told


def test_what_an_administrator_gave_may_stay_and_is_not_handed_to_others() -> None:
    given = PLAN.replace("FX: {reclaim_grace: 10s}", "FX: {reclaim_grace: 60s}")
    assert found(given, given.replace("Risk: {}", "Risk: {rank: 2}"), ["/Trading"]) == []
    assert found(given, given.replace("60s}", "60s, consumers: {a: {}}}"), ["/Trading"]) == []
    assert found(given, given.replace("60s", "50s"), ["/Trading"]) == []
    assert found(given, given.replace("60s", "61s"), ["/Trading"]) != []
    below = given.replace("Risk: {}, ", "").replace("60s}", "60s, consumers: {Risk: {}}}")
    below = below.replace("/Trading/Risk:", "/Trading/FX/Risk:").replace(
        "/Trading/FX/Risk: {owned: 40}", "/Trading/FX: {owned: 40}"
    )
    assert found(given, below, ["/Trading"], {"/Trading/Risk": "/Trading/FX/Risk"}) != []


@pytest.mark.parametrize(
    ("stated", "why"),
    [
        ("min_runtime: 2m", "longer"),
        ("reclaim_min_runtime: 2m", "longer"),
        ("max_run_time: 2h", "longer"),
        ("max_run_time: none", "longer"),
        ("preemption_delay: 1m", "shorter"),
    ],
)
def test_times_of_queues_stay_within_those_of_the_queue_above(stated: str, why: str) -> None:
    (told,) = found(QUEUES, QUEUES.replace("Risk: {deserved", f"Risk: {{{stated}, deserved"), ["/Trading"])
    assert f"Risk.{stated.partition(':')[0]}`" in told
    assert why in told


def test_times_of_queues_that_ask_less_of_others_may_be_written() -> None:
    less = "reclaim_min_runtime: 30s, min_runtime: 10m, max_run_time: 30m, preemption_delay: 6m, deserved"
    assert found(QUEUES, QUEUES.replace("Risk: {deserved", f"Risk: {{{less}"), ["/Trading"]) == []


def test_no_more_is_reserved_than_the_consumer_above_reserves() -> None:
    given = PLAN.replace("/Trading: {owned: 60", "/Trading: {owned: 60, reserved: 10")
    assert found(given, given.replace("Risk: {owned: 40}", "Risk: {owned: 40, reserved: 10}"), ["/Trading"]) == []
    (told,) = found(given, given.replace("Risk: {owned: 40}", "Risk: {owned: 40, reserved: 11}"), ["/Trading"])
    assert "Risk.reserved" in told
    assert "more than `/Trading` reserves" in told


def test_no_more_is_reserved_by_a_consumer_that_leaves_one_that_reserves_as_much() -> None:
    given = PLAN.replace("Risk: {}", "Risk: {consumers: {a: {}}}").replace(
        "/Trading/Risk: {owned: 40}",
        "/Trading/Risk: {owned: 40, reserved: 10}\n      /Trading/Risk/a: {owned: 10, reserved: 10}",
    )
    apart = given.replace("Risk: {consumers: {a: {}}}", "Risk: {}, a: {}").replace("/Trading/Risk/a:", "/Trading/a:")
    assert found(given, given.replace("owned: 40, reserved: 10", "owned: 40, reserved: 9"), ["/Trading"]) == []
    assert found(given, apart, ["/Trading"], {"/Trading/Risk/a": "/Trading/a"}) != []


OWNERS = """\
fairhold: 1
resources: {gpu: {}}
resource_groups: {gpus: {hosts: [{name: "g[01-04]", gpu: 8}]}}
consumers: {Trading: {consumers: {Risk: {}, FX: {}}}, Research: {}}
policies:
  - resource_groups: [gpus]
    policy: multidimensional
    consumers:
      /Trading: {own: [{resource_group: gpus, hosts: 2}]}
      /Trading/Risk: {own: [{resource_group: gpus, hosts: 1}]}
"""


def test_hosts_that_the_consumer_above_lends_are_not_reserved_below_it() -> None:
    reserved = ("hosts: 1}", "hosts: 1, reserved: true}")
    (told,) = found(OWNERS, OWNERS.replace(*reserved), ["/Trading"])
    assert "Risk.own`" in told
    assert "`/Trading` lends" in told
    kept = OWNERS.replace("hosts: 2}", "hosts: 2, reserved: true}")
    assert found(kept, kept.replace(*reserved), ["/Trading"]) == []
    given = OWNERS.replace(*reserved)
    assert found(given, given.replace("FX: {}", "FX: {rank: 1}"), ["/Trading"]) == []
