"""All consumers as they differ from what somebody has seen: of ten thousand of them a change touches few."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from fairhold.runtime.live.views.consumers import group_of, live_groups
from fairhold.runtime.live.views.prospect import state_of

if TYPE_CHECKING:
    from fairhold.runtime.live.core import Core
    from fairhold.runtime.live.views.consumer_columns import Table
    from fairhold.runtime.live.views.prospect import State

Document = dict[str, Any]
KEPT = 4
"""Versions that are kept; who has seen an earlier one is told all."""


class Version(NamedTuple):
    """What was told at some time.

    number : higher than that of any version before, also of a service that ran before
    state  : of the cluster
    groups : name of a resource group → what is said of it, and its consumers
    """

    number: int
    state: State
    groups: dict[str, tuple[Document, Table]]

    @property
    def lasts(self) -> bool:
        """Whether all of it stays true while nothing happens."""
        return all(table.lasts for _, table in self.groups.values())

    def part(self, before: Version) -> dict[str, Document] | None:
        """The groups with those consumers alone that differ; None where the plan has other consumers."""
        if self.groups.keys() != before.groups.keys():
            return None
        found = {}
        for name, (head, table) in self.groups.items():
            then = before.groups[name][1]
            places = table.differing(then) if type(table) is type(then) else None
            if places is None:
                return None
            found[name] = group_of(head, table.rows(places))
        return found

    def is_same(self, before: Version) -> bool:
        """Whether nothing would be told otherwise."""
        part = self.part(before)
        heads = all(before.groups[name][0] == head for name, (head, _) in self.groups.items()) if part else False
        return heads and not any(group["consumers"] for group in (part or {}).values())


_VERSIONS: WeakKeyDictionary[Core, dict[int, Version]] = WeakKeyDictionary()


def consumers_since(core: Core, since: int) -> Document:
    """`version` of now, and every resource group; where `since` is not null, with what differs from that alone."""
    kept = _VERSIONS.setdefault(core, {})
    now = _version_now(core, kept)
    before = kept.get(since)
    part = before and now.part(before)
    if before is None or part is None:
        whole = {name: group_of(head, table.rows()) for name, (head, table) in now.groups.items()}
        return {"version": now.number, "since": None, "resource_groups": whole}
    return {"version": now.number, "since": before.number, "resource_groups": part}


def _version_now(core: Core, kept: dict[int, Version]) -> Version:
    latest = kept[max(kept)] if kept else None
    state = state_of(core)
    if latest and latest.state == state and latest.lasts:
        return latest
    groups = {name: (head, table) for name, head, table in live_groups(core)}
    now = Version(max(core.now(), latest.number + 1 if latest else 0), state, groups)
    if latest and now.is_same(latest):
        now = latest._replace(state=state)
    kept[now.number] = now
    if len(kept) > KEPT:
        del kept[min(kept)]
    return now
