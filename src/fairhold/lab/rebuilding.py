"""A live cluster from its log, without deciding anything and without the service."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from fairhold.errors import Fault, InputError
from fairhold.orchestrator.cluster import Cluster
from fairhold.orchestrator.opening import open_cluster_books
from fairhold.orchestrator.replanning import put_in_force
from fairhold.planio.nodes import nodes_of, take_nodes, with_nodes
from fairhold.planio.plan import parse_plan
from fairhold.runtime.live.journal import NODES, PLAN_APPLIED, change_of
from fairhold.sim.event_trace import NodesChanged, Replanned
from fairhold.sim.forecast import thawed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from fairhold.model.kubernetes import Node
    from fairhold.model.plan import Plan
    from fairhold.orchestrator.changes import Change
    from fairhold.ports import Entry

    Document = dict[str, Any]

RESTORE = "use an undamaged store or record: `fairhold store check` looks through a store"
UNREADABLE = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
"""What is raised where something that was written down is not as it was written."""


FORCES = (PLAN_APPLIED, NODES)
"""Kinds of entries by which other books are in force."""


class Saved(NamedTuple):
    """A snapshot of a service: number and instant of the last entry that it holds, and what it says."""

    seq: int
    at: int
    document: Document


class Source(Protocol):
    """Where the log of a service comes from."""

    name: str

    def snapshot(self, until: int) -> Saved | None:
        """The latest snapshot that was taken at or before an instant; None = there is none."""
        ...

    def entries(self, after: int) -> Iterable[Entry]:
        """All entries with numbers above one, in order; InputError where some are missing."""
        ...

    def plan(self, version: int) -> str:
        """Text of a version of the plan; InputError where it is not there."""
        ...

    def is_running(self) -> bool:
        """Whether the service goes on."""
        ...


class Rebuilt:
    """The cluster by the entries so far.

    cluster : None before the first plan; plan, version: in force, with `nodes` as hosts where it says so
    """

    def __init__(self, plan_of: Callable[[int], str], own: str) -> None:
        self._plan_of, self._own = plan_of, own
        self.cluster: Cluster | None = None
        self.plan: Plan | None = None
        self.nodes: dict[str, Node] = {}
        self.text = ""
        self.version = 0

    def begin(self, saved: Saved) -> None:
        """Go on from a snapshot; raises one of `UNREADABLE`, or InputError."""
        document = saved.document["cluster"]
        self.version = saved.document["version"]
        self.text = self._plan_of(self.version)
        take_nodes(self.nodes, nodes_of(saved.document.get("nodes", {})))
        self.plan = self._with_nodes(parse_plan(self.text, f"plan {self.version}")[0])
        self.cluster = thawed(self.plan, document, saved.at, self._own)

    def take(self, at: int, kind: str, fields: list[Any]) -> Replanned | NodesChanged:
        """A plan comes into force, or the cluster has other nodes; fields: of the entry."""
        found: Replanned | NodesChanged
        if kind == NODES:
            assert self.plan is not None
            found = NodesChanged(nodes_of(fields[0]), _windows(fields[1]))
            take_nodes(self.nodes, found.nodes)
            self._put(at, self.plan, found.windows)
        else:
            self.version, moved, _, *windows = fields
            self.text = self._plan_of(self.version)
            plan = parse_plan(self.text, f"plan {self.version}")[0]
            found = Replanned(plan, dict(moved), _windows(windows[0]) if windows else {})
            self._put(at, plan, found.windows, found.moved)
        return found

    def _put(
        self, at: int, plan: Plan, windows: Mapping[str, tuple[int, ...]], moved: Mapping[str, str] | None = None
    ) -> None:
        self.plan = self._with_nodes(plan)
        books = open_cluster_books(self.plan, at, windows)
        if self.cluster is None:
            self.cluster = Cluster(books, forgets=True, own=self._own)
        else:
            put_in_force(self.cluster, books, moved)

    def _with_nodes(self, plan: Plan) -> Plan:
        return with_nodes(plan, self.nodes.values())

    def apply(self, change: Change, at: int) -> None:
        """A change happens again."""
        assert self.cluster is not None
        self.cluster.apply(change, at)
        self.cluster.ended.clear()
        self.cluster.ended_jobs.clear()


def _windows(said: Mapping[str, list[int]]) -> dict[str, tuple[int, ...]]:
    return {group: tuple(entries) for group, entries in said.items()}


def read_fields(entry: Entry, name: str) -> tuple[str, list[Any], Change | None]:
    """Kind and fields of an entry, and the change that it is, if it is one; InputError `record-damaged`."""
    try:
        kind, *fields = json.loads(entry.body)
        change = None if kind in FORCES else change_of(kind, fields)
    except UNREADABLE as error:
        raise damaged(name, f"entry {entry.seq} of the log cannot be read: {error}") from error
    return kind, fields, change


def damaged(name: str, what: str) -> InputError:
    """A log that cannot be followed."""
    return InputError([Fault("record-damaged", what, RESTORE, file=name)])
