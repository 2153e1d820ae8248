"""Whole hosts: no two leaves share one, and nothing is taken for space that waits for others (S1.82, R-HOSTS-3)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.pools.small import of, on, own, placed, run, taken
from tests.pools.test_dense import wrong

ALONE: dict[str, Any] = {"settings": {"packing": "exclusive"}}
BETTER: dict[str, Any] = {"/A": {"share_priority": 1}, "/B": {}, "/C": {}}
ONE = {"h0": 4}


def test_r_hosts_3_all_on_the_host_go_or_nobody_s1_82() -> None:
    wants, stands = [of("/A", 1, 3), of("/B", 3)], [on("h0", "B", 3)]
    assert taken(BETTER, wants, stands, hosts=ONE) == [("B", "h0", 2, "A", 0)]
    assert taken(BETTER, wants, stands, hosts=ONE, **ALONE) == [("B", "h0", 3, "A", 0)]
    few = [of("/A", 1), of("/B", 3)]  # B may keep half of the pool
    assert taken(BETTER, few, stands, hosts=ONE, **ALONE) == []


def test_r_hosts_3_nothing_goes_beside_what_stays() -> None:
    """B has some of its own there, which stays: what it borrowed of A's would be of no use to A."""
    parts = own(per_host={"cpu": 2})
    consumers = {"/A": parts, "/B": parts}
    stands = [on("h0", "B", 2, "own"), on("h0", "B", 2, A=2)]
    wants = [of("/A", 2), of("/B", 4)]
    assert taken(consumers, wants, stands, hosts=ONE) == [("B", "h0", 2, "A", 0)]
    assert taken(consumers, wants, stands, hosts=ONE, **ALONE) == []


def test_r_hosts_3_not_below_the_quota() -> None:
    """Of equal right, nobody is taken below its quota to empty a host."""
    wants = [of("/A", 9), of("/B", 4)]
    assert taken({"/A": {}, "/B": {}}, wants, [on("h0", "B", 4)], hosts=ONE, **ALONE) == []
    two = [on("h0", "B", 4), on("h1", "B", 4)]
    assert taken({"/A": {}, "/B": {}}, [of("/A", 8), of("/B", 8)], two, **ALONE) == [("B", "h0", 4, "A", 0)]


def test_r_hosts_3_who_leaves_gets_nothing_there() -> None:
    """While its units are under notice, what is idle beside them is for who comes."""
    rows = [{"request": "B", "host": "h0", "units": 3, "for": "A", "deadline": "2026-01-05T09:00:30Z"}]
    wants = [of("/A", 1), of("/B", 4)]
    assert placed(BETTER, wants, [on("h0", "B", 3)], hosts=ONE, reclaims=rows, **ALONE) == []


def test_r_hosts_3_all_notices_of_a_host_stay_as_long_as_one_is_needed() -> None:
    rows = [{"request": "B", "host": "h0", "units": 4, "for": "A", "deadline": "2026-01-05T09:00:30Z"}]
    shared = run(BETTER, [of("/A", 1), of("/B", 4)], [on("h0", "B", 4)], hosts=ONE, reclaims=rows).document
    alone = run(BETTER, [of("/A", 1), of("/B", 4)], [on("h0", "B", 4)], hosts=ONE, reclaims=rows, **ALONE).document
    assert [row["units"] for row in shared["withdrawn"]] == [3]
    assert alone["withdrawn"] == []


@pytest.mark.parametrize("number", [*range(4), 1000500, 1001129])
def test_r_sweep_2_a_second_cycle_decides_nothing_on_whole_hosts(number: int) -> None:
    assert wrong(number, "exclusive") == []
