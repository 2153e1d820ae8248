"""What a leaf wants, as one number: read from a state, and written into it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.lab.places import NoPlaceError, nearest
from fairhold.planio.document import Document
from fairhold.planio.report import Report, listed, shown
from fairhold.planio.scalars import is_whole
from fairhold.planio.sides import listed_by
from fairhold.planio.stateview import StateView, slot_groups
from fairhold.planio.vectors import asks_for_vector

if TYPE_CHECKING:
    from fairhold.errors import Place
    from fairhold.lab.places import Node
    from fairhold.model.plan import Plan


class _Groups(NamedTuple):
    """Resource groups that a leaf can want units of.

    slots   : by slots, each for itself
    vectors : whose hosts its units of resources stand on, all together
    """

    slots: tuple[str, ...]
    vectors: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """One for each number of its demand."""
        return (*self.slots, *self.vectors[:1])


class Wants:
    """What leaves want in a state of a plan."""

    def __init__(self, plan: Plan, state: Node) -> None:
        self._plan, self._state = plan, state
        self._view = StateView(Report(Document(None, "", "", is_json=True)), plan)
        self._only = self._view.shared[0] if len(self._view.shared) == 1 else ""
        self._listed = [(entry, listed_by(entry, plan.tree)) for entry in plan.policies]
        self._asked: dict[str, list[tuple[int, Node]]] = {}
        for at, row in enumerate(state.get("requests") or ()):
            self._asked.setdefault(row["consumer"], []).append((at, row))
        self.held: Counter[str] = Counter()
        for row in state.get("allocations") or ():
            self.held[row["request"]] += row["units"]

    def groups(self, path: str) -> _Groups:
        """Those of the entries that name somebody of its first-level branch; of all entries where none does."""
        plan = self._plan
        row = plan.tree.rows[path]
        naming = [entry for entry, listed in self._listed if plan.tree.first_level[row] in listed]
        slots = [entry for entry in naming or plan.policies if not entry.policy.shares_vectors]
        has_vectors = not naming or len(slots) < len(naming)
        names = dict.fromkeys(name for entry in slots for name in entry.resource_groups)
        return _Groups(tuple(names), self._view.groups_of(row) if has_vectors else ())

    def rows(self, path: str, group: str) -> list[tuple[int, Node]]:
        """Requests of a leaf with their positions: for slots of a group, or for resources where it is shared so."""
        is_vector = group in self._view.vectors
        return [
            (at, row)
            for at, row in self._asked.get(path, ())
            if asks_for_vector(self._view, row) == is_vector
            and (is_vector or row.get("resource_group", self._only) == group)
        ]

    def is_counted(self, group: str) -> bool:
        """Whether the state has counts of a group, for whomever."""
        parts = (self._state.get(section) or {} for section in ("demand", "allocated"))
        return any(group in (each or {}) for part in parts for each in part.values())

    def numbers(self, path: str) -> dict[str, Any]:
        """Group of a leaf → units that it wants, or resource → amount; what is not said is 0."""
        stated = (self._state.get("demand") or {}).get(path) or {}
        return {
            name: stated[name] if name in stated else sum(row["count"] for _, row in self.rows(path, name))
            for name in self.groups(path).names
        }


def want(state: Node, plan: Plan, path: str, rest: str, value: Any) -> list[Place]:  # noqa: ANN401 - as written
    """Let a leaf want so much; returns where that stands in the state. Raises NoPlaceError.

    rest : a resource group, a resource, or both with a point between them; empty = the only group

    Where the state has requests, units that are held stay: others come to its last request or go from its last ones.
    """
    if not plan.tree.is_leaf(plan.tree.rows[path]):
        raise NoPlaceError(f"`{shown(path)}` is not a leaf, and only leaves have demand", "name a leaf below it")
    wants = Wants(plan, state)
    group, resource = _meant(wants, plan, path, rest)
    if resource:
        if wants.rows(path, group):
            raise NoPlaceError(f"`{shown(path)}` has requests", f"write `{shown(path)}:demand=N`, in units")
        node = state.setdefault("demand", {}).setdefault(path, {}).setdefault(group, {})
        node[resource] = 0 if value is None else value
        return [("demand", path, group, resource)]
    units = 0 if value is None else value
    if not is_whole(units) or units < 0:
        raise NoPlaceError(f"`{shown(units)}` is not a number of units", "write a whole number from 0 on")
    if group in slot_groups(plan) and wants.is_counted(group):
        state.setdefault("demand", {}).setdefault(path, {})[group] = units
        return [("demand", path, group)]
    rows = wants.rows(path, group)
    if not rows:
        return [_new_request(state, plan, path, group, units)]
    return _spread(wants, rows, path, units)


def _spread(wants: Wants, rows: list[tuple[int, Node]], path: str, units: int) -> list[Place]:
    held = sum(wants.held[row["id"]] for _, row in rows)
    if units < held:
        what = f"`{shown(path)}` holds {held} units, so it cannot want only {units}"
        raise NoPlaceError(what, f"write {held} or more; what is held comes from the state")
    more = units - sum(row["count"] for _, row in rows)
    if more >= 0:
        at, row = rows[-1]
        row["count"] += more
        return [("requests", at, "count")]
    changed = []
    for at, row in reversed(rows):
        taken = min(-more, max(0, row["count"] - wants.held[row["id"]]))
        if taken:
            row["count"] -= taken
            more += taken
            changed.append(("requests", at, "count"))
    return [*changed]


def _new_request(state: Node, plan: Plan, path: str, group: str, units: int) -> Place:
    if group not in slot_groups(plan):
        what = f"`{shown(path)}` has no request in the state that says what a unit is"
        raise NoPlaceError(what, "add one to the state, with `unit:` and `count:`")
    requests = state.setdefault("requests", [])
    name = f"demand of {path} in {group}"
    requests.append({"id": name, "consumer": path, "resource_group": group, "count": units})
    return ("requests", len(requests) - 1, "count")


def _meant(wants: Wants, plan: Plan, path: str, rest: str) -> tuple[str, str]:
    """Resource group and, of amounts, resource."""
    groups = wants.groups(path)
    names = (*groups.slots, *groups.vectors)
    resources = [each.name for each in plan.resources]
    for name in sorted(names, key=len, reverse=True):
        if rest == name:
            return name, ""
        if rest.startswith(f"{name}.") and rest[len(name) + 1 :] in resources:
            return name, rest[len(name) + 1 :]
    if rest in resources and groups.vectors:
        return groups.vectors[0], rest
    if rest:
        what = f"`{shown(path)}` wants nothing that is called `{shown(rest)}`"
        raise NoPlaceError(what, nearest(rest, (*names, *resources), "resource group or resource"))
    asked = [name for name in groups.names if len(groups.names) == 1 or wants.numbers(path)[name]]
    if len(asked) != 1:
        what = f"`{shown(path)}` can want units of several resource groups"
        mend = f"write `{shown(path)}:demand.{shown((asked or groups.names or ('',))[0])}=N`, of {listed(groups.names)}"
        raise NoPlaceError(what, mend)
    return asked[0], ""
