"""`consumers:` of a policy entry: what each consumer owns, reserves and may use at most (SPEC §3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.model.plan import ConsumerSettings
from fairhold.model.tree import ROOT
from fairhold.planio.names import unknown_path
from fairhold.units import LARGEST, UNLIMITED

if TYPE_CHECKING:
    from fairhold.errors import Place
    from fairhold.model.tree import ConsumerTree
    from fairhold.planio.report import Report
    from fairhold.planio.values import Value

KEYS = ("owned", "reserved", "limit", "rank", "reclaim_grace")
_OTHER_KEYS = {
    "ownership": ("lend_to", "borrow_from", "share_ratio"),
    "multidimensional": ("own", "share_priority", "share_limit", "private_pool_grace", "lend_grace", "preference"),
    "fair_share": ("priority", "deserved", "over_quota_weight"),
}
NOT_HERE = {
    key: f"`{key}` belongs to the policy `{name}`, which is" for name in _OTHER_KEYS for key in _OTHER_KEYS[name]
}
NOT_HERE["min_runtime"] = "`min_runtime` is"
_Stated = tuple[int, int, int, int | None, int | None]


def read_settings(report: Report, value: Value, place: Place, tree: ConsumerTree) -> dict[int, ConsumerSettings]:
    """Row → settings of all consumers that the entry lists; equal settings share one object."""
    nodes = report.mapping(value, place, what="the consumers of a policy entry")
    rows = tree.rows if nodes else {}
    settings: dict[int, ConsumerSettings] = {}
    known: dict[_Stated, ConsumerSettings] = {}
    for path, node in nodes.items():
        row = rows.get(path, -1)
        if row == ROOT:
            report.fault("name", "the root `/` is the cluster and has no settings", "leave it out", (*place, path))
        elif row < 0:
            unknown_path(report, tree, path, (*place, path))
        stated = _read_stated(report, node, (*place, path))
        if row > ROOT:
            kept = known.get(stated)
            settings[row] = kept if kept is not None else known.setdefault(stated, ConsumerSettings(*stated))
    return settings


def _read_stated(report: Report, value: Value, place: Place) -> _Stated:
    """Read the settings of one consumer: owned, reserved, limit, rank and grace."""
    owned, reserved, limit = 0, 0, UNLIMITED
    rank = grace = None
    for key, stated in report.mapping(value, place, what="the settings of a consumer").items():
        if key == "owned":
            # Most numbers of a large plan are right and stand here: spare them the call.
            is_right = type(stated) is int and 0 <= stated <= LARGEST
            owned = stated if is_right else report.whole(stated, (*place, key))  # type: ignore[assignment]
        elif key == "reserved":
            reserved = report.whole(stated, (*place, key))
        elif key == "limit":
            limit = UNLIMITED if stated is None or stated == "none" else report.whole(stated, (*place, key))
        elif key == "rank":
            rank = report.whole(stated, (*place, key))
        elif key == "reclaim_grace":
            grace = report.duration(stated, (*place, key))
        else:
            report.unknown_key(key, KEYS, (*place, key), NOT_HERE)
    return owned, reserved, limit, rank, grace
