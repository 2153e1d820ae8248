"""`lend_to:` and `borrow_from:` of a consumer, and whether the lists of a plan fit together (SPEC §4; R-LEND-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.model.plan import Peer
from fairhold.planio.names import find_leaf
from fairhold.planio.report import shown
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.errors import Place
    from fairhold.model.plan import ConsumerSettings, PolicyEntry
    from fairhold.model.tree import ConsumerTree
    from fairhold.planio.report import Report
    from fairhold.planio.values import Value

    Lists = dict[tuple[int, int], tuple[int, int]]
    """(who has the list, whom it names) → where it stands: position under `policies:`, place in the list."""

PEER_KEYS = ("consumer", "limit")
OTHER = {"lend_to": "borrow_from", "borrow_from": "lend_to"}


def read_peers(report: Report, value: Value, place: Place, tree: ConsumerTree) -> tuple[Peer, ...]:
    """Read a lend or borrow list; the place says whose it is."""
    row = tree.rows.get(str(place[-2]), -1)
    if row > 0 and tree.children[row]:
        what = f"`{shown(tree.paths[row])}` has consumers below it, and only leaves lend and borrow"
        report.fault("not-a-leaf", what, "move the list to a leaf below it", place)
    peers: dict[int, Peer] = {}
    for at, item in enumerate(report.sequence(value, place, what="consumers, as `{consumer: /A, limit: 5}`")):
        here = (*place, at)
        node = report.mapping(item, here, what="`{consumer: /A, limit: 5}`")
        report.keys(node, PEER_KEYS, here, {})
        report.missing(node, ("consumer",), here, "an entry of the list")
        stated = node.get("limit")
        limit = UNLIMITED if stated is None or stated == "none" else report.whole(stated, (*here, "limit"))
        path = report.text(node.get("consumer", ""), (*here, "consumer"), what="the path of a leaf")
        peer = find_leaf(report, tree, path, (*here, "consumer")) if path else -1
        if peer == row > 0:
            report.fault("lends-to-itself", f"`{shown(path)}` names itself", "leave it out", (*here, "consumer"))
        elif peer in peers:
            report.fault("listed-twice", f"`{shown(path)}` is on the list twice", "keep one of the two", here)
        elif peer > 0:
            peers[peer] = Peer(peer, limit)
    return tuple(peers.values())


def check_lists(report: Report, tree: ConsumerTree, entries: Mapping[int, PolicyEntry], entry_of: list[int]) -> None:
    """Check the lists of the entries in force in a group: both sides, one policy.

    entries  : position under `policies:` → the entries in force
    entry_of : (consumers,) position of the entry that each is under
    """
    check = _ListCheck(report, tree, entries, entry_of)
    lending, borrowing = check.read("lend_to"), check.read("borrow_from")
    for key, mine, others in (("lend_to", lending, borrowing), ("borrow_from", borrowing, lending)):
        for (owner, peer), where in mine.items():
            place = check.place(owner, key, *where)
            if not entries[entry_of[peer]].policy.owns_exactly:
                check.across(owner, peer, key, place)
            elif (peer, owner) not in others:
                check.one_sided(owner, peer, key, place)


class _ListCheck:
    def __init__(
        self, report: Report, tree: ConsumerTree, entries: Mapping[int, PolicyEntry], entry_of: list[int]
    ) -> None:
        self.report = report
        self.tree = tree
        self.entries = entries
        self.entry_of = entry_of

    def read(self, key: str) -> Lists:
        """All lists of one kind."""
        found: Lists = {}
        for at, entry in self.entries.items():
            for row, stated in entry.consumers.items() if entry.policy.owns_exactly else ():
                if self.entry_of[row] == at:
                    found |= {(row, peer.consumer): (at, place) for place, peer in enumerate(_list(stated, key))}
        return found

    def place(self, row: int, key: str, entry: int, at: int) -> Place:
        return ("policies", entry, "consumers", self.tree.paths[row], key, at)

    def across(self, owner: int, peer: int, key: str, place: Place) -> None:
        one, other = (f"`{shown(self.tree.paths[row])}`" for row in (owner, peer))
        what = f"{one} names {other} under `{key}`, which has another policy: only leaves of `ownership` lend by list"
        self.report.fault("lends-across-policies", what, "leave it out", place)

    def one_sided(self, owner: int, peer: int, key: str, place: Place) -> None:
        one, other = (f"`{shown(self.tree.paths[row])}`" for row in (owner, peer))
        what = (
            f"{one} names {other} under `{key}`, and {other} does not name {one} under `{OTHER[key]}`: nothing is lent"
        )
        mend = f"add `{OTHER[key]}: [{{consumer: {shown(self.tree.paths[owner])}}}]` to {other}, or leave this out"
        self.report.warn("one-sided-lending", what, mend, place)


def _list(stated: ConsumerSettings, key: str) -> tuple[Peer, ...]:
    return stated.lend_to if key == "lend_to" else stated.borrow_from
