"""Where units go: the least busy host, and gangs that go whole or not at all."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.ledger.pools import Machine, PendingRequest, Unit
from fairhold.model.state import Request
from fairhold.rules.pools.loads import Loads, workload
from tests.pools.small import of, on, placed, run

FULL = {"h0": 4, "h1": 4}


@pytest.mark.parametrize("packing", ["stacked", "balanced"])
def test_what_is_held_for_a_gang_stays_held_where_the_gang_does_not_fit(packing: str) -> None:
    """R-HELD-1: one of its two units has a place, and who comes after does not get it."""
    consumers: dict[str, Any] = {"/A": {}, "/B": {}, "/C": {"share_ratio": 9}}
    asked = [of("/A", 2, 4, min_count=2), of("/B", 1, 4), of("/C", 1, 4)]
    more = {"held": [{"request": "A", "host": "h0", "units": 1}], "settings": {"packing": packing}}
    stands = [on("h1", "C", 1)]
    assert placed(consumers, asked, stands, hosts=FULL, **more) == []
    assert [
        (row.request, row.host, row.units) for row in run(consumers, asked, stands, hosts=FULL, **more).after.held
    ] == [("A", "h0", 1)]


@pytest.mark.parametrize("packing", ["stacked", "balanced"])
def test_a_gang_that_does_not_fit_leaves_the_hosts_that_it_tried(packing: str) -> None:
    consumers: dict[str, Any] = {"/A": {}, "/B": {}}
    asked = [of("/A", 3, 4, min_count=3), of("/B", 3, 2)]
    rows = placed(consumers, asked, hosts=FULL, settings={"packing": packing})
    assert {(row[0], row[2]) for row in rows} <= {("B", 1), ("B", 2)}
    assert sum(row[2] for row in rows) == 3


AMOUNTS = st.tuples(st.integers(0, 6), st.integers(0, 7))


@given(st.lists(AMOUNTS, min_size=1, max_size=5), st.data())
def test_the_least_busy_host_is_the_one_that_looking_at_all_finds(
    sizes: list[tuple[int, int]], data: st.DataObject
) -> None:
    hosts = [Machine(f"h{at}", "m", at, size, size) for at, size in enumerate(sizes)]
    asked = PendingRequest(Request("r", 0, "", 99, unit=(1, 2)), 0)
    loads = Loads(hosts)
    passed: set[Machine] = set()
    for _ in range(data.draw(st.integers(1, 12))):
        left = [host for host in hosts if host not in passed]
        best = min(left, key=lambda host: (workload(host), host.place), default=None)
        first = loads.first("kind")
        assert (None if first is None else hosts[first]) is best
        if best is None:
            return
        if data.draw(st.booleans()):
            loads.pass_over("kind")
            passed.add(best)
        else:
            unit = Unit(asked, best, 0, 0, 0)
            best.units[unit] = None
            loads.change(best, asked.unit, 1)
    loads.forget("kind")
    first = loads.first("kind")
    assert first is not None
    assert workload(hosts[first]) == min(workload(host) for host in hosts)


def test_a_host_without_work_has_none_and_an_amount_of_zero_counts_nothing() -> None:
    host = Machine("h", "m", 0, (4, 0), (4, 0))
    assert workload(host) == 0
    host.units[Unit(PendingRequest(Request("r", 0, "", 1, unit=(3, 0)), 0), host, 0, 0, 0)] = None
    assert workload(host) == Fraction(3, 4)


@pytest.mark.parametrize(("packing", "found"), [("stacked", [3, 2]), ("balanced", [2, 3])])
def test_r_place_2_the_packing_decides_between_hosts_with_leftovers_of_a_gang(packing: str, found: list[int]) -> None:
    """Of each preference there is too little, of both together enough; 4 of the 16 of h0 are in use."""
    mine = [{"resource_group": "all", "hosts": [f"h{at}"], "preference": at + 1} for at in range(2)]
    asked = [of("/A", 5, 4, name="gang", min_count=5), of("/A", 1, 4, name="one")]
    hosts = {"h0": 16, "h1": 16}
    rows = placed({"/A": {"own": mine}}, asked, [on("h0", "one", 1)], hosts=hosts, settings={"packing": packing})
    assert {row[3] for row in rows} == {"own"}
    assert [sum(row[2] for row in rows if row[1] == host) for host in hosts] == found
