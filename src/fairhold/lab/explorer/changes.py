"""Changes of a plan, or of the state beside it: how they are written, and what they write."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.errors import Fault, InputError
from fairhold.lab.explorer.demand import want
from fairhold.lab.places import NoPlaceError, entries_of_window, nearest, node_at, places_of
from fairhold.planio.document import parse_document
from fairhold.planio.report import shown
from fairhold.planio.requests import REQUEST_KEYS

if TYPE_CHECKING:
    from fairhold.errors import Place, Step
    from fairhold.lab.places import Node
    from fairhold.model.plan import Plan

CODE = "change"
ALL_WINDOWS = "all-windows"
DEMAND = "demand"
LONGEST = 10_000
"""Characters of one change."""
EXAMPLE = "write `/Trading:owned=8`, `/Trading/FX:demand=5`, `compute:slots=20` or `settings:victims=oldest`"
_ENTRY = r"(?:policies\[([0-9]{1,6})\]\.?|window\[([^\[\]]*)\]\.?)?"
_SHAPE = re.compile(_ENTRY + r"(.+?):([a-z_]+(?:[.\[][^=]*?)?)=(.*)", re.DOTALL)
_KEY = re.compile(r"([a-z_]+)((?:\[[0-9]{1,6}\])*)(?:\.(.+))?", re.DOTALL)
_OF_AMOUNTS = ("per_host", "total")
"""Keys of a row of a list that hold amounts by resource; the name of one may hold points."""


class Change(NamedTuple):
    """One change.

    text  : as it was written
    entry : position of the only policy entry that is meant, None = all that fit
    window: the only one of which entries are meant, empty = those without; None = all that fit
    where : path of a consumer, `settings`, name of a resource group, or id of a request
    steps : the setting, and what of it: `("deserved", "gpu")`
    value : what it is to be; None takes it away
    """

    text: str
    entry: int | None
    window: str | None
    where: str
    steps: tuple[Step, ...]
    value: Any

    def only(self, plan_document: Node) -> list[int] | None:
        """Positions of the policy entries that are meant; None = all that fit."""
        if self.window is not None:
            return entries_of_window(plan_document, self.window)
        return None if self.entry is None else [self.entry]


def _meant(text: str) -> str:
    """The change that was meant where a dot stands in place of the colon; empty where that is none either."""
    where, dot, rest = text.partition(".")
    fixed = f"{where}:{rest}"
    match = _SHAPE.fullmatch(fixed.strip()) if dot and len(text) <= LONGEST else None
    return f"did you mean `{fixed.strip()}`?" if match and _KEY.fullmatch(match[4]) else ""


def parse_change(text: str) -> Change:
    """Read one; raises InputError."""
    match = _SHAPE.fullmatch(text.strip()) if len(text) <= LONGEST else None
    key = _KEY.fullmatch(match[4]) if match else None
    if match is None or key is None:
        raise _fault(text, "it does not say what to change", _meant(text) or EXAMPLE)
    head, places, rest = key.groups()
    parts = rest.split(".", 1) if rest and rest.startswith(tuple(f"{each}." for each in _OF_AMOUNTS)) else [rest]
    steps = (head, *(int(at) for at in re.findall(r"[0-9]+", places)), *(part for part in parts if part))
    entry, window, where, _, stated = match.groups()
    return Change(text, int(entry) if entry else None, window, where, steps, _value(text, stated.strip()))


def _value(text: str, stated: str) -> Any:  # noqa: ANN401 - whatever a plan can hold
    if not stated:
        return None
    try:
        document = parse_document(f"value: {stated}", text).value
    except InputError as error:
        raise _fault(text, f"`{shown(stated)}` is not a value: {error.faults[0].what}", EXAMPLE) from None
    return document["value"] if isinstance(document, dict) and document.keys() == {"value"} else stated


def of_all_windows(change: Change, plan_document: Node) -> list[Fault]:
    """That a change alters a value in several windows in which it was not the same; to be asked before `apply`."""
    head = str(change.steps[0])
    if change.entry is not None or change.window is not None or head == DEMAND:
        return []
    try:
        places = places_of(plan_document, change.where, head)
    except NoPlaceError:  # `apply` says so
        return []
    entries = [int(place[1]) for place in places if place[0] == "policies"]
    windows = [plan_document["policies"][at].get("window") or "" for at in entries]
    was = [_stated(plan_document, (*place, *change.steps)) for place in places]
    if len(entries) < 2 or not any(windows) or all(each == was[0] for each in was):
        return []
    told = [
        f"policies[{at}] ({window or 'without a window'}): {'-' if value is None else shown(value)}"
        for at, window, value in zip(entries, windows, was, strict=True)
    ]
    text = change.text.strip()
    what = f"it changes the value in every window: {'; '.join(told)}"
    one = f"window[{shown(windows[0])}]{'' if text[0] == '/' else '.'}{shown(text)}"
    mend = f"name one window to change it there alone: `{one}`"
    return [Fault(ALL_WINDOWS, what, mend, file=shown(change.text))]


def _stated(document: Node, place: Place) -> object:
    """What stands at a place; None = nothing."""
    node: Any = document
    for step in place:
        if isinstance(node, dict):
            node = node.get(step)
        elif isinstance(node, list) and isinstance(step, int) and step < len(node):
            node = node[step]
        else:
            return None
    return node


def apply(change: Change, plan_document: Node, state_document: Node, plan: Plan) -> list[Place]:
    """Write a change into the documents; returns where. Raises InputError, and the documents are then of no use.

    plan : of the document as it was before any change
    """
    try:
        return _apply(change, plan_document, state_document, plan)
    except NoPlaceError as error:
        raise _fault(change.text, error.what, error.mend) from None


def _apply(change: Change, plan_document: Node, state_document: Node, plan: Plan) -> list[Place]:
    where, head = change.where, str(change.steps[0])
    if where.startswith("/") and where not in plan.tree.rows:
        raise NoPlaceError(f"there is no consumer `{shown(where)}`", nearest(where, plan.tree.paths[1:], "consumer"))
    if where.startswith("/") and head == DEMAND:
        rest = ".".join(map(str, change.steps[1:]))
        return want(state_document, plan, where, rest, change.value)
    rows = [at for at, row in enumerate(state_document.get("requests") or ()) if row.get("id") == where]
    if rows and where not in plan.resource_groups:
        if head not in REQUEST_KEYS:
            raise NoPlaceError(f"`{shown(head)}` is not a key of a request", nearest(head, REQUEST_KEYS, "key"))
        return [_write(state_document, ("requests", rows[0]), change)]
    if where.startswith("/") or where == "settings" or where in plan.resource_groups:
        places = places_of(plan_document, where, head, change.only(plan_document))
        said = (state_document.get("resource_groups") or {}).get(where)
        if said is not None and head in said:  # what it has now, for whatever reason
            _write(state_document, ("resource_groups", where), change)
        return [_write(plan_document, place, change) for place in places]
    known = (*plan.resource_groups, *(row["id"] for row in state_document.get("requests") or ()))
    what = f"`{shown(where)}` is not a consumer, resource group or request"
    raise NoPlaceError(what, nearest(where, (*known, *plan.tree.paths[1:]), "resource group or request"))


def _write(document: Node, place: Place, change: Change) -> Place:
    """Write the value below a mapping; returns where it stands."""
    node: Any = node_at(document, place)
    *above, last = change.steps
    for at, step in enumerate(above):
        node = _below(node, step, change.steps[at + 1])
    if isinstance(node, list) and not (isinstance(last, int) and last < len(node)):
        raise NoPlaceError(f"there is no [{last}] in it", f"it has {len(node)}, from 0 on")
    if change.value is not None:
        node[last] = change.value
    elif isinstance(node, list):
        del node[int(last)]
    else:
        node.pop(last, None)
    return (*place, *change.steps)


def _below(node: Any, step: Step, following: Step) -> Any:  # noqa: ANN401 - a mapping or a list
    """What is below a mapping or a list; a mapping is made where nothing is."""
    if isinstance(node, list):
        if not isinstance(step, int) or step >= len(node):
            raise NoPlaceError(f"there is no [{step}] in it", f"it has {len(node)}, from 0 on")
        found = node[step]
    else:
        found = node.setdefault(step, {}) if isinstance(following, str) else node.get(step)
    if not isinstance(found, list if isinstance(following, int) else dict):
        raise NoPlaceError(f"`{shown(step)}` is {shown(found)}, which has no parts", "write the whole value")
    return found


def _fault(text: str, what: str, mend: str) -> InputError:
    return InputError([Fault(CODE, what, mend, file=shown(text))])
