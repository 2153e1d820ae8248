"""What has to be right between the numbers of a plan (SPEC §3.6; R-CHECK-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.model.plan import ConsumerSettings
from fairhold.model.tree import ROOT
from fairhold.planio.report import shown
from fairhold.units import LARGEST

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.errors import Place
    from fairhold.model.plan import PolicyEntry, ResourceGroup
    from fairhold.model.tree import ConsumerTree
    from fairhold.planio.report import Report

_DEFAULT = ConsumerSettings()


def check_entry(
    report: Report,
    place: Place,
    entry: PolicyEntry,
    tree: ConsumerTree,
    groups: Mapping[str, ResourceGroup],
) -> None:
    """Report what SPEC §3.6 forbids in one policy entry; `place` is that of its `consumers:`."""
    check = _EntryCheck(report, place, entry, tree)
    check.each_consumer()
    owned = check.each_parent()
    for name in entry.resource_groups:
        _check_group(report, groups[name], owned)


class _EntryCheck:
    """One entry: only consumers that it lists and their ancestors are looked at, so that many entries stay cheap."""

    def __init__(self, report: Report, place: Place, entry: PolicyEntry, tree: ConsumerTree) -> None:
        self.report = report
        self.place = place
        self.settings = entry.consumers
        self.tree = tree

    def each_consumer(self) -> None:
        """Reserved ≤ owned ≤ limit."""
        for row, stated in self.settings.items():
            if stated.reserved > stated.owned:
                what = f"{self.path(row)} reserves {stated.reserved}, more than the {stated.owned} it owns"
                self.fault("reserved-above-owned", what, "lower `reserved` or raise `owned`", row, "reserved")
            if stated.owned > stated.limit:
                what = f"{self.path(row)} owns {stated.owned}, more than its limit {stated.limit}"
                self.fault("owned-above-limit", what, "lower `owned` or raise `limit`", row, "limit")

    def each_parent(self) -> int:
        """Check what children own and reserve against their parent; returns what the first level owns together."""
        parent = self.tree.parent
        owned: dict[int, int] = {ROOT: 0}
        reserved: dict[int, int] = {ROOT: 0}
        # Children stand below their parents, so that this order has their sums ready when a parent's turn comes.
        for row in sorted(self.with_ancestors(), reverse=True):
            stated = self.settings.get(row, _DEFAULT)
            below, kept = owned.get(row, 0), reserved.get(row, 0)
            if below > stated.owned:
                what = f"the children of {self.path(row)} own {below} together, more than its {stated.owned}"
                self.fault("children-own-more", what, f"raise `owned` of {self.path(row)} to {below}", row, "owned")
            if kept > stated.limit:
                what = f"the children of {self.path(row)} reserve {kept} together, more than its limit {stated.limit}"
                self.fault("children-reserve-more", what, "lower their `reserved` or raise `limit`", row, "limit")
            above = parent[row]
            owned[above] = owned.get(above, 0) + stated.owned
            reserved[above] = reserved.get(above, 0) + max(stated.reserved, kept)
        return owned[ROOT]

    def with_ancestors(self) -> set[int]:
        """Return the rows listed and all rows above them but the root."""
        rows: set[int] = set()
        for listed in self.settings:
            row = listed
            while row != ROOT and row not in rows:
                rows.add(row)
                row = self.tree.parent[row]
        return rows

    def path(self, row: int) -> str:
        return f"`{shown(self.tree.paths[row])}`"

    def fault(self, code: str, what: str, mend: str, row: int, key: str) -> None:
        self.report.fault(code, what, mend, (*self.place, self.tree.paths[row], key))


def _check_group(report: Report, group: ResourceGroup, owned: int) -> None:
    """Check what the first level owns against the slots of one group."""
    place = ("resource_groups", group.name)
    if owned > LARGEST:
        what = f"the consumers of the first level own {owned} together, more than {LARGEST}"
        report.fault("out-of-range", what, "lower what they own", place)
    elif group.configured_slots is not None and group.configured_slots < owned:
        what = f"the consumers of the first level own {owned}, more than the {group.configured_slots} configured slots"
        mend = f"raise `configured_slots` to {owned}, or leave it out"
        report.fault("owned-above-configured", what, mend, (*place, "configured_slots"))
    elif group.slots < owned:
        what = f"{owned} slots are owned and `{shown(group.name)}` has {group.slots}: what is owned is scaled down"
        report.warn("overcommitted", what, "lower what is owned, or add hosts", place)
