"""Gangs that never fit: they count for nothing, so that nothing idles and nothing is taken back for them (R-GANG-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.ledger.wanting import beyond

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairhold.ledger.books import Books
    from fairhold.ledger.draft import Draft
    from fairhold.ledger.snapshot import Snapshot

    Divide = Callable[[], Draft]

MOST_TURNS = 50
"""Leaves that give way one by one; whoever is left then gives way at once."""


def settle_gangs(snapshot: Snapshot, divide: Divide) -> Draft:
    """The quotas where no leaf has more than its requests could use of it, but for its reserve (R-GANG-1).

    One leaf after another gives way, the worst path first, as what it leaves may be enough for another; then, in path
    order, each counts in full again where that leaves nobody with a quota that it cannot use.

    divide : the quotas by what the snapshot says now
    """
    draft = divide()
    gangs = snapshot.books.requests.lines.gangs
    if not gangs:
        return draft
    leaves = sorted(gangs, key=snapshot.rows.position.__getitem__)
    turns = _Turns(snapshot, leaves)
    lowered: dict[int, None] = {}
    while stuck := turns.stuck(draft):
        for leaf in [*stuck][-1:] if len(lowered) < MOST_TURNS else stuck:
            turns.bound[leaf] = stuck[leaf]
            lowered[leaf] = None
        draft = divide()
    if len(lowered) == 1:
        return draft
    for leaf in [leaf for leaf in leaves if leaf in lowered][:MOST_TURNS]:
        before, turns.bound[leaf] = turns.bound[leaf], turns.whole[leaf]
        trial = divide()
        if turns.stuck(trial):
            turns.bound[leaf] = before
        else:
            draft = trial
    return draft


class _Turns:
    """Who gives way.

    wanted : (rows,) what leaves want and could be given
    whole  : (rows,) what of that they could use, were it not for gangs
    bound  : (rows,) the same while some give way: what their quotas are made of, or for fixed shares bounded by
    """

    def __init__(self, snapshot: Snapshot, leaves: list[int]) -> None:
        self.snapshot = snapshot
        self.leaves = leaves
        self.bound = snapshot.most if snapshot.rows.is_fixed else snapshot.usable
        self.whole = self.bound[:]
        self.wanted = snapshot.counted

    def stuck(self, draft: Draft) -> dict[int, int]:
        """Leaf → units that its requests could use, where these are fewer than its quota and what counts; by path."""
        found: dict[int, int] = {}
        for leaf in self.leaves:
            quota, wanted = draft.quota[leaf], self.wanted[leaf]
            if wanted > quota:
                units = usable(self.snapshot.books, leaf, self.snapshot.now, wanted, quota)
                if units < min(quota, self.bound[leaf]):
                    found[leaf] = units
        return found


def usable(books: Books, leaf: int, now: int, wanted: int, quota: int) -> int:
    """Units that the requests of a leaf could use of its quota, were all of it theirs to have; no fewer than they hold.

    They are counted by priority, of one priority gangs first (those that have waited for longer than `hold_after` in
    front), then by submitted and id; a gang for which the rest of the quota is not enough is left out. So it depends
    on nobody's turn, and no gang that runs is stopped because another one waits.
    """
    requests = books.requests
    never = beyond(books, leaf)
    mine = {row: requests.count[row] - never.get(row, 0) for row in _all_of(books, leaf)}
    gangs = [row for row in mine if requests.minimum[row]]
    loose = wanted - sum(mine[row] for row in gangs)
    if loose >= quota or wanted <= quota:
        return min(wanted, quota)
    left = quota
    for row in sorted(mine, key=lambda row: line_key(books, row, now)):
        if not requests.minimum[row]:
            loose -= mine[row]
            left -= min(left, mine[row])
        elif requests.minimum[row] <= left:
            left -= min(left, mine[row])
    held = sum(requests.held[row] for row in mine)
    return max(quota - max(0, left - max(0, loose)), min(held, wanted))


def line_key(books: Books, row: int, now: int) -> tuple[int, int, int, str]:
    """Place of a request where it is asked what fits: priority, then gangs that are overdue, gangs, submitted, id."""
    requests = books.requests
    kind = 2 if not requests.minimum[row] else 0 if is_overdue(books, row, now) else 1
    return -requests.priority[row], kind, requests.submitted[row], requests.id[row]


def waiting_gangs(books: Books, leaf: int) -> list[int]:
    """Gangs of a leaf that do not run."""
    requests = books.requests
    return [row for row in requests.lines.gangs.get(leaf, ()) if requests.held[row] < requests.minimum[row]]


def is_overdue(books: Books, gang: int, now: int) -> bool:
    """Whether a gang waits, and has done so for so long that units are held for it (R-HOLD-1)."""
    requests = books.requests
    after = books.rows.settings(requests.leaf[gang]).hold_after
    return after is not None and requests.held[gang] < requests.minimum[gang] and now >= requests.since[gang] + after


def _all_of(books: Books, leaf: int) -> set[int]:
    """Requests of a leaf that hold units or want some."""
    requests = books.requests
    queues = requests.lines.of.get(leaf, {}).values()
    return {*requests.holders.get(leaf, ()), *(row for queue in queues for row in queue)}
