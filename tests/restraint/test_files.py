"""Controls of the reclaim in files: what is read, what is refused with its place and mend, and what is shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cli.files import print_cycle
from fairhold.cli.words import in_words
from fairhold.cycle.explain import explain
from fairhold.cycle.open import open_books
from fairhold.cycle.run import run
from fairhold.cycle.window_preview import calendar_document
from fairhold.errors import InputError
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state, state_document
from fairhold.units import SECOND
from tests.cycle.cluster import NOW
from tests.restraint.test_rules import gang_state

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.cycle.explain import Explanation

PLAN = """\
fairhold: 1
resource_groups: {c: {slots: 10}}
consumers: {A: {}, P: {consumers: {B: {}, C: {}}}}
policies:
  - resource_groups: [c]
    policy: hybrid
    settings: {max_reclaims: 3, dead_zone: 2, await_ends: 90s, observe_only: true}
    consumers:
      /A: {owned: 6}
      /P: {owned: 4, min_runtime: 10m}
      /P/B: {min_runtime: 0}
"""
STATE = """\
fairhold_state: 1
now: 2026-01-05T09:00:00Z
shortages: [{consumer: /A, since: 2026-01-05T08:59:00Z, taking: true}, {consumer: /P/B, since: 2026-01-05T09:00:00Z}]
"""


def test_what_is_stated_is_read_and_inherited() -> None:
    """R-CONTROL-5, R-SET-1."""
    plan, warnings = parse_plan(PLAN, "plan.yaml")
    settings = plan.policies[0].settings
    assert (settings.max_reclaims, settings.dead_zone, settings.await_ends, settings.observe_only, warnings) == (
        *(3, 2, 90 * SECOND, True),
        (),
    )
    rows = open_books(plan, parse_state("fairhold_state: 1\nnow: 2026-01-05T09:00:00Z\n", plan, "s"))["c"].rows
    assert {rows.path(row): rows.min_runtime[row] // SECOND for row in rows.leaves} == {"/A": 0, "/P/B": 0, "/P/C": 600}
    open_ended = parse_plan(PLAN.replace("max_reclaims: 3", "max_reclaims: none"), "plan.yaml")[0]
    assert open_ended.policies[0].settings.max_reclaims is None


def test_entries_that_are_in_force_together_all_observe_or_none() -> None:
    """R-CONTROL-4; the other controls are each entry's own."""
    head = PLAN.split("policies:", maxsplit=1)[0] + "policies:\n"
    entry = "  - {resource_groups: [c], policy: hybrid, settings: {%s}, consumers: {%s: {owned: 5}}}\n"
    both = head + entry % ("max_reclaims: 3, dead_zone: 1", "/A") + entry % ("await_ends: 5s", "/P")
    assert parse_plan(both, "plan.yaml")[1] == ()
    with pytest.raises(InputError) as error:
        parse_plan(both.replace("await_ends: 5s", "observe_only: true"), "plan.yaml")
    assert [(fault.code, fault.mend) for fault in error.value.faults] == [("settings-differ", "write the same in both")]


def test_a_state_is_written_back_as_it_was() -> None:
    plan = parse_plan(PLAN, "plan.yaml")[0]
    state = parse_state(STATE, plan, "state.yaml")
    written = state_document(plan, state)
    assert [row.get("taking", False) for row in written["shortages"]] == [True, False]
    assert parse_state(json.dumps(written), plan, "again.json") == state


@pytest.mark.parametrize(
    ("old", "new", "code", "mend"),
    [
        ("max_reclaims: 3", "max_reclaims: 0", "out-of-range", "write 1 or more, or `observe_only: true`"),
        ("max_reclaims: 3", "max_reclaims: -1", "negative", "write a number from 1 to 1000000000000"),
        ("max_reclaims: 3", "max_reclaims: 1.5", "not-whole", ""),
        ("max_reclaims: 3", "max_reclaim: 3", "unknown-key", ""),
        ("dead_zone: 2", "dead_zone: -2", "negative", ""),
        ("await_ends: 90s", "await_ends: 90", "duration", "write `90s` for seconds"),
        ("observe_only: true", "observe_only: 1", "wrong-type", ""),
        ("min_runtime: 10m", "min_runtime: soon", "duration", ""),
    ],
)
def test_a_control_that_means_nothing_is_refused_with_its_place(old: str, new: str, code: str, mend: str) -> None:
    with pytest.raises(InputError) as error:
        parse_plan(PLAN.replace(old, new), "plan.yaml")
    (fault,) = error.value.faults
    assert (fault.code, fault.line) == (code, 10 if "runtime" in old else 7)
    assert fault.mend == mend or not mend


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("/A, since: 2026-01-05T08:59:00Z", "/A", "missing-key"),
        ("/A, since: 2026-01-05T08:59:00Z", "/A, since: 2026-01-05T09:59:00Z", "later-than-now"),
        ("{consumer: /A,", "{consumer: /P,", "not-a-leaf"),
        ("{consumer: /P/B,", "{consumer: /A,", "listed-twice"),
        ("taking: true", "taking: 1", "wrong-type"),
        ("shortages:", "demand: {/A: {c: 5}}\nshortages:", "runtime-needs-requests"),
    ],
)
def test_a_shortage_that_means_nothing_is_refused(old: str, new: str, code: str) -> None:
    with pytest.raises(InputError) as error:
        parse_state(STATE.replace(old, new), parse_plan(PLAN, "plan.yaml")[0], "state.yaml")
    assert [fault.code for fault in error.value.faults] == [code]


def explained(path: str, settings: str, **entry: object) -> Explanation:
    """Of /A, which owns 6 of 10 and wants them, and /P/B and /P/C, which hold all."""
    text = PLAN.replace("{max_reclaims: 3, dead_zone: 2, await_ends: 90s, observe_only: true}", settings)
    plan = parse_plan(text.replace("min_runtime: 10m", f"min_runtime: {entry.get('runtime', 0)}"), "plan.yaml")[0]
    rows = gang_state(("a", "/A", 6, 0, 0), ("b", "/P/B", 5, 0, 20), ("c", "/P/C", 5, 0, 5))
    state = parse_state(json.dumps({"fairhold_state": 1, "now": NOW} | rows), plan, "state.json")
    return explain(plan, run(open_books(plan, state)["c"], state.now), path)


@pytest.mark.parametrize(
    ("path", "settings", "runtime", "told"),
    [
        ("/A", "{}", 0, []),
        ("/A", "{dead_zone: 6}", 0, ["/A has a deficit of 6 slots, too few to reclaim [dead_zone, R-CONTROL-2]"]),
        (
            "/A",
            "{await_ends: 1m}",
            0,
            [
                (
                    "/A has a deficit of 6 slots, and reclaims from 2026-01-05T09:01:00Z on if no task ends before "
                    "[await_ends, R-CONTROL-3]"
                )
            ],
        ),
        (
            "/A",
            "{max_reclaims: 4}",
            0,
            ["/P/B gives 2 slots back in a later cycle: the limit per cycle is reached [max_reclaims, R-CONTROL-1]"],
        ),
        (
            "/P/C",
            "{observe_only: true}",
            0,
            [
                (
                    "/P/C would give 3 slots back, but gets no notice: decisions are only observed "
                    "[observe_only, R-CONTROL-4]"
                )
            ],
        ),
        (
            "/A",
            "{}",
            "10m",
            [
                (
                    "/P/C keeps 3 slots that have not run long enough, the first until 2026-01-05T09:05:00Z "
                    "[min_runtime, R-CONTROL-5]"
                )
            ],
        ),
        ("/P/B", "{}", "10m", []),
    ],
)
def test_an_explanation_names_the_control_that_binds(path: str, settings: str, runtime: Any, told: list[str]) -> None:
    text = in_words(explained(path, settings, runtime=runtime))
    found = text.split("Controls:\n")[1].split("\n\n")[0].splitlines() if "Controls:" in text else []
    assert [line.strip() for line in found] == told


def test_a_cycle_shows_what_is_only_observed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """R-CONTROL-4."""
    rows = gang_state(("a", "/A", 6, 0, 0), ("b", "/P/B", 10, 0, 20))
    plan, state = tmp_path / "plan.yaml", tmp_path / "state.json"
    plan.write_text(PLAN.replace("await_ends: 90s, ", ""))
    state.write_text(json.dumps({"fairhold_state": 1, "now": NOW} | rows))
    print_cycle(plan, state, as_json=False, after=None, check=True)
    told = capsys.readouterr().out.split("Observed only, no notice given:\n")[1].splitlines()
    assert told[1].split()[:4] == ["/P/B", "c", "b", "3"]


def test_looking_ahead_goes_on_with_what_was_left_for_later() -> None:
    """R-CONTROL-1: units that are taken back one by one until a window opens are gone by then."""
    plan_document = {
        "fairhold": 1,
        "resource_groups": {"c": {"slots": 6}},
        "consumers": {"A": {}, "B": {"reclaim_grace": "1s"}},
        "policies": [
            {"resource_groups": ["c"], "policy": "hybrid", "consumers": owned, "settings": {"max_reclaims": 1}} | when
            for owned, when in (
                ({"/A": {"owned": 4}, "/B": {"owned": 2}}, {"window": "Mon-Sun 08:00-10:00"}),
                ({"/A": {"owned": 2}, "/B": {"owned": 4}}, {}),
            )
        ],
    }
    plan = parse_plan(json.dumps(plan_document), "plan.json")[0]
    held = {"demand": {"/A": {"c": 6}, "/B": {"c": 6}}, "allocated": {"/B": {"c": 6}}}
    state = parse_state(json.dumps({"fairhold_state": 1, "now": NOW} | held), plan, "state.json")
    (switch,) = calendar_document(plan, state.now, state.now + 3_700 * SECOND, state)["switches"]
    assert [(row["consumer"], row["units"]) for row in switch["reclaims"]] == [("/A", 1)]
