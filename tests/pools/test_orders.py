"""Who gives first and where, and who takes which hosts: one small case for each word of the order (SPEC §6.6, §6.7)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.pools.small import of, on, own, placed, run, taken

Json = dict[str, Any]
Rows = list[Json]


def both(*entries: Json) -> Json:
    """Several entries of `own`."""
    return {"own": [entry["own"][0] for entry in entries]}


def mine(request: str, host: str, units: int) -> Json:
    return on(host, request, units, "own")


def owns(cpu: int, rank: int = 0) -> Json:
    return own(total={"cpu": cpu}) | {"rank": rank}


OWNING: dict[str, tuple[Json, Rows, Rows, list[tuple[str, str, int]], list[tuple[str, str, int]]]] = {
    "whole hosts of the worst rank first": (
        {"/A": own(hosts=1), "/B": own(per_host={"cpu": 4}) | {"rank": 1}, "/C": owns(4, 2)},
        [of("/B", 4), of("/C", 4)],
        [mine("B", "h0", 4), mine("C", "h1", 4)],
        [("h0", "/B", 4), ("h1", "/C", 4)],
        [("h1", "/A", 4), ("h0", "/B", 4)],
    ),
    "of one rank the host with the least load": (
        {"/A": own(hosts=1), "/C": owns(8, 2)},
        [of("/C", 8)],
        [mine("C", "h0", 4), mine("C", "h1", 1)],
        [("h0", "/C", 4), ("h1", "/C", 4)],
        [("h1", "/A", 4), ("h0", "/C", 4)],
    ),
    "whole hosts before parts of public ones": (
        {"/A": own(hosts=1) | {"rank": 1}, "/P": owns(2), "/C": owns(4, 2)},
        [of("/P", 2), of("/C", 4)],
        [mine("P", "h0", 2), mine("C", "h1", 4)],
        [("h0", "/P", 2), ("h1", "/C", 4)],
        [("h0", "/P", 2), ("h1", "/A", 4), ("h0", "/C", 2)],
    ),
    "public parts before those of worse ranks": (
        {"/A": own(hosts=1) | {"rank": 1}, "/P": owns(4), "/C": owns(2, 2)},
        [of("/P", 4), of("/C", 2)],
        [mine("P", "h0", 2), mine("P", "h1", 2), mine("C", "h0", 2)],
        [("h0", "/P", 2), ("h1", "/P", 2), ("h0", "/C", 2)],
        [("h0", "/P", 2), ("h1", "/P", 2), ("h1", "/A", 2), ("h0", "/C", 2)],
    ),
    "a total from the worst rank": (
        {"/A": owns(2), "/B": owns(4, 1), "/C": owns(4, 2)},
        [of("/B", 4), of("/C", 4)],
        [mine("B", "h0", 4), mine("C", "h1", 4)],
        [("h0", "/B", 4), ("h1", "/C", 4)],
        [("h1", "/A", 2), ("h0", "/B", 4), ("h1", "/C", 2)],
    ),
    "a total from the host with the least load": (
        {"/A": owns(2), "/B": owns(8, 1)},
        [of("/B", 8)],
        [mine("B", "h0", 4), mine("B", "h1", 1)],
        [("h0", "/B", 4), ("h1", "/B", 4)],
        [("h1", "/A", 2), ("h0", "/B", 4), ("h1", "/B", 2)],
    ),
    "who has too much of a total gives the least load": (
        {"/A": owns(4)},
        [of("/A", 8)],
        [mine("A", "h0", 1), mine("A", "h1", 3)],
        [("h0", "/A", 4), ("h1", "/A", 4)],
        [("h1", "/A", 4)],
    ),
    "of equal load of a total the last host": (
        {"/A": owns(4)},
        [of("/A", 8)],
        [mine("A", "h0", 2), mine("A", "h1", 2)],
        [("h0", "/A", 4), ("h1", "/A", 4)],
        [("h0", "/A", 4)],
    ),
    "of equal load of whole hosts the last": (
        {"/A": own(hosts=1)},
        [of("/A", 8)],
        [mine("A", "h0", 2), mine("A", "h1", 2)],
        [("h0", "/A", 4), ("h1", "/A", 4)],
        [("h0", "/A", 4)],
    ),
}


@pytest.mark.parametrize("case", OWNING)
def test_r_adjust_2_r_adjust_3_who_gives_up_and_who_takes_which_hosts(case: str) -> None:
    consumers, wants, stands, before, after = OWNING[case]
    document = run(consumers, wants, stands, ownership=before).document
    assert [(row["host"], row["consumer"], row["amounts"]["cpu"]) for row in document["ownership"]] == after


def aged(day: int) -> Json:
    return {"submitted": f"2026-01-0{day}T00:00:00Z"}


def since(row: Json, hour: int) -> Json:
    return row | {"started": f"2026-01-05T{hour:02d}:00:00Z"}


FIRST: Json = {"/R": {"share_priority": 1}, "/V": {}}
TAKING: dict[str, tuple[Json, Rows, Rows, dict[str, int], list[tuple[str, str, int]]]] = {
    "of an owner's borrowers those of the outermost pool, across hosts": (
        {"/M": own(hosts=["h0", "h1"]), "/M/x": own(hosts=["h0", "h1"]), "/M/y": {}, "/Z": {}},
        [of("/M/x", 1), of("/M/y", 4), of("/Z", 1)],
        [on("h0", "y", 4, "/M"), on("h1", "Z", 1, M=1)],
        {"h0": 4, "h1": 1},
        [("Z", "h1", 1)],
    ),
    "what an owner prefers": (
        {"/A": both(own(hosts=["h0"], preference=2), own(hosts=["h1"], preference=1)), "/W": {}, "/Z": {}},
        [of("/A", 1), of("/W", 4), of("/Z", 2)],
        [on("h0", "W", 4, A=4), on("h1", "Z", 2, A=2)],
        {"h0": 4, "h1": 2},
        [("Z", "h1", 1)],
    ),
    "on the host with the most over-used": (
        FIRST | {"/W": {}},
        [of("/R", 1, 2), of("/V", 1, 2), of("/W", 6)],
        [on("h0", "V", 1), on("h1", "W", 6)],
        {"h0": 2, "h1": 6},
        [("W", "h1", 2)],
    ),
    "where the fewest gangs break": (
        FIRST,
        [of("/R", 1, 2), of("/V", 1, 2, name="g", min_count=1), of("/V", 2, 1, name="s")],
        [on("h0", "g", 1), on("h1", "s", 2)],
        {"h0": 2, "h1": 2},
        [("s", "h1", 2)],
    ),
    "those not needed stay, the last picked first": (
        FIRST,
        [
            of("/R", 1, 3),
            of("/V", 1, name="a", **aged(4)),
            of("/V", 1, name="b", **aged(3)),
            of("/V", 1, 2, name="c", **aged(2)),
        ],
        [on("h0", name, 1) for name in "abc"],
        {"h0": 4},
        [("a", "h0", 1), ("c", "h0", 1)],
    ),
    "of one age who has started last": (
        FIRST,
        [of("/R", 1), of("/V", 2)],
        [since(on("h0", "V", 1), 7), since(on("h1", "V", 1), 8)],
        {"h0": 1, "h1": 1},
        [("V", "h1", 1)],
    ),
    "of ratio 0 first": (
        {"/R": {}, "/V": {"share_ratio": 0}, "/W": {}},
        [of("/R", 3), of("/V", 1), of("/W", 7)],
        [on("h1", "V", 1), on("h0", "W", 4), on("h1", "W", 3)],
        {"h0": 4, "h1": 4},
        [("V", "h1", 1), ("W", "h0", 2)],
    ),
}


@pytest.mark.parametrize("case", TAKING)
def test_r_take_2_r_take_3_r_victim_2_who_goes(case: str) -> None:
    consumers, wants, stands, hosts, expected = TAKING[case]
    assert [row[:3] for row in taken(consumers, wants, stands, hosts=hosts)] == expected


@pytest.mark.parametrize(("dues", "stays"), [((50, 20), "h1"), ((20, 50), "h0"), ((20, 20), "h0")])
def test_r_notice_2_what_is_needed_no_more_is_let_go_latest_deadline_first_then_last_listed(
    dues: tuple[int, int], stays: str
) -> None:
    """A gets one of two units on an idle place; for nobody, where the holder is one above its limit."""

    def notices(name: str, taker: str | None) -> Rows:
        at = zip(("h0", "h1"), dues, strict=True)
        every = [
            {"request": name, "host": host, "units": 1, "deadline": f"2026-01-05T09:00:{due}Z"} for host, due in at
        ]
        return [each | ({"for": taker} if taker else {"reason": "limit"}) for each in every]

    goes = {"h0": "h1", "h1": "h0"}[stays]
    held = [{"request": "A", "host": host, "units": 1} for host in ("h0", "h1")]
    three = {"hosts": {"h0": 4, "h1": 4, "h2": 1}, "reclaims": notices("B", "A"), "held": held}
    stands = [on("h0", "B", 4), on("h1", "B", 4)]
    document = run({"/A": {}, "/B": {"reclaim_grace": "60s"}}, [of("/A", 2), of("/B", 8)], stands, **three).document
    assert [row["host"] for row in document["withdrawn"]] == [goes]
    above = [on("h0", "V", 4), on("h1", "V", 1)]
    limited = {"/V": {"share_limit": {"cpu": 4}}}
    document = run(limited, [of("/V", 6)], above, reclaims=notices("V", None)).document
    assert [row["host"] for row in document["withdrawn"]] == [goes]


def test_r_take_4_what_a_gang_has_of_its_own_is_no_usage() -> None:
    """Four of its five stand on its own host: in the public pool A has one and B none, so that they go on in turn."""
    wants = [of("/A", 7, min_count=5), of("/B", 9)]
    found = placed({"/A": own(hosts=["h1"]), "/B": {}}, wants, hosts={"h0": 8, "h1": 4})
    assert [row[0] for row in found] == ["A", "A", "B", "A", "B", "A", "B"]
