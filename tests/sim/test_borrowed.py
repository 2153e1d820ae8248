"""Borrowed means the same in simulations, in the live tree and in usage, under every policy."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from fairhold.ledger.vectors import POOLED
from fairhold.model.vector import amount
from fairhold.orchestrator.accounting import Accounting
from fairhold.orchestrator.lending import lending
from fairhold.planio.plan import parse_plan
from fairhold.runtime.live.views.amounts import amounts_now
from fairhold.sim.account import Spans
from fairhold.sim.experiment import Experiment
from fairhold.sim.measures import Measures
from fairhold.sim.play import Simulation
from tests.sim.scenes import SECOND, random_jobs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.model.plan import Plan
    from fairhold.orchestrator import changes as said
    from fairhold.sim.account import Account

LEAVES = ["/A/a1", "/A/a2", "/B", "/C"]
TREE = {"A": {"reclaim_grace": "2s", "consumers": {"a1": {}, "a2": {}}}, "B": {"reclaim_grace": "1s"}, "C": {}}
HOSTS = [{"name": "h[1-3]", "gpu": 2, "cpu": 8}, {"name": "x", "gpu": 2, "cpu": 2}]
SLOTS: dict[str, dict[str, Any]] = {
    "hybrid": {"/A": {"owned": 4}, "/A/a1": {"owned": 2}, "/B": {"owned": 3}},
    "ownership": {
        "/A": {"owned": 4},
        "/A/a1": {"owned": 4, "lend_to": [{"consumer": "/B"}]},
        "/B": {"owned": 3, "borrow_from": [{"consumer": "/A/a1"}]},
    },
    "share_ratio": {"/A": {"share_ratio": 2}, "/A/a1": {"share_ratio": 1}, "/B": {"share_ratio": 1}},
}
VECTORS: dict[str, dict[str, Any]] = {
    "multidimensional": {
        "/A": {"own": [{"resource_group": "compute", "total": {"gpu": 3}}]},
        "/A/a1": {"own": [{"resource_group": "compute", "total": {"gpu": 1}}]},
        "/B": {"own": [{"resource_group": "compute", "hosts": 1}]},
    },
    "fair_share": {
        "/A": {"deserved": {"gpu": 4, "cpu": 10}},
        "/A/a1": {"deserved": {"gpu": 2, "cpu": 3}},
        "/B": {"deserved": {"gpu": 2, "cpu": 8}},
    },
}


def plan_of(policy: str, then: str = "") -> Plan:
    """then : what follows when the budgets of /A and /B are used up, empty = there are none."""
    document: dict[str, Any] = {"fairhold": 1, "consumers": TREE}
    if policy in SLOTS:
        document["resource_groups"] = {"compute": {"slots": 8}}
    else:
        document["resources"] = {"gpu": {}, "cpu": {}}
        document["resource_groups"] = {"compute": {"hosts": HOSTS}}
    budget: dict[str, Any] = {"budget": {"hours": {"gpu": 0.01}, "period": "day", "then": then}} if then else {}
    consumers = {
        path: stated | (budget if path in {"/A", "/B"} else {}) for path, stated in (SLOTS | VECTORS)[policy].items()
    }
    document["policies"] = [{"resource_groups": ["compute"], "policy": policy, "consumers": consumers}]
    return parse_plan(json.dumps(document), "plan")[0]


class Compared:
    """Compares, after all that happens, what is measured with what the live tree would say; and keeps the accounts."""

    def __init__(self, simulation: Simulation, measures: Sequence[Measures]) -> None:
        self.cluster = simulation.live.cluster
        self.measures = measures
        self.accounting = Accounting(self.cluster, 0)
        self.seen: set[str] = set()
        self.were_used_up = False

    def note(self, now: int, changes: Sequence[said.Change]) -> None:
        self.were_used_up |= any(books.rows.spent for books in self.cluster.books.values())
        self.accounting.note(changes, now, self.cluster)
        told: dict[str, Any] = {}
        if POOLED in self.cluster.books:
            told = amounts_now(self.cluster, now, cast("Any", SimpleNamespace(done=[])), {})
        for each in self.measures:
            books = self.cluster.books[each.group]
            if each.group == POOLED:
                plan = books.rows.source
                of = next(of for of in plan.resources if of.name == each.resource)
                live = {path: row["borrowed"].get(each.resource, 0) for path, row in told.items()}
                simulated = {path: amount(of, borrowed(account)) for path, account in each.accounts.items()}
            else:
                live = {books.rows.path(leaf): slots for leaf, slots in lending(books).borrowed.items()}
                live = {path: live.get(path, 0) for path in LEAVES}
                simulated = {path: borrowed(each.accounts[path]) for path in LEAVES}
            assert {path: simulated[path] for path in live if path != "/"} == {
                path: live[path] for path in live if path != "/"
            }
            self.seen |= {path for path in LEAVES if live[path]}

    def __getattr__(self, _name: str) -> Any:
        return lambda *_: None


def borrowed(account: Account) -> int:
    return max(0, account.held - account.owned) if account.borrows is None else account.borrows


@pytest.mark.parametrize(
    ("policy", "then"),
    [
        *((policy, "") for policy in (*SLOTS, *VECTORS)),
        *((policy, then) for policy in VECTORS for then in ("wait", "borrow_only", "lowest_rank")),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_borrowed_is_the_same_live_simulated_and_in_usage(policy: str, then: str, seed: int) -> None:
    jobs = random_jobs(seed, LEAVES, jobs=40, most=5)
    is_vector = policy in VECTORS
    if is_vector:
        units = tuple((("gpu", "1"), ("cpu", cpus)) for cpus in "13")
        jobs = replace(jobs, units=units, unit=[at % 2 for at in range(40)])
    watches: list[Any] = []
    simulation = Simulation(Experiment(plan_of(policy, then), jobs, 0), watches)
    group, resources = (POOLED, ["gpu", "cpu"]) if is_vector else ("compute", ["slots"])
    measures = [Measures(simulation.live.cluster, group, each, Spans(0, SECOND)) for each in resources]
    compared = Compared(simulation, measures)
    watches += [*measures, compared]
    simulation.run()
    assert compared.seen
    assert compared.were_used_up == bool(then)
    end = max(compared.accounting.at, *(each.end for each in measures))
    used: dict[tuple[str, str, str], Fraction] = defaultdict(Fraction)
    for key, count in compared.accounting.span(end).totals().items():
        for resource, text in json.loads(key.unit or '{"slots":"1"}').items():
            used[key.consumer, key.kind, resource] += count * Fraction(text)
    for each in measures:
        for leaf in LEAVES:
            account = each.accounts[leaf]
            found = tuple(used[leaf, kind, each.resource] * each.base for kind in ("own", "borrowed"))
            assert found == (Fraction(account.own), Fraction(account.borrowed))
