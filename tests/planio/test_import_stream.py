"""Documents of a text: several in one, lists of all kinds, quantities, durations."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from fairhold.planio.imports.draft import flow
from fairhold.planio.imports.go_durations import parse_go_duration
from fairhold.planio.imports.objects import LONGEST_SHOWN, brief
from fairhold.planio.imports.stream import split
from fairhold.units import parse_quantity
from tests.planio.importing import Json, imported, plan_of, queue


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a: 1", [("a: 1", 0)]),
        ("---\na: 1\n---\nb: 2\n", [("   \na: 1", 0), ("   \nb: 2\n", 2)]),
        ("a: 1\n--- {b: 2}\n...\n# end\n", [("a: 1", 0), ("    {b: 2}", 1)]),
        ("%YAML 1.2\n---\na: 1\n", [("   \na: 1\n", 1)]),
        ("---\r\na: 1\r\n---\r\n", [("   \r\na: 1\r", 0)]),
        ("a: ---\nb: ----\n", [("a: ---\nb: ----\n", 0)]),
        ("a: |\n  ---\n  x\n", [("a: |\n  ---\n  x\n", 0)]),
        ('{"a": "---"}', [('{"a": "---"}', 0)]),
        ("\ufeffa: 1", [("a: 1", 0)]),
        ("# only\n---\n# this\n", []),
        ("", []),
    ],
)
def test_documents_are_told_apart_with_the_lines_above_them(text: str, parts: list[tuple[str, int]]) -> None:
    assert list(split(text)) == parts


def test_lists_may_stand_in_lists_and_name_the_kind_of_their_items() -> None:
    bare = {key: value for key, value in queue("b").items() if key not in {"kind", "apiVersion"}}
    typed: Json = {"kind": "QueueList", "apiVersion": "scheduling.run.ai/v2", "items": [bare]}
    listed: Json = {"kind": "List", "apiVersion": "v1", "items": [queue("a"), typed, queue("c")]}
    assert plan_of(imported("kai", json.dumps(listed))).tree.paths == ("/", "/a", "/b", "/c")


def test_lists_in_lists_may_be_deep() -> None:
    nested: Json = queue("a")
    for _ in range(150):
        nested = {"kind": "List", "apiVersion": "v1", "items": [nested]}
    assert plan_of(imported("kai", json.dumps(nested))).tree.paths == ("/", "/a")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *(("4", 4), ("500m", Fraction(1, 2)), ("0.5", Fraction(1, 2)), (".5", Fraction(1, 2)), ("5.", 5), ("+3", 3)),
        *(("1Ki", 1024), ("16Gi", 16 * 2**30), ("1.5Mi", 3 * 2**19), ("1Ei", 2**60)),
        *(("1k", 1000), ("2M", 2_000_000), ("1G", 10**9), ("3T", 3 * 10**12), ("1P", 10**15), ("2E", 2 * 10**18)),
        *(("1e3", 1000), ("1E3", 1000), ("12e-1", Fraction(6, 5)), ("7u", Fraction(7, 10**6)), ("-1", -1), ("0", 0)),
        *((text, None) for text in ("", ".", "-", "abc", "1 Gi", "1gi", "1K", "1ki", "4 ", "0x10", "1e", "1.2.3", "∞")),
    ],
)
def test_quantities_are_read_as_kubernetes_reads_them(text: str, number: Fraction | None) -> None:
    assert parse_quantity(text) == number


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        *(("10m", 600_000_000), ("1h30m", 5_400_000_000), ("10m0s", 600_000_000), ("1.5s", 1_500_000), ("0", 0)),
        *(("250ms", 250_000), ("7us", 7), ("7µs", 7), ("1ns", Fraction(1, 1000))),
        *((text, None) for text in ("", "10", "1d", "-5m", "m", "1 m", "5M")),
    ],
)
def test_durations_are_read_as_go_reads_them(text: str, micros: Fraction | None) -> None:
    assert parse_go_duration(text) == micros


def test_a_value_in_a_note_is_short_whatever_it_is() -> None:
    deep: object = 1
    for _ in range(900):
        deep = [deep]
    assert brief(deep) == "[[[[…]]]]"  # type: ignore[arg-type]
    assert len(brief({str(key): "x" * 1000 for key in range(1000)})) <= LONGEST_SHOWN + 1
    assert brief({"a": [1, None, True], "b": {}}) == "{a: [1, null, true], b: {}}"


def test_what_a_plan_is_written_with() -> None:
    assert flow({"a b": {"c": Fraction(1, 1000)}, "yes": "null", "/x": "1.5", "l": ("a=b", "c d")}) == (
        '{"a b": {c: 0.001}, yes: "null", /x: "1.5", l: [a=b, "c d"]}'
    )
