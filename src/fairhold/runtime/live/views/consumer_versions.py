"""All consumers as they differ from what somebody has seen: of ten thousand of them a change touches few."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from fairhold.runtime.live.views.consumers import NAMES, Row, group_of, live_groups
from fairhold.runtime.live.views.prospect import state_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.runtime.live.core import Core
    from fairhold.runtime.live.views.prospect import State

Document = dict[str, Any]
KEPT = 4
"""Versions that are kept; who has seen an earlier one is told all."""
_BUDGET = NAMES.index("budget")


class Version(NamedTuple):
    """What was told at some time.

    number : higher than that of any version before, also of a service that ran before
    state  : of the cluster
    groups : name of a resource group → what is said of it, and the values of its consumers
    """

    number: int
    state: State
    groups: dict[str, tuple[Document, list[Row]]]

    @property
    def lasts(self) -> bool:
        """Whether all of it stays true while nothing happens: what is held uses a budget up with time alone."""
        return all(row[_BUDGET] is None for _, rows in self.groups.values() for row in rows)

    def part(self, before: Version) -> dict[str, Document] | None:
        """The groups with those consumers alone that differ; None where the plan has other consumers."""
        if self.groups.keys() != before.groups.keys():
            return None
        found = {}
        for name, (head, rows) in self.groups.items():
            seen = before.groups[name][1]
            if not _are_same(rows, seen):
                return None
            found[name] = group_of(head, [row for row, other in zip(rows, seen, strict=True) if row != other])
        return found


_VERSIONS: WeakKeyDictionary[Core, dict[int, Version]] = WeakKeyDictionary()


def consumers_since(core: Core, since: int) -> Document:
    """`version` of now, and every resource group; where `since` is not null, with what differs from that alone."""
    kept = _VERSIONS.setdefault(core, {})
    now = _version_now(core, kept)
    before = kept.get(since)
    part = before and now.part(before)
    if before is None or part is None:
        whole = {name: group_of(head, rows) for name, (head, rows) in now.groups.items()}
        return {"version": now.number, "since": None, "resource_groups": whole}
    return {"version": now.number, "since": before.number, "resource_groups": part}


def _version_now(core: Core, kept: dict[int, Version]) -> Version:
    latest = kept[max(kept)] if kept else None
    state = state_of(core)
    if latest and latest.state == state and latest.lasts:
        return latest
    groups = {name: (head, rows) for name, head, rows in live_groups(core)}
    if latest and latest.groups == groups:
        kept[latest.number] = latest._replace(state=state)
        return kept[latest.number]
    number = max(core.now(), latest.number + 1 if latest else 0)
    kept[number] = Version(number, state, groups)
    if len(kept) > KEPT:
        del kept[min(kept)]
    return kept[number]


def _are_same(rows: Sequence[Row], others: Sequence[Row]) -> bool:
    """Whether both are of the same consumers."""
    return len(rows) == len(others) and all(row[0] == other[0] for row, other in zip(rows, others, strict=True))
