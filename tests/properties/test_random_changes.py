"""State machines: demands, hosts, plans and windows change at random; cycles come to rest (docs/no-thrash.md)."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import rule, run_state_machine_as_test

from tests.gangs.crossed import crossed
from tests.ownership.strategies import owning
from tests.properties.changing import SMALL, Changing
from tests.properties.strategies import Case, Json, cases, counts, plans, sharing
from tests.restraint.strategies import restrained

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

    from fairhold.cycle.run import CycleResult


@st.composite
def by_windows(draw: DrawFn) -> Case:
    """By day one entry of `hybrid`, by night another, with a lead or without."""
    plan: Json = draw(plans(hosts=None, aged=False))
    day = plan["policies"][0]
    night = day | {
        "settings": dict(day["settings"]),
        "consumers": {path: dict(x) for path, x in day["consumers"].items()},
    }
    for top in [path for path in night["consumers"] if path.count("/") == 1 and draw(st.booleans())]:
        for path, stated in night["consumers"].items():
            if path == top or path.startswith(f"{top}/"):
                stated["owned"] = 0
                stated.pop("reserved", None)
    plan["policies"] = [day | {"window": "Mon-Sun 09:00-18:00"}, night]
    for entry in plan["policies"]:
        if draw(st.booleans()):
            entry["settings"]["lead"] = draw(st.sampled_from(["auto", "30s"]))
    return Case(plan, draw(counts(plan)))


class Hybrid(Changing):
    begins = cases(requested=False)


class Sharing(Changing):
    begins = st.one_of(
        sharing(requested=False, entitlement="planned"), sharing(requested=False, entitlement="workload")
    )


class Fixed(Changing):
    begins = sharing(requested=False, entitlement="fixed")


class Owning(Changing):
    begins = owning(mixed=False, requested=False)


class Mixed(Changing):
    begins = owning(mixed=True, requested=False)


class Switching(Changing):
    begins = owning(requested=False, switched=True)


class Windows(Changing):
    begins = by_windows()


class Gangs(Changing):
    begins = st.one_of(cases(requested=True), sharing(requested=True), owning(requested=True))
    gangs = True


class Labelled(Changing):
    """Gangs for which units are held, labels, user limits, budgets and any packing."""

    begins = crossed()
    gangs = True


class Restrained(Changing):
    """Controls come and go: `max_reclaims`, `dead_zone` and `await_ends` hold back what is taken, and nothing else."""

    begins = restrained()
    gangs = True

    @rule(at=SMALL, kind=st.sampled_from(["max_reclaims", "dead_zone", "await_ends"]), to=st.integers(0, 3))
    def control(self, at: int, kind: str, to: int) -> None:
        """Another control, or none."""
        document = deepcopy(self.document)
        settings = document["policies"][at % len(document["policies"])]["settings"]
        settings.pop(kind, None)
        if to:
            settings[kind] = f"{10 * to}s" if kind == "await_ends" else to
        self.put(document)

    def next_due(self, result: CycleResult) -> int | None:
        """Notices that no longer fit into a cycle, and those that await natural ends, are given later."""
        dues = [due for due in (super().next_due(result), result.decision.due) if due is not None]
        return min(dues, default=None)

    def most_steps(self, most: int) -> int:
        """Notices take up to E / N cycles more, and begin later by one."""
        return 4 + 2 * most


MACHINES = [Hybrid, Sharing, Fixed, Owning, Mixed, Switching, Windows, Gangs, Labelled, Restrained]
QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def _play(machine: type[Changing], examples: int, steps: int) -> None:
    rules = settings(max_examples=examples, stateful_step_count=steps, deadline=None, suppress_health_check=QUIET)
    run_state_machine_as_test(machine, settings=settings(rules, derandomize=settings().derandomize))


@pytest.mark.parametrize("machine", MACHINES)
def test_whatever_changes_cycles_come_to_rest(machine: type[Changing]) -> None:
    _play(machine, 12, 15)


@pytest.mark.slow
@pytest.mark.parametrize("machine", MACHINES)
def test_thousands_of_changes(machine: type[Changing]) -> None:
    _play(machine, 200, 40)
