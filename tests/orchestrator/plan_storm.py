"""The storm under plans that change: a cluster that goes on in place, and one thawed from its document, stay equals."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cycle.invariants import check
from fairhold.cycle.run import CycleResult
from fairhold.errors import InputError
from fairhold.orchestrator.events import JobChanged, JobSubmitted, MachineReported
from fairhold.orchestrator.freeze import freeze, thaw
from fairhold.orchestrator.in_use import InUseError
from fairhold.orchestrator.opening import open_cluster_books
from fairhold.orchestrator.replanning import put_in_force
from fairhold.planio.plan import parse_plan
from tests.orchestrator.storm import OWN, SECOND, Storm, check_cluster, plan_document
from tests.orchestrator.vector_storm import _GPUS, PLAN, VectorStorm

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

    from fairhold.cycle.slot_ledger import SlotCycle
    from fairhold.ledger.books import Books
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.events import Event
    from fairhold.orchestrator.pooling import VectorCycle

Document = dict[str, Any]
Moved = dict[str, str]
CONTROLS: tuple[Document, ...] = ({}, {"await_ends": "5s"}, {"rebalance_interval": "1m"}, {"max_reclaims": 1})
LISTS = {"lend_to", "borrow_from"}


def told(cluster: Cluster) -> Document:
    """What the books of a cluster have beside its document, in names."""
    live = sorted((job.serial, job.name) for job in cluster.jobs.values() if not job.is_over)
    found: Document = {"in order": [name for _, name in live], "due": cluster.due.next()}
    for group, books in cluster.books.items():
        requests, lines, hosts, notices = books.requests, books.requests.lines, books.hosts, books.notices
        path, users, spending = books.rows.path, requests.users, books.spending
        found[group] = {
            "sums": {
                path(row): (books.demand[row], books.held[row], books.noticed[row], books.kept[row])
                for row in books.rows.leaves
            },
            "queues": {
                (path(leaf), rank, users[user]): [requests.id[row] for row in queue]
                for leaf, queues in lines.of.items()
                for (rank, user), queue in queues.items()
            },
            "least": {path(leaf): lines.least(leaf) for leaf in lines.of},
            "waiting": {(path(leaf), users[user]): units for (leaf, user), units in lines.waiting.items()},
            "gangs": {path(leaf): [name for *_, name, _ in line] for leaf, line in lines.gang_line.items() if line},
            "in_gangs": {path(leaf): units for leaf, units in lines.in_gangs.items() if units},
            "used_by": {(path(leaf), users[user]): units for (leaf, user), units in requests.used_by.items()},
            "hosts": {
                name: (row, hosts.slots[row], hosts.used[row], hosts.kept[row], hosts.up[row], hosts.labels.get(row))
                for name, row in hosts.row_of.items()
            },
            "notices": {
                cluster.attempt_of[group][allocation].name: [
                    (notices.taker[row], notices.units[row], notices.deadline[row], notices.reason[row]) for row in rows
                ]
                for allocation, rows in notices.by_allocation.items()
            },
            "rates": spending and {key: (meter.rate, meter.since) for key, meter in spending.meters.items()},
        }
    return found


def _peers(stated: Document) -> list[Document]:
    return [each for key in LISTS & stated.keys() for each in stated[key]]


def _renamed(path: str, old: str, new: str) -> str:
    return f"/{new}{path[len(old) + 1 :]}" if f"{path}/".startswith(f"/{old}/") else path


class PlanStorm(Storm):
    """See the module; changed : plans that came into force, refused : that could not, by what was changed."""

    def __init__(self, random: Random, *, forgets: bool) -> None:
        self.random = random
        self.document = self.first()
        self.changed: dict[str, int] = {}
        self.refused: dict[str, int] = {}
        self.made = 0
        super().__init__(random, forgets=forgets)

    def first(self) -> Document:
        """The plan at the begin."""
        return plan_document(
            **self.random.choice(({}, {"hold_after": "1s"}, {"await_ends": "9s"}, {"max_reclaims": 1}))
        )

    def fresh(self) -> dict[str, Books]:
        """Empty books of the plan in force, with the entries in force that are."""
        live = self.live.books if hasattr(self, "live") else {}
        force = {group: each.rows.force for group, each in live.items() if each.vectors is None}
        books = open_cluster_books(parse_plan(json.dumps(self.document), "plan")[0], 0, force)
        for group in force:
            books[group].before = live[group].before
        return books

    def _check_cycle(self, result: SlotCycle, cause: str) -> None:
        assert cause
        assert not isinstance(result, CycleResult) or check(result) == ()
        self.cycles += 1

    def start_again(self) -> None:
        """A start takes a second. A host that no plan has is not there any more after it, once nothing runs on it."""
        planned = {(group, name) for group, books in self.fresh().items() for name in books.hosts.row_of}
        if self.live.cluster.hosts.keys() <= planned:
            self.now += SECOND
            super().start_again()

    def run(self, steps: int) -> None:
        for _ in range(steps // 10):
            super().run(10)
            self.change_plan()

    def draw(self) -> Event:
        event = super().draw()
        if isinstance(event, MachineReported):
            return replace(event, labels=self.random.choice(((), ("ssd",), ("zone=a", "ssd"))))
        if isinstance(event, JobSubmitted | JobChanged) and event.consumer and self.random.random() < 0.9:
            return replace(event, consumer=self.random.choice(self.leaves()))
        return event

    def leaves(self) -> list[str]:
        """Paths of the leaves of the plan."""
        rows = next(iter(self.live.books.values())).rows
        return [rows.path(row) for row in rows.leaves]

    def change_plan(self) -> None:
        """Something of the plan is another, for the cluster in place and for its equals."""
        kind = self.random.choice(self.kinds())
        document = deepcopy(self.document)
        moved = kind(document) or {}
        try:
            plan = parse_plan(json.dumps(document), "plan")[0]
        except InputError:
            return
        self.now += self.random.choice((0, 0, 1000, SECOND, 300 * SECOND))
        frozen = json.loads(json.dumps(freeze(self.live.cluster)))
        try:
            thawed = thaw(frozen, open_cluster_books(plan, self.now), forgets=self.forgets, own=OWN, moved=moved)
        except InUseError as error:
            self.refused[kind.__name__] = self.refused.get(kind.__name__, 0) + 1
            self._is_refused(lambda: put_in_force(self.live.cluster, open_cluster_books(plan, self.now), moved), error)
            return
        self.changed[kind.__name__] = self.changed.get(kind.__name__, 0) + 1
        self.document = document
        for cluster in (self.live.cluster, self.replayed):
            put_in_force(cluster, open_cluster_books(plan, self.now), moved)
            assert json.dumps(freeze(cluster)) == json.dumps(freeze(thawed)), kind
            assert told(cluster) == told(thawed), kind
            check_cluster(cluster)
        self.live = self._orchestrator(self.live.cluster)
        self.live.on_cycle = self._check_cycle
        self.twin = self._orchestrator(thawed)
        for each in (self.live, self.twin):
            each.now = self.now
            each.changed_all()
        self.wake = self.now

    def _is_refused(self, call: Callable[[], None], error: InUseError) -> None:
        """The same is said, and nothing has changed."""
        before = json.dumps(freeze(self.live.cluster))
        with pytest.raises(InUseError) as found:
            call()
        assert (found.value.faults, sorted(found.value.jobs)) == (error.faults, sorted(error.jobs))
        assert json.dumps(freeze(self.live.cluster)) == before
        check_cluster(self.live.cluster)

    # What may change

    def kinds(self) -> list[Callable[[Document], Moved | None]]:
        """Each changes a plan's document, and may say which consumers are called otherwise."""
        here = [self.quota, self.settings_of, self.rank, self.window, self.budget, self.policy, self.host, self.group]
        return [*here, self.added, self.removed, self.renamed, self.joined, self.inside]

    def _path(self) -> str:
        return self.random.choice(["/A", *self.leaves()])

    def quota(self, document: Document) -> None:
        entry = self.random.choice(document["policies"])
        stated = entry["consumers"].setdefault(self._path(), {})
        stated.update(
            self.random.choice(({"owned": 0}, {"owned": 3}, {"limit": 4}, {"reserved": 1}, {"user_limit": 2}))
        )

    def settings_of(self, document: Document) -> None:
        entry = self.random.choice(document["policies"])
        chances = (
            {"within": "fifo"},
            {"victims": "oldest"},
            {"distribute_evenly": True},
            {"disable_reclaim_own": True},
            {"hold_after": "1s"},
            {"await_ends": "5s"},
        )
        entry["settings"] = entry.get("settings", {}) | self.random.choice(chances)

    def rank(self, document: Document) -> None:
        consumer = self.random.choice(list(document["consumers"].values()))
        consumer.update(self.random.choice(({"rank": 2}, {"rank": 0}, {"reclaim_grace": "3s"})))

    def window(self, document: Document) -> None:
        entries = document["policies"]
        if any("window" in entry for entry in entries):
            document["policies"] = [entry for entry in entries if "window" not in entry]
            return
        at = self.now // SECOND // 60
        other = deepcopy(entries[0]) | {"window": f"Thu {at // 60:02d}:{at % 60:02d}-{at // 60:02d}:{at % 60 + 1:02d}"}
        self.quota(document)
        document["policies"] = [other, *entries]
        document["time_zone"] = "UTC"

    def budget(self, document: Document) -> None:
        entry = self.random.choice(document["policies"])
        stated = entry["consumers"].setdefault(self._path(), {})
        if stated.pop("budget", None) is None:
            period = self.random.choice(("day", "week"))
            then = self.random.choice(("wait", "lowest_rank"))
            stated["budget"] = {"unit_hours": 1, "period": period, "then": then}
            document["time_zone"] = "UTC"

    def policy(self, document: Document) -> None:
        for entry in document["policies"]:
            entry["policy"] = self.random.choice(("hybrid", "ownership", "share_ratio"))
            entry["settings"] = {}
            same = {"rank", "budget", "user_limit", "limit", *(("owned",) if entry["policy"] != "share_ratio" else ())}
            entry["consumers"] = {
                path: {key: value for key, value in stated.items() if key in same}
                for path, stated in entry["consumers"].items()
            }
            if entry["policy"] == "ownership":
                for lender in self.leaves():
                    stated = entry["consumers"].setdefault(lender, {"owned": 1})
                    others = [{"consumer": each} for each in self.leaves() if each != lender]
                    stated |= {"lend_to": others, "borrow_from": others}

    def host(self, document: Document) -> None:
        of = self.random.choice(list(document["resource_groups"].values()))
        if self.random.random() < 0.5:
            self.random.choice(of["hosts"])["slots"] = self.random.choice((1, 2, 4))
        elif len(of["hosts"]) > 1 and self.random.random() < 0.5:
            of["hosts"].pop(self.random.randrange(len(of["hosts"])))
        else:
            known = {each["name"] for group in document["resource_groups"].values() for each in group["hosts"]}
            name = self.random.choice(sorted({OWN, "h2", "h3", "g1", "g2", "x1", "x2"} - known) or ["x3"])
            of["hosts"].insert(0, {"name": name, "slots": 2, "labels": ["ssd"]})

    def group(self, document: Document) -> None:
        if "gpu" in document["resource_groups"]:
            del document["resource_groups"]["gpu"]
        else:
            document["resource_groups"]["gpu"] = {"hosts": [{"name": "g2", "slots": 2}]}
        for entry in document["policies"]:
            entry["resource_groups"] = list(document["resource_groups"])

    def added(self, document: Document) -> None:
        self.made += 1
        names = list(document["consumers"])
        names.insert(self.random.randrange(len(names) + 1), f"N{self.made}")
        document["consumers"] = {name: document["consumers"].get(name, {}) for name in names}

    def removed(self, document: Document) -> None:
        name = self.random.choice([name for name in document["consumers"] if name != "A"] or ["A"])
        del document["consumers"][name]
        self._forget(document, f"/{name}")

    def inside(self, document: Document) -> None:
        """A leaf gets children, or loses one of them."""
        name = self.random.choice(list(document["consumers"]))
        children = document["consumers"][name].setdefault("consumers", {})
        if children and self.random.random() < 0.5:
            gone = self.random.choice(list(children))
            del children[gone]
            self._forget(document, f"/{name}/{gone}")
        else:
            children[f"n{self.made}"] = {}
        if not children:
            del document["consumers"][name]["consumers"]

    def renamed(self, document: Document) -> Moved:
        self.made += 1
        old, new = self.random.choice(list(document["consumers"])), f"M{self.made}"
        names = {new if name == old else name: of for name, of in document["consumers"].items()}
        document["consumers"] = names if self.random.random() < 0.5 else dict(reversed(names.items()))
        for entry in document["policies"]:
            for peer in (each for of in entry["consumers"].values() for each in _peers(of)):
                peer["consumer"] = _renamed(peer["consumer"], old, new)
            entry["consumers"] = {_renamed(path, old, new): stated for path, stated in entry["consumers"].items()}
        return {f"/{old}": f"/{new}"} if self.random.random() < 0.9 else {}

    def joined(self, document: Document) -> Moved:
        """All jobs of a leaf go to another one, and it goes."""
        leaves = [name for name, of in document["consumers"].items() if not of.get("consumers")]
        if len(leaves) < 3:
            return {}
        one, other = self.random.sample(leaves, 2)
        del document["consumers"][one]
        self._forget(document, f"/{one}")
        return {f"/{one}": f"/{other}"}

    @staticmethod
    def _forget(document: Document, path: str) -> None:
        for entry in document["policies"]:
            stated: Mapping[str, Any] = entry["consumers"]
            entry["consumers"] = {each: of for each, of in stated.items() if not f"{each}/".startswith(f"{path}/")}
            for of in entry["consumers"].values():
                for key in LISTS & of.keys():
                    of[key] = [each for each in of[key] if not f"{each['consumer']}/".startswith(f"{path}/")]


class VectorPlanStorm(PlanStorm, VectorStorm):
    """The same of vectors, shared in pools or as queues."""

    fresh = PlanStorm.fresh
    _orchestrator = VectorStorm._orchestrator

    def first(self) -> Document:
        return deepcopy(PLAN)

    def _count(self, cycle: VectorCycle, cause: str) -> None:
        """A host may have less than it holds where its plan gives it less than the one before."""
        assert cause
        self.cycles += 1
        assert not any(unit.host.is_closed for each in cycle.done for unit in each.sweeps.placed)

    def draw(self) -> Event:
        event = super().draw()
        if isinstance(event, JobSubmitted) and "slots" in self.live.books and self.random.random() < 0.3:
            return replace(event, resource_group="slots", unit=(), min_count=0)
        return event

    def kinds(self) -> list[Callable[[Document], Moved | None]]:
        same = [self.rank, self.added, self.removed, self.renamed, self.joined, self.inside, self.window]
        return [*same, self.host, self.quota, self.policy, self.resources, self.slots]

    def quota(self, document: Document) -> None:
        entry = self.random.choice(document["policies"])
        stated = entry["consumers"].setdefault(self._path(), {})
        if entry["policy"] == "fair_share":
            stated.update(self.random.choice(({"deserved": {"cpu": 4}}, {"priority": 50}, {"limit": {"cpu": 9}})))
        else:
            own = {"resource_group": self.random.choice(("all", "more")), "per_host": {"cpu": 1}}
            more = {"resource_group": "more", "total": {"cpu": 1}, "lend_grace": "5s"}
            stated.update(
                self.random.choice(
                    ({"own": [own]}, {"own": [own, more]}, {"share_ratio": 3}, {"share_limit": {"cpu": 4}})
                )
            )

    def policy(self, document: Document) -> None:
        queue = {"k": "1", "half_life": "20s", "usage_window": "60s"}
        for entry in document["policies"]:
            if set(entry["resource_groups"]) & {"all", "more"}:
                is_queue = self.random.random() < 0.6
                entry["policy"] = "fair_share" if is_queue else "multidimensional"
                entry["settings"] = queue if is_queue else self.random.choice(CONTROLS)
                entry["consumers"] = {}
        for _ in range(3):
            self.quota(document)

    def host(self, document: Document) -> None:
        of = self.random.choice([document["resource_groups"][name] for name in ("all", "more")])
        if self.random.random() < 0.5:
            self.random.choice(of["hosts"])["cpu"] = self.random.choice((2, 4, 6))
        elif len(of["hosts"]) > 1 and self.random.random() < 0.5:
            of["hosts"].pop(self.random.randrange(len(of["hosts"])))
        else:
            known = {each["name"] for name in ("all", "more") for each in document["resource_groups"][name]["hosts"]}
            left = sorted({OWN, "h2", "h3", "g1"} - known)
            if left:
                name = self.random.choice(left)
                of["hosts"].insert(0, {"name": name, "cpu": 4, "gpu": _GPUS[name], "labels": ["zone=b"]})

    def resources(self, document: Document) -> None:
        """Amounts are counted in other base units, or jobs need what is not there any more."""
        if self.random.random() < 0.2:
            document["resources"] = {"cpu": {}}
        else:
            document["resources"] = {"cpu": self.random.choice(({}, {"overcommit": "1.5"})), "gpu": {}}

    def slots(self, document: Document) -> None:
        """Slots are shared beside vectors, or not any more."""
        if document["resource_groups"].pop("slots", None) is None:
            document["resource_groups"]["slots"] = {"slots": 3}
            document["policies"].append({"resource_groups": ["slots"], "policy": "hybrid", "consumers": {}})
        else:
            document["policies"] = [each for each in document["policies"] if each["resource_groups"] != ["slots"]]
