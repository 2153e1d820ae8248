"""What has to be right between the numbers of a plan (SPEC §3.6; R-CHECK-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.model.plan import ConsumerSettings
from fairhold.model.tree import ROOT
from fairhold.planio.report import shown

if TYPE_CHECKING:
    from fairhold.errors import Place
    from fairhold.model.plan import PolicyEntry
    from fairhold.model.tree import ConsumerTree
    from fairhold.planio.report import Report

_DEFAULT = ConsumerSettings()


def check_entry(
    report: Report,
    place: Place,
    entry: PolicyEntry,
    tree: ConsumerTree,
) -> None:
    """Report what SPEC §3.6 forbids in one policy entry; `place` is that of its `consumers:`.

    Where nothing is owned, any numbers go together.
    """
    if not entry.policy.owns_slots:
        return
    check = _EntryCheck(report, place, entry, tree)
    check.each_consumer()
    check.each_parent()


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

    def each_parent(self) -> None:
        """Check what children own and reserve against their parent."""
        parent = self.tree.parent
        owned: dict[int, int] = {ROOT: 0}
        reserved: dict[int, int] = {ROOT: 0}
        # Children stand below their parents, so that this order has their sums ready when a parent's turn comes.
        for row in sorted(self.with_ancestors(), reverse=True):
            stated = self.settings.get(row, _DEFAULT)
            below, kept = owned.get(row, 0), reserved.get(row, 0)
            if below > stated.owned:
                what = f"the children of {self.path(row)} own {below} in total, more than its {stated.owned}"
                self.fault("children-own-more", what, f"raise `owned` of {self.path(row)} to {below}", row, "owned")
            if kept > stated.limit:
                what = f"the children of {self.path(row)} reserve {kept} in total, more than its limit {stated.limit}"
                self.fault("children-reserve-more", what, "lower their `reserved` or raise `limit`", row, "limit")
            above = parent[row]
            owned[above] = owned.get(above, 0) + stated.owned
            reserved[above] = reserved.get(above, 0) + max(stated.reserved, kept)

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
