"""Which leaves may give to which in a pool, by quotas and by usages after all moves (SPEC §6.6, R-TAKE-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairhold.ledger.pool_terms import Terms
    from fairhold.ledger.pools import PendingRequest
    from fairhold.rules.pools.pool_usage import Standing


def givers(standing: Standing, asked: PendingRequest) -> tuple[frozenset[int], frozenset[PendingRequest]]:
    """Leaves that may give to a request, and requests of which one unit may go for it with no other beside it."""
    mine, size = asked.leaf, standing.size
    able = {leaf: line for leaf, line in standing.holders.items() if leaf != mine and may_give(standing, mine, leaf)}
    come = size[asked]
    alone = [
        each
        for leaf, line in able.items()
        for each in line
        if has_as_much(standing, mine, leaf, come=come, gone=size[each])
    ]
    return frozenset(able), frozenset(alone)


def may_give(standing: Standing, taker: int, leaf: int) -> bool:
    """Whether a leaf's unit may be reclaimed for another: the taker is below its quota, the giver above its own."""
    mine, _ = siblings(standing.books.terms, taker, leaf)
    return standing.is_below(mine) and is_above_quota(standing, taker, leaf)


def is_above_quota(standing: Standing, taker: int, leaf: int) -> bool:
    """Whether a leaf is above its quota, and all above it to where it meets the taker's branch."""
    terms = standing.books.terms
    _, theirs = siblings(terms, taker, leaf)
    for row in terms.above[leaf]:
        if not standing.is_above(row):
            return False
        if row == theirs:
            break
    return True


def has_as_much(standing: Standing, taker: int, leaf: int, *, come: int = 0, gone: int = 0) -> bool:
    """Whether a leaf that gives has no less than the taker, weighed by ratio, or has a worse share priority.

    come, gone : common parts of the pool that the taker will have more, and the other less, than as moved
    """
    mine, _ = siblings(standing.books.terms, taker, leaf)
    return keeps_as_much(standing, taker, leaf, standing.moved.get(mine, 0) + come, gone=gone)


def most_given(standing: Standing, taker: int, leaf: int, first: int, last: int) -> int:
    """Common parts that a leaf could give to another that is to use as much, and no less while it takes; 0 = none.

    Where the two meet, what holds who gives has nothing more while others take, and what holds the taker has no less
    than its leaf.

    first, last : common parts that the taker's leaf uses at least when somebody gives, and in the end
    """
    terms = standing.books.terms
    mine, theirs = siblings(terms, taker, leaf)
    if not standing.is_below(mine, first) or not is_above_quota(standing, taker, leaf):
        return 0
    have = standing.moved.get(theirs, 0)
    if terms.priority[mine] > terms.priority[theirs] or not terms.ratio[theirs]:
        return have
    return max(0, have - -(-last * terms.ratio[theirs] // terms.ratio[mine]))


def keeps_as_much(standing: Standing, taker: int, leaf: int, least: int, *, gone: int = 0) -> bool:
    """Whether a leaf that gives may have no less than the taker, who will use so many common parts at least."""
    terms = standing.books.terms
    mine, theirs = siblings(terms, taker, leaf)
    if terms.priority[mine] > terms.priority[theirs] or not terms.ratio[theirs]:
        return True
    return (standing.moved.get(theirs, 0) - gone) * terms.ratio[mine] >= least * terms.ratio[theirs]


def siblings(terms: Terms, one: int, other: int) -> tuple[int, int]:
    """The two rows below the lowest row that is above both leaves."""
    mine, theirs = terms.above[one], terms.above[other]
    below = 0
    while mine[-1 - below] == theirs[-1 - below]:
        below += 1
    return mine[-1 - below], theirs[-1 - below]
