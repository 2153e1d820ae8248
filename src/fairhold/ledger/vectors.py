"""Books of units of vectors: one set for all policies of vectors, beside the books of every group of slots.

In these books a unit counts as one, so requests, allocations and notices use the same tables as slots. This module
adds the amounts of a unit and the owners of the parcels of hosts.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from fairhold.kernels.columns import PlanColumns, zeros
from fairhold.ledger import transitions
from fairhold.ledger.books import Books
from fairhold.ledger.history import histories_of
from fairhold.ledger.layout import lay_tree
from fairhold.ledger.rows import Rows
from fairhold.model.plan import ResourceGroup
from fairhold.model.siting import label_set
from fairhold.model.vector import Told, told_of, vector_of
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fairhold.model.adjusted import Adjusted
    from fairhold.model.plan import Host, Plan
    from fairhold.model.state import Parts
    from fairhold.model.vector import OwnEntry, Parcel, Vector

PartsTold = tuple[tuple[str, str, str], ...]
"""On whose parcels a unit stands: (path of an owner, `/` = nobody, resource, amount in declared units)."""
Suitable = tuple["Sequence[Host]", "Mapping[Vector, int]"]
"""Hosts that will do for some requests, and how many of them have which amounts."""
POOLED = ""
"""In place of a resource group: any group of their consumer's policy entry will do for units of vectors."""


class Touched:
    """What may have changed in a cluster since the last cycle.

    jobs      : names of jobs of which data that a cycle reads may have changed
    attempts  : numbers of attempts that started, ended or have other parcels
    are_hosts : whether the state or the labels of hosts may have changed
    """

    __slots__ = ("are_hosts", "attempts", "jobs")

    def __init__(self) -> None:
        self.jobs: dict[str, None] = {}
        self.attempts: dict[int, None] = {}
        self.are_hosts = False


class Vectors:
    """Data of books of vectors in addition to the tables of slots.

    ownership : parcels as last adjusted, None = not assigned yet
    own_entries : parcels by entry, where a consumer has several entries of `own`
    adjusted  : resource group → its last adjustment, where the plan sets an interval
    held      : (request, host) → freed units kept for it, after the last cycle
    freed     : (request, host) where units under notice for it have ended since that cycle
    histories : usage history, one for each entry of `fair_share`
    queues    : first-level consumers whose units `fair_share` shares; None = not computed yet
    suitable  : groups, labels to have and to avoid → hosts like that, as long as hosts keep their labels
    touched   : changes, for books that are kept from cycle to cycle; None = there are none
    """

    def __init__(self, plan: Plan) -> None:
        self._resources, self._tree = plan.resources, plan.tree
        self.ownership: tuple[Parcel, ...] | None = None
        self.own_entries: tuple[OwnEntry, ...] = ()
        self.adjusted: dict[str, Adjusted] = {}
        self.held: dict[tuple[str, str], int] = {}
        self.freed: dict[tuple[str, str], None] = {}
        self.queues: frozenset[int] | None = None
        self.touched: Touched | None = None
        self.suitable: dict[tuple[frozenset[str], tuple[str, ...], tuple[str, ...]], Suitable] = {}
        self._jobs = 0
        self.histories = histories_of(plan)
        self._units: dict[Told, Vector | None] = {}
        self._parts: dict[PartsTold, Parts] = {(): ()}
        self._parts_told: dict[Parts, PartsTold] = {(): ()}

    def next_job(self) -> int:
        """Which job of its cluster a new one is."""
        self._jobs += 1
        return self._jobs

    def touch_job(self, name: str, attempts: Iterable[int] = ()) -> None:
        """A job may ask for something else; attempts: numbers of those that another entry may share by now."""
        if self.touched is not None:
            self.touched.jobs[name] = None
            self.touched.attempts |= dict.fromkeys(attempts)

    def touch_attempt(self, number: int) -> None:
        """An attempt has started or ended, or has other parcels."""
        if self.touched is not None:
            self.touched.attempts[number] = None

    def touch_hosts(self) -> None:
        """The state or the labels of hosts may have changed."""
        self.suitable.clear()
        if self.touched is not None:
            self.touched.are_hosts = True

    def unit(self, told: Told) -> Vector | None:
        """The vector of a unit as jobs name it; None where the plan has not all of its resources in such amounts."""
        if told not in self._units:
            self._units[told] = vector_of(self._resources, told)
        return self._units[told]

    def parts(self, told: PartsTold) -> Parts:
        """Parts in rows and base units; none where the plan has not all of their owners, or not such amounts."""
        if told not in self._parts:
            self._parts[told] = self._read(told)
        return self._parts[told]

    def _read(self, told: PartsTold) -> Parts:
        of_path: dict[str, list[tuple[str, str]]] = {}
        for path, name, text in told:
            of_path.setdefault(path, []).append((name, text))
        rows = self._tree.rows
        found = [(rows.get(path), vector_of(self._resources, amounts)) for path, amounts in of_path.items()]
        known = [(row, vector) for row, vector in found if row is not None and vector is not None]
        return tuple(sorted(known)) if len(known) == len(found) else ()

    def parts_told(self, parts: Parts) -> PartsTold:
        """The reverse of `parts`."""
        if parts not in self._parts_told:
            paths = self._tree.paths
            told = [(row, pair) for row, vector in parts for pair in told_of(self._resources, vector)]
            self._parts_told[parts] = tuple((paths[row], *pair) for row, pair in told)
        return self._parts_told[parts]


def vector_groups(plan: Plan) -> list[str]:
    """Resource groups that policies share in vectors, in plan order."""
    shared = {group for entry in plan.policies for group in entry.resource_groups}
    return [group for group in plan.resource_groups if group in shared and plan.resource_groups[group].shares_vectors]


def open_vectors(plan: Plan) -> Books | None:
    """Empty books of all vectors of a plan; None where it shares none."""
    groups = vector_groups(plan)
    if not groups:
        return None
    books = Books(_lay_out(plan, groups))
    books.vectors = Vectors(plan)
    for group in groups:
        for host in plan.resource_groups[group].hosts:
            row = transitions.add_host(books, host.name, 0)
            transitions.label_host(books, row, label_set(host.labels))
    return books


def _lay_out(plan: Plan, groups: list[str]) -> Rows:
    """The consumers of a plan in columns that no window changes: nobody owns slots."""
    tree = plan.tree
    at = next(at for at, entry in enumerate(plan.policies) if groups[0] in entry.resource_groups)
    planned = PlanColumns(zeros(len(tree)), zeros(len(tree)), array("q", [UNLIMITED]) * len(tree))
    hosts = tuple(host for group in groups for host in plan.resource_groups[group].hosts)
    together = ResourceGroup(", ".join(groups), 0, None, hosts)
    rank, grace = zeros(len(tree)), zeros(len(tree))
    for row in range(1, len(tree)):
        stated, own = tree.rank[row], tree.grace[row]
        rank[row] = plan.default_rank if stated is None else stated
        grace[row] = grace[tree.parent[row]] if own is None else own
    same = (plan, (at,), together, (plan.policies[at],), zeros(len(tree)))
    return Rows(*same, lay_tree(tree, rank), planned, zeros(len(tree)), grace, 0, tree.paths)
