"""Rows of a report of usage: the parts are the whole, whatever is asked for."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

from fairhold.lab.report.usage_rows import (
    ALL,
    ITSELF,
    KINDS,
    OTHERS,
    dominant_rows,
    report_document,
    report_rows,
    utilisations,
)

PATHS = ("/", "/A", "/A/a1", "/A/a1/x", "/A/a2", "/B", "/AB")


def _is_held(row: dict[str, Any], resource: str) -> bool:
    return row["resource"] == resource and row["kind"] in {"own", "borrowed"}


def answer_of(random: Random) -> dict[str, Any]:
    rows = [
        {"consumer": path, "user": user, "kind": kind, "resource": resource, "unit": ""}
        | {"resource_seconds": str(Fraction(random.randrange(10**6), 1))}
        | ({"cost": str(random.randrange(-50, 50))} if random.random() < 0.5 else {})
        for path in PATHS
        for user in ("ann", "bob")
        for kind in (KINDS if path.count("/") > 1 or path in {"/B", "/AB"} else ("lent",))
        for resource in ("gpu", "slots")
        if random.random() < 0.7
    ]
    capacity = [
        {"resource": name, "unit": "", "up_seconds": str(10**9), "down_seconds": "5", "reserved_seconds": "7"}
        | {"held_seconds": str(sum(Fraction(row["resource_seconds"]) for row in rows if _is_held(row, name)))}
        for name in ("gpu", "slots")
    ]
    terms = {
        "from": "2026-01-01T00:00:00Z",
        "to": "2026-01-03T00:00:00Z",
        "currency": "CHF",
        "cost": "1",
        "unpriced": [],
        "balance": [],
    }
    return terms | {"rows": rows, "capacity": capacity, "capacity_from": "2026-01-02T00:00:00Z", "capacity_whole": True}


def test_each_node_of_the_tree_is_its_children_and_itself() -> None:
    for seed in range(20):
        rows = report_rows(answer_of(Random(seed)), ["consumer"])
        for resource in ("gpu", "slots"):
            mine = [row for row in rows if row.resource == resource]
            whole = {row.names[0]: row for row in mine if not row.of}
            itself = {row.names[0]: row for row in mine if row.of == ITSELF}
            (everything,) = (row for row in mine if row.of == ALL)
            for path in {*whole, "/"}:
                children = [each for each in whole if each != "/" and (each.rpartition("/")[0] or "/") == path]
                parts = [whole[each] for each in children] + [itself[each] for each in (path,) if each in itself]
                if children:
                    of = everything if path == "/" else whole[path]
                    for kind in KINDS:
                        assert of.hours[kind] == sum(part.hours[kind] for part in parts)
                    assert of.cost == sum(part.cost for part in parts if part.cost is not None)


def test_the_largest_and_the_others_are_all() -> None:
    rows = [row for row in report_rows(answer_of(Random(1)), ["consumer", "user"], 2) if row.resource == "gpu"]
    assert [row.of for row in rows] == ["", "", OTHERS, ALL]
    assert rows[0].held >= rows[1].held
    assert sum(row.held for row in rows[:3]) == rows[3].held
    assert sum(row.cost or 0 for row in rows[:3]) == rows[3].cost


def test_the_dominant_share_is_the_largest_part_of_any_resource() -> None:
    answer = answer_of(Random(3))
    answer["capacity"][0]["up_seconds"] = str(8 * 10**8)  # of fewer GPUs the same hours are more
    held: dict[tuple[str, str], dict[str, Fraction]] = {}
    total = {"gpu": Fraction(8 * 10**8 + 5), "slots": Fraction(10**9 + 5)}
    for each in answer["rows"]:
        if each["kind"] in {"own", "borrowed"}:
            parts = held.setdefault((each["consumer"], each["user"]), dict.fromkeys(total, Fraction(0)))
            parts[each["resource"]] += Fraction(each["resource_seconds"]) / total[each["resource"]]
    expected = {names: max((part, resource) for resource, part in parts.items()) for names, parts in held.items()}
    assert {resource for _, resource in expected.values()} == {"gpu", "slots"}
    rows = [row for row in report_rows(answer, ["consumer", "user"]) if row.held and not row.of]
    assert {row.names: row.dominant and row.dominant[:2] for row in rows} == expected
    assert {row.dominant.hours / row.dominant.share for row in rows if row.dominant} == {24}
    best = dominant_rows(report_rows(answer, ["consumer", "user"], 3), ["consumer", "user"], 3)
    assert [row.names for row, _ in best[:3]] == sorted(expected, key=lambda names: -expected[names][0])[:3]
    assert [row.of for row, _ in best] == ["", "", "", ALL]
    document = report_document(answer, ["consumer", "user"], report_rows(answer, ["consumer", "user"], 3))
    others = next(row for row in document["rows"] if row["of"] == OTHERS)
    assert (others["dominant_share"], others["dominant_resource"]) == (None, None)


def test_the_dominant_share_of_a_branch_is_of_all_below_it() -> None:
    answer = answer_of(Random(4))
    rows = report_rows(answer, ["consumer"])
    for path in ("/A", "/A/a1"):
        mine = {row.resource: row for row in rows if row.names[0] == path and not row.of}
        share, resource = max((row.held / Fraction(10**9 + 5) * 3600, row.resource) for row in mine.values())
        assert {row.dominant and row.dominant[:2] for row in mine.values()} == {(share, resource)}
    shown = [(row.names[0], row.of) for row, _ in dominant_rows(rows, ["consumer"])]
    assert [path for path, of in shown if not of] == ["/A", "/A/a1", "/A/a1/x", "/A/a2", "/AB", "/B"]
    assert ("/A", ITSELF) not in shown  # it has only lent
    assert shown[-1][1] == ALL


def test_no_dominant_share_is_told_by_time_or_where_capacity_is_not_known() -> None:
    answer = answer_of(Random(5))
    by_day = answer | {"rows": [row | {"day": "2026-01-02"} for row in answer["rows"]]}
    for told, keys in ((by_day, ["consumer", "day"]), (answer | {"capacity_whole": False}, ["consumer"])):
        rows = report_rows(told, keys)
        assert dominant_rows(rows, keys) == []
        assert {row["dominant_share"] for row in report_document(told, keys, rows)["rows"]} == {None}


def test_what_there_was_was_allocated_idle_or_down() -> None:
    answer = answer_of(Random(2))
    used = utilisations(answer)["", "gpu"]
    held = sum(row.held for row in report_rows(answer, ["user"]) if row.resource == "gpu" and row.of != ALL)
    assert (used.allocated, used.total) == (held, Fraction(10**9 + 5, 3600))
    assert sum(used.parts().values()) == 1
    document = report_document(answer, ["user"], report_rows(answer, ["user"]))
    assert [each["resource"] for each in document["utilisation"]] == ["gpu", "slots"]
    assert document["rows"][-1]["of"] == ALL
    part = answer | {"rows": answer["rows"][:1]}  # as somebody is told who sees no more of it
    assert utilisations(part)["", "gpu"] == used
    by_day = answer | {"capacity": [each | {"day": day} for each in answer["capacity"] for day in "12"]}
    assert utilisations(by_day)["", "gpu"].total == 2 * used.total
    assert utilisations(by_day, "day")["2", "gpu"].total == used.total
    unknown = report_document(answer | {"capacity_whole": False}, ["user"], report_rows(answer, ["user"]))
    assert unknown["utilisation"] == []
    assert {row["share"] for row in unknown["rows"]} == {None}
