"""Who is served next, against Fair Tree: the ranking of Slurm and Flux, where the two models coincide.

Fair Tree ranks users of a tree of accounts: at each level by shares / usage, whole accounts one after the other, the
children of accounts that tie in one list. That is the walk of R-SWEEP-1 where each leaf waits for one unit too small to
change a comparison that is not a tie: the order in which these units are granted is the order of the ranks. Accounts
that tie are served in turn here, which is the same where the levels of their users are the same too. (Its levels are
parts of the siblings' sums, ours plain quotients: that matters only between children of accounts that tie.)
"""

from __future__ import annotations

import os
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.docs.console import ROOT
from tests.examples import FEWER
from tests.pools.small import Json, of, on, placed

DATA = Path(os.environ.get("FAIRHOLD_DATA", ROOT / "../shared/data")) / "queue-configs/flux-accounting"
SCALE = 100
"""Units that stand for one of usage: so much larger than the one that is granted."""


class Account(NamedTuple):
    """Shares and usage of an account or a user, and who is below it; the usage of an account is that of its users."""

    name: str
    shares: int
    usage: int
    below: tuple[Account, ...] = ()


def level(account: Account, beside: tuple[Account, ...]) -> tuple[bool, Fraction]:
    """Its part of the shares / its part of the usage among its siblings; the largest first, without usage above all."""
    if not account.usage:
        return (False, Fraction(0))
    shares, usage = sum(each.shares for each in beside), sum(each.usage for each in beside)
    return (True, -Fraction(account.shares, shares) / Fraction(account.usage, usage))


def ranks(*siblings: tuple[Account, ...]) -> list[list[str]]:
    """Users from the first served to the last, those who tie together; siblings of parents that tie are one list."""
    found: list[list[str]] = []
    levels = {each: level(each, beside) for beside in siblings for each in beside}
    for _, group in groupby(sorted(levels, key=levels.__getitem__), key=levels.__getitem__):
        tied = tuple(group)
        users = [each.name for each in tied if not each.below]
        inner = [each.below for each in tied if each.below]
        found += ([users] if users else []) + (ranks(*inner) if inner else [])
    return found


def served(accounts: tuple[Account, ...]) -> list[str]:
    """Users in the order in which a cycle grants each the one unit that he waits for."""
    consumers: dict[str, Json] = {}
    asked: list[Json] = []
    stands: list[Json] = []

    def enter(account: Account, above: str) -> None:
        path = f"{above}/{account.name}"
        consumers[path] = {"share_ratio": account.shares}
        for each in account.below:
            enter(each, path)
        if not account.below:
            asked.append(of(path, account.usage * SCALE + 1))
            if account.usage:
                stands.append(on("h0", account.name, account.usage * SCALE))

    for account in accounts:
        enter(account, "")
    whole = sum(each["count"] for each in asked)
    return [row[0] for row in placed(consumers, asked, stands, hosts={"h0": whole})]


def check(accounts: tuple[Account, ...]) -> None:
    place = {name: at for at, tied in enumerate(ranks(accounts)) for name in tied}
    order = served(accounts)
    assert sorted(order) == sorted(place)
    assert [place[name] for name in order] == sorted(place.values())


def account(name: str, shares: int, *users: tuple[int, int]) -> Account:
    below = tuple(Account(f"{name}{at}", each, usage) for at, (each, usage) in enumerate(users))
    return Account(name, shares, sum(usage for _, usage in users), below)


def test_accounts_go_one_after_the_other() -> None:
    tree = (account("A", 500, (40, 30), (10, 8), (90, 2)), account("B", 60, (5, 2), (9, 1)), account("C", 7, (3, 0)))
    assert ranks(tree) == [["C0"], ["B1"], ["B0"], ["A2"], ["A0"], ["A1"]]
    assert served(tree) == ["C0", "B1", "B0", "A2", "A0", "A1"]


def test_accounts_that_tie_are_ranked_as_one() -> None:
    tree = (account("A", 30, (20, 20), (90, 10)), account("B", 6, (4, 4), (18, 2)), account("C", 1, (1, 2)))
    assert ranks(tree) == [["A1", "B1"], ["A0", "B0"], ["C0"]]
    check(tree)


USERS = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 5)), min_size=1, max_size=3)


@FEWER
@given(st.lists(st.tuples(st.integers(1, 6), USERS), min_size=1, max_size=4))
def test_any_tree(found: list[tuple[int, list[tuple[int, int]]]]) -> None:
    tree = tuple(account("ABCD"[at], shares, *users) for at, (shares, users) in enumerate(found))
    check(tuple({level(each, tree): each for each in tree}.values()))


@pytest.mark.skipif(not DATA.is_dir(), reason=f"there are no expected fair shares in {DATA}")
@pytest.mark.parametrize("name", ["small_no_tie", "small_tie", "small_tie_all"])
def test_flux_accounting(name: str) -> None:
    """Its expected values are ranks over the number of users; those who tie have the better one."""
    accounts: list[Account] = []
    told: dict[str, float] = {}
    for line in (DATA / f"{name}.txt").read_text().splitlines()[2:]:
        words = line.split()
        if len(words) == 4:
            accounts.append(Account(words[0], int(words[2]), int(float(words[3]))))
        elif words:
            user = Account(words[1].replace(".", "-"), int(words[3]), int(float(words[4])))
            accounts[-1] = accounts[-1]._replace(below=(*accounts[-1].below, user))
            told[user.name] = float(words[5])
    tree = tuple(accounts)
    found: dict[str, float] = {}
    left = len(told)
    for tied in ranks(tree):
        found |= dict.fromkeys(tied, left / len(told))
        left -= len(tied)
    assert found == pytest.approx(told, abs=1e-6)
    check(tree)
