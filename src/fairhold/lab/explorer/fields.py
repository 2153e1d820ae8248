"""What the page of the explorer shows of a plan: its tree, and which of its numbers can be edited where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.lab.explorer.demand import Wants
from fairhold.lab.explorer.numbers import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fairhold.errors import Fault
    from fairhold.lab.explorer.exploring import Explored, Explorer

Document = dict[str, Any]


def content_document(explorer: Explorer, title: str) -> Document:
    """The plan as it was read, with all numbers of it.

    Of every entry and consumer `stated` is what the file says, by the key that a change of it has.
    """
    plan, document = explorer.plan, explorer.plan_document
    wants = Wants(plan, explorer.state_document)
    tree = plan.tree
    return {
        "title": title,
        "entries": [
            {
                "policy": entry.policy.name,
                "resource_groups": entry.resource_groups,
                "window": entry.window,
                "settings": entry.policy.settings,
                "keys": entry.policy.keys,
                "stated": dict(_flat(document["policies"][at].get("settings") or {})),
            }
            for at, entry in enumerate(plan.policies)
        ],
        "groups": {name: dict(_flat(node)) for name, node in document["resource_groups"].items()},
        "consumers": [
            {
                "path": path,
                "stated": [
                    dict(_flat((entry.get("consumers") or {}).get(path) or {})) for entry in document["policies"]
                ],
                "demand": _demand(wants, path) if tree.is_leaf(row) else {},
            }
            for row, path in enumerate(tree.paths)
            if row
        ],
        "numbers": [
            {name: part for name, part in where._asdict().items() if part} | {"after": value}
            for where, value in numbers(explorer.quotas).items()
        ],
        "warnings": [fault_document(fault) for fault in explorer.warnings],
    }


def explored_document(explored: Explored) -> Document:
    """What comes of some changes."""
    return {
        "differences": explored.differences,
        "warnings": [fault_document(fault) for fault in explored.warnings],
        "findings": [str(finding) for finding in explored.findings],
    }


def fault_document(fault: Fault) -> Document:
    """A fault or warning, with its place step by step, and the change that it comes from."""
    return {
        "code": fault.code,
        "what": fault.what,
        "mend": fault.mend,
        "change": fault.file,
        "place": list(fault.place),
    }


def _demand(wants: Wants, path: str) -> Document:
    """Key of a change → units or amount."""
    found = wants.numbers(path)
    if len(found) == 1 and not isinstance(next(iter(found.values())), dict):
        return {"demand": next(iter(found.values()))}
    return dict(_flat({"demand": found}))


def _flat(value: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Every single value with its key, as changes write it: `deserved.gpu`, `own[0].hosts`."""
    for key, inner in value.items():
        yield from _below(inner, f"{above}.{key}" if above else key)


def _below(value: Any, key: str) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - whatever a plan can hold
    if isinstance(value, dict):
        yield from _flat(value, key)
    elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
        for at, each in enumerate(value):
            yield from _below(each, f"{key}[{at}]")
    else:
        yield key, value
