"""The lend and borrow lists in force of one resource group, in columns (SPEC §4; R-LEND-1)."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairhold.model.plan import ConsumerSettings


class Lists(NamedTuple):
    """Who may use whose slots: both sides name each other. In path order of the borrowers, each list in its order.

    borrower, lender : (pairs,) rows
    most             : (pairs,) slots, the smaller of both limits
    """

    borrower: array[int]
    lender: array[int]
    most: array[int]


def make_lists(leaves: Iterable[int], stated: Mapping[int, ConsumerSettings]) -> Lists:
    """The pairs of all leaves.

    leaves : rows that own exactly, in path order
    stated : row → settings in force
    """
    lists = Lists(array("q"), array("q"), array("q"))
    offered = {(peer.consumer, lender): peer.limit for lender, each in stated.items() for peer in each.lend_to}
    for leaf in leaves:
        for peer in stated[leaf].borrow_from if leaf in stated else ():
            pair = (leaf, peer.consumer)
            if pair in offered:
                lists.borrower.append(leaf)
                lists.lender.append(pair[1])
                lists.most.append(min(peer.limit, offered[pair]))
    return lists
