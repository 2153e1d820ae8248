"""Rows of a report of usage: the parts are the whole, whatever is asked for."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

from fairhold.lab.report.usage_rows import ALL, ITSELF, KINDS, OTHERS, report_document, report_rows, utilisations

PATHS = ("/", "/A", "/A/a1", "/A/a1/x", "/A/a2", "/B", "/AB")


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
        for name in ("gpu", "slots")
    ]
    terms = {"from": "a", "to": "b", "currency": "CHF", "cost": "1", "unpriced": [], "balance": []}
    return terms | {"rows": rows, "capacity": capacity, "capacity_from": "a", "capacity_whole": True}


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


def test_what_there_was_was_allocated_idle_or_down() -> None:
    answer = answer_of(Random(2))
    used = utilisations(answer)["", "gpu"]
    held = sum(row.held for row in report_rows(answer, ["user"]) if row.resource == "gpu" and row.of != ALL)
    assert (used.allocated, used.total) == (held, Fraction(10**9 + 5, 3600))
    assert sum(used.parts().values()) == 1
    document = report_document(answer, ["user"], report_rows(answer, ["user"]))
    assert [each["resource"] for each in document["utilisation"]] == ["gpu", "slots"]
    assert document["rows"][-1]["of"] == ALL
    by_day = answer | {"capacity": [each | {"day": day} for each in answer["capacity"] for day in "12"]}
    assert utilisations(by_day)["", "gpu"].total == 2 * used.total
    assert utilisations(by_day, "day")["2", "gpu"].total == used.total
    unknown = report_document(answer | {"capacity_whole": False}, ["user"], report_rows(answer, ["user"]))
    assert unknown["utilisation"] == []
    assert {row["share"] for row in unknown["rows"]} == {None}
