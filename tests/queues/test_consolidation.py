"""Units move to other hosts to make room (R-CONTEST-6)."""

from __future__ import annotations

from tests.queues.asking import waits, words
from tests.queues.small import Cluster


def cluster(**settings: object) -> Cluster:
    """Two hosts of 2 GPUs, a unit of 1 on each, and a request of 2."""
    queues = {"/A": {"reclaim_grace": "10s"}, "/B": {}}
    found = Cluster([2, 2], queues, **settings)
    found.ask("one", "/A", 1, on={"h0": 1}).ask("two", "/A", 1, on={"h1": 1})
    return found.ask("large", "/B", 1, gpu=2)


def moves(found: Cluster) -> list[tuple[str, str, str, str]]:
    assert found.last is not None
    rows = found.last.document["reclaims"]
    return [(row["request"], row["host"], row["for"], row["reason"]) for row in rows]


def test_a_unit_moves_and_loses_nothing() -> None:
    found = cluster(consolidation=True)
    found.cycle()
    assert moves(found) == [("one", "h0", "large", "consolidation")]
    assert found.document["held"] == [
        {"request": "large", "host": "h0", "units": 1},
        {"request": "one", "host": "h1", "units": 1},
    ]
    assert moves_none(found, seconds=5)
    found.cycle(seconds=5)
    assert found.held() == {"one": 1, "two": 1, "large": 1}
    assert moves_none(found, seconds=1)


def moves_none(found: Cluster, seconds: int) -> bool:
    document = found.cycle(seconds=seconds).document
    return not any(document[kind] for kind in ("grants", "reclaims", "withdrawn", "stops"))


def test_it_is_off_unless_it_is_switched_on_and_explain_says_what_it_would_do() -> None:
    found = cluster()
    told = waits(found, "/B")["consolidation"]
    move = {"request": "one", "consumer": "/A", "from": "h0", "to": "h1", "units": 1}
    assert told == {"is_on": False, "moves": [move], "rule": "R-CONTEST-6"}
    assert "moves would make room, with `consolidation: true`" in words(found, "/B")
    assert moves_none(found, seconds=0)


def test_explain_says_who_moves_and_for_whom() -> None:
    found = cluster(consolidation=True)
    assert "moves by 2026-01-05T09:00:10Z to make room for request large of /B [R-CONTEST-6]" in words(found, "/A")
    assert "of request large waits" not in words(found, "/B")


def test_what_is_not_preemptible_young_or_without_a_place_stays() -> None:
    fixed = cluster(consolidation=True)
    for request in fixed.document["requests"][:2]:
        request["preemptible"] = False
    assert moves_none(fixed, seconds=0)
    young = Cluster([2, 2], {"/A": {"reclaim_min_runtime": "2h"}, "/B": {}}, consolidation=True)
    young.ask("one", "/A", 1, on={"h0": 1}).ask("two", "/A", 1, on={"h1": 1}).ask("large", "/B", 1, gpu=2)
    assert moves_none(young, seconds=0)
    full = Cluster([2, 1], {"/A": {"deserved": {"gpu": 2}}, "/B": {}}, consolidation=True)
    full.ask("one", "/A", 1, on={"h0": 1}).ask("two", "/A", 1, on={"h1": 1}).ask("large", "/B", 1, gpu=2)
    assert moves_none(full, seconds=0)


def test_the_largest_move_first_where_the_small_ones_would_be_in_the_way() -> None:
    found = Cluster([4, 4], {"/A": {}}, consolidation=True).ask("two", "/A", 1, gpu=2, on={"h0": 1})
    found.ask("large", "/A", 1, gpu=2, on={"h1": 1}).ask("small", "/A", 1, on={"h1": 1}).ask("three", "/A", 1, gpu=3)
    found.cycle()
    assert moves(found) == [("large", "h1", "three", "consolidation")]


def test_a_gang_that_stands_on_one_host_moves_whole_and_one_on_two_stays() -> None:
    def gang(on: dict[str, int]) -> Cluster:
        found = Cluster([4, 4, 1], {"/A": {}}, consolidation=True).ask("gang", "/A", 2, min_count=2, on=on)
        return found.ask("fixed", "/A", 1, on={"h1": 1}, priority=100).ask("four", "/A", 1, gpu=4)

    whole, parted = gang({"h0": 2}), gang({"h0": 1, "h2": 1})
    whole.cycle()
    assert whole.reclaims() == {"gang": 2}
    whole.cycle(seconds=1)
    assert whole.held() == {"gang": 2, "fixed": 1, "four": 1}
    assert moves_none(parted, seconds=0)


def test_a_victim_at_what_it_deserves_moves_and_gives_nothing() -> None:
    # KAI keeps such a pair for consolidation alone (filt-03)
    queues = {"/R": {"deserved": {"gpu": 4}, "over_quota_weight": 0}, "/V": {"deserved": {"gpu": 2}}}
    for is_on in (False, True):
        found = Cluster([3, 3], queues, consolidation=is_on).ask("a", "/V", 1, on={"h0": 1})
        found.ask("b", "/V", 1, on={"h1": 1}).ask("fixed", "/R", 1, on={"h1": 1}, priority=100)
        found.ask("x", "/R", 1, gpu=3)
        found.cycle()
        assert found.reclaims() == ({"a": 1} if is_on else {})


def test_who_may_not_have_more_moves_nobody() -> None:
    queues = {"/A": {}, "/B": {"limit": {"gpu": 1}}}
    found = Cluster([2, 2], queues, consolidation=True).ask("one", "/A", 1, on={"h0": 1})
    found.ask("two", "/A", 1, on={"h1": 1}).ask("large", "/B", 1, gpu=2)
    assert moves_none(found, seconds=0)


def test_a_unit_whose_place_is_gone_stays() -> None:
    found = cluster(consolidation=True)
    found.cycle()
    found.document["hosts_down"] = ["h1"]
    document = found.cycle(seconds=1).document
    assert [(row["request"], row["units"]) for row in document["withdrawn"]] == [("one", 1)]
    assert "reclaims" not in found.document


def test_a_taker_that_wants_no_more_lets_stay() -> None:
    found = cluster(consolidation=True)
    found.cycle()
    found.document["requests"][2]["count"] = 0
    document = found.cycle(seconds=1).document
    assert [row["request"] for row in document["withdrawn"]] == ["one"]
    assert "held" not in found.document


def test_moves_are_counted_by_the_controls() -> None:
    for most, told in ((1, 1), ("none", 2)):
        found = Cluster([2, 2, 2, 2], {"/A": {}}, consolidation=True, max_reclaims=most)
        found.ask("small", "/A", 4, on={f"h{at}": 1 for at in range(4)}).ask("large", "/A", 2, gpu=2)
        found.cycle()
        assert sum(found.reclaims().values()) == told
    still = cluster(consolidation=True, observe_only=True)
    still.cycle()
    assert moves(still) == []
    assert still.last is not None
    assert [row["reason"] for row in still.last.document["observed"]] == ["consolidation"]
