"""`consumers:` of a policy entry: what each consumer owns, shares and may use at most (SPEC §3, §5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.model.plan import ConsumerSettings, Peer
from fairhold.model.tree import ROOT
from fairhold.planio.absent import ABSENT
from fairhold.planio.controls import read_control
from fairhold.planio.lending import read_peers
from fairhold.planio.names import unknown_path
from fairhold.planio.owning import read_vector_setting
from fairhold.planio.queues import read_queue
from fairhold.planio.report import listed, shown
from fairhold.policies.fair_share.policy import QUEUE_KEYS
from fairhold.policies.keys import CONTROLS
from fairhold.policies.multidimensional.policy import OWN_KEYS, POOL_KEYS
from fairhold.policies.registry import POLICIES
from fairhold.units import LARGEST, UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.errors import Place
    from fairhold.model.policy import Policy
    from fairhold.model.tree import ConsumerTree
    from fairhold.planio.report import Report
    from fairhold.planio.resources import Known
    from fairhold.planio.values import Value

KEYS_OF = {policy.name: policy.keys for policy in POLICIES.values()}
"""Policy → the settings of a consumer that it reads."""
_Peers = tuple[Peer, ...]
_Stated = tuple[int, int, int, int | None, int | None, int | None, _Peers, _Peers, tuple[tuple[str, Any], ...]]


def read_settings(
    report: Report, value: Value, place: Place, tree: ConsumerTree, *, policy: Policy, resources: Known
) -> dict[int, ConsumerSettings]:
    """Row → settings of all consumers that the entry lists; equal settings share one object.

    policy : a key that only others read is refused
    resources : what amounts are of
    """
    known_keys = frozenset(policy.keys)
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
        stated = _read_stated(report, node, (*place, path), policy, known_keys, tree, row, resources)
        if row > ROOT:
            kept = known.get(stated)
            if kept is None:
                kept = known[stated] = ConsumerSettings(*stated[:-1], **dict(stated[-1]))
            settings[row] = kept
    return settings


def _read_stated(  # noqa: PLR0912, PLR0917 - once for every consumer
    report: Report,
    value: Value,
    place: Place,
    policy: Policy,
    known: frozenset[str],
    tree: ConsumerTree,
    row: int,
    resources: Known,
) -> _Stated:
    """Read the settings of one consumer: owned, reserved, limit, rank, grace, share ratio, lists, more."""
    owned, reserved, limit = 0, 0, UNLIMITED
    rank = grace = ratio = None
    more: dict[str, Any] = {}
    peers: dict[str, tuple[Peer, ...]] = {}
    node = report.mapping(value, place, what="the settings of a consumer")
    if policy.has_queues:
        more["queue"] = read_queue(report, node, place, resources)
    for key, stated in node.items():
        if key not in known:
            refuse_key(report, key, policy, (*place, key), keys_of=KEYS_OF, not_here={})
        elif policy.has_queues and key in QUEUE_KEYS:
            continue  # read as one
        elif key == "owned":
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
        elif key == "share_ratio":
            ratio = report.whole(stated, (*place, key))
        elif key in CONTROLS:
            more[key] = read_control(report, key, stated, (*place, key), policy)
        elif key in POOL_KEYS:
            more[key] = read_vector_setting(report, key, stated, (*place, key), resources)
        else:
            peers[key] = read_peers(report, stated, (*place, key), tree, row)
    lists = peers.get("lend_to", ()), peers.get("borrow_from", ())
    return owned, reserved, limit, rank, grace, ratio, *lists, tuple(more.items())


def refuse_key(
    report: Report,
    key: str,
    policy: Policy,
    place: Place,
    *,
    keys_of: Mapping[str, tuple[str, ...]],
    not_here: Mapping[str, str],
) -> None:
    """Refuse a key that a policy does not read: another one may.

    keys_of : policy → the keys that it reads
    """
    known = keys_of[policy.name]
    others = [name for name, keys in keys_of.items() if key in keys]
    owns_hosts = "own" in policy.keys
    if owns_hosts and key in OWN_KEYS and key not in known:
        what, mend = f"`{shown(key)}` applies to one entry of `own`", "write it in an entry of `own`"
        report.fault("wrong-place", what, mend, place)
    elif owns_hosts and key in ABSENT:
        why, mend = ABSENT[key]
        report.fault("other-policy", f"`{key}` is not available under `{policy.name}`: {why}", mend, place)
    elif others:
        what = f"`{shown(key)}` belongs to the policy {listed(others)}, and this entry's is `{policy.name}`"
        report.fault("other-policy", what, f"leave it out, or use {listed(known)}", place)
    else:
        report.unknown_key(key, known, place, not_here)
