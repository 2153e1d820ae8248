"""Text → plain values: YAML 1.2 core schema and JSON, and what is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yaml.error import Mark
from yaml.scanner import ScannerError

from fairhold.errors import Fault, InputError
from fairhold.planio import document, yamltext
from fairhold.planio.document import parse_document, read_text
from fairhold.planio.scalars import Written, WrittenWhole
from fairhold.planio.yamlmarks import syntax_fault

if TYPE_CHECKING:
    from pathlib import Path


def fault_of(text: str) -> Fault:
    with pytest.raises(InputError) as caught:
        parse_document(text, "f.yaml")
    (fault,) = caught.value.faults
    assert fault.file == "f.yaml"
    return fault


@pytest.mark.parametrize(
    ("scalar", "value"),
    [
        *[
            (word, word)
            for word in ("no", "yes", "on", "off", "y", "1:30", "1_000", "2026-01-05", "0b1", "1e", "+", ".")
        ],
        *[(word, None) for word in ("", "~", "null", "Null", "NULL")],
        *[(word, True) for word in ("true", "True", "TRUE")],
        *[(word, False) for word in ("false", "False", "FALSE")],
        *[("0o17", 15), ("0x1F", 31), ("-7", -7), ("+7", 7), ("007", 7)],
        *[("1.5", 1.5), (".5", 0.5), ("1.", 1.0), ("1e3", 1000.0)],
        *[("'12'", "12"), ('"true"', "true"), ("!!str 12", "12"), ("nULL", "nULL"), ("2026-01-05T09:00:00Z",) * 2],
    ],
)
def test_a_plain_scalar_follows_the_core_schema(scalar: str, value: Any) -> None:
    read = parse_document(f"a: {scalar}\n", "f").value["a"]  # type: ignore[index, call-overload]
    assert read == value
    assert type(read) in {float: (Written,), int: (int, WrittenWhole)}.get(type(value), (type(value),))


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        pytest.param("", "empty", 0, id="nothing"),
        pytest.param(" \n\t\n", "empty", 0, id="blanks"),
        pytest.param("# only a comment\n", "empty", 2, id="comment"),
        pytest.param("---\n~\n", "empty", 1, id="null"),
        pytest.param("a: 1\nb: 2\na: 3\n", "duplicate-key", 3, id="twice in YAML"),
        pytest.param('{"a": 1,\n"b": {"c": 1,\n"c": 2}}', "duplicate-key", 3, id="twice in JSON"),
        pytest.param("x:\n  <<: {a: 1}\n", "merge-key", 2, id="merge key"),
        pytest.param("a: 1\nb: !thing {}\n", "tag", 2, id="custom tag"),
        pytest.param("b: !!int 3\n", "tag", 1, id="tag that converts"),
        pytest.param("a: 1\n---\nb: 1\n", "several-documents", 2, id="two documents"),
        pytest.param("a: &x\n - *x\n", "alias", 2, id="recursive alias"),
        pytest.param("a: *x\n", "alias", 1, id="unknown alias"),
        pytest.param("a: .inf\n", "bad-number", 1, id="infinity in YAML"),
        pytest.param('{"a":\n NaN}', "bad-number", 2, id="NaN in JSON"),
        pytest.param('{"a":\n -Infinity}', "bad-number", 2, id="infinity in JSON"),
        pytest.param("a: " + "1" * 5000, "bad-number", 1, id="long number in YAML"),
        pytest.param('{"a": \n' + "1" * 5000 + "}", "bad-number", 2, id="long number in JSON"),
        pytest.param("a: 1\n7: x\n", "key-not-text", 2, id="number as key"),
        pytest.param("null: x\n", "key-not-text", 1, id="null as key"),
        pytest.param("? [a]\n: x\n", "key-not-text", 1, id="list as key"),
        pytest.param("? {a: 1}\n: x\n", "key-not-text", 1, id="mapping as key"),
        pytest.param("a: 1\n\tb: 2\n", "yaml-syntax", 2, id="tab"),
        pytest.param("a: 1: 2\n", "yaml-syntax", 1, id="two colons"),
        pytest.param("a: [1, 2\n", "yaml-syntax", 2, id="truncated YAML"),
        pytest.param('{"a": [1,\n', "json-syntax", 2, id="truncated JSON"),
        pytest.param('{"a": 1} {"b": 2}', "json-syntax", 1, id="two JSON values"),
        pytest.param("a: 1\nb: \0\n", "not-text", 2, id="NUL"),
        pytest.param("a: 1\nb: \x01\n", "not-text", 2, id="control character"),
        pytest.param("a: \ud800\n", "not-text", 1, id="half pair in YAML"),
        pytest.param('{"a":\n"\\ud800"}', "not-text", 2, id="half pair in JSON"),
        pytest.param("x: " + "[" * 3000, "nested-too-deep", 1, id="deep YAML"),
        pytest.param('{"a":' * 3000, "nested-too-deep", 0, id="deep JSON"),
        pytest.param("a" * 2000 + ": 1\n", "key-too-long", 1, id="long key"),
        pytest.param("b: 1\n" + "a" * 2000 + "\n: 1\n", "key-too-long", 2, id="long key before a line break"),
    ],
)
def test_a_bad_document_is_refused_with_its_line(text: str, code: str, line: int) -> None:
    fault = fault_of(text)
    assert (fault.code, fault.line) == (code, line)


def test_both_lines_of_a_key_that_stands_twice_are_named() -> None:
    fault = fault_of("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n")
    assert (fault.place, fault.line) == (("b", "c"), 5)
    assert "line 3" in fault.what


def test_all_faults_of_a_document_come_at_once() -> None:
    with pytest.raises(InputError) as caught:
        parse_document("a: !x 1\nb: 1\nb: 2\n3: 4\n", "f")
    assert [(fault.code, fault.line) for fault in caught.value.faults] == [
        ("tag", 1),
        ("duplicate-key", 3),
        ("key-not-text", 4),
    ]


def test_a_long_key_may_stand_behind_a_question_mark() -> None:
    key = "/" + "a/" * 5000 + "z"
    assert parse_document(f"? {key}\n: {{b: 1}}\n", "f").value == {key: {"b": 1}}
    assert "? /" in fault_of(f"{key}: 1\n").mend


def test_aliases_share_within_a_budget() -> None:
    value: Any = parse_document("a: &x {b: [1, 2]}\nc: *x\n*y : 1\n".replace("*y", "d"), "f").value
    assert value["c"] is value["a"]
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
    for level in range(1, 9):
        bomb += f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]\n"
    fault = fault_of(bomb)
    assert fault.code == "alias"
    assert f"{yamltext.ALIAS_NODES:,}" in fault.what


def test_the_budget_of_aliases_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a: &x [1, 2]\nb: *x\nc: *x\n"
    # The list takes four events, start and end counted; each alias adds three to its own.
    monkeypatch.setattr(yamltext, "ALIAS_NODES", 6)
    parse_document(text, "f")
    monkeypatch.setattr(yamltext, "ALIAS_NODES", 5)
    assert fault_of(text).line == 3


def test_places_are_found_again_in_yaml_and_json() -> None:
    yaml = "a:\n  - x: 1\n  - y: {z: 2}\n? b\n: [1,\n 2]\n"
    assert marks(yaml) == [("a", 1), (("a", 1, "y", "z"), 3), (("b", 1), 6), (("a", 1, "gone"), 3)]
    text = '{"a":\n [{"x": 1},\n {"y": {"\\u007a":\n 2}}], "b": [1,\n 2]}'
    assert marks(text) == [("a", 1), (("a", 1, "y", "z"), 3), (("b", 1), 5), (("a", 1, "gone"), 3)]


def test_columns_count_from_one_in_yaml_and_json() -> None:
    for text in ('{"a": 1,\n  "b": {"c": 2}}', '--- {"a": 1,\n  "b": {"c": 2}}'):
        places = [("b",), ("b", "c")]
        found = parse_document(text, "f").locate(Fault("x", "", place=place) for place in places)
        assert [(fault.line, fault.column) for fault in found] == [(2, 3), (2, 9)]
    assert (fault_of('{"a": 1, "a": 2}').column, fault_of("x: 1\n'x': 2").column) == (10, 1)


def marks(text: str) -> list[Any]:
    places = [("a",), ("a", 1, "y", "z"), ("b", 1), ("a", 1, "gone")]
    wanted = [Fault("x", str(place), place=place) for place in places]
    found = {fault.place: fault.line for fault in parse_document(text, "f").locate(wanted)}
    return [("a", found[("a",)]), *[(place, found[place]) for place in places[1:]]]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.text(st.characters(codec="utf-8")),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
        max_leaves=20,
    ),
)
def test_a_document_is_read_back_as_it_was_written(value: Any) -> None:
    assert parse_document(json.dumps({"top": value}), "f").value == {"top": value}


def test_json_and_yaml_give_the_same_values() -> None:
    text = json.dumps({"top": "x", "n": [1, None, True, -2.5, {}], "o": {"p": []}})
    assert parse_document(text, "f").value == parse_document(f"--- {text}", "f").value


def test_a_byte_order_mark_is_passed_over() -> None:
    assert parse_document("\ufeffa: 1\n", "f").value == {"a": 1}


@pytest.mark.parametrize(
    ("data", "code", "line"),
    [
        (b"a: 1\nb: \xff\n", "not-utf-8", 2),
        ("a: 1".encode("utf-16"), "not-utf-8", 1),
        (b"\x89PNG\r\n\x1a\n\0\0", "not-utf-8", 1),
    ],
)
def test_a_file_that_is_no_utf8_is_refused(tmp_path: Path, data: bytes, code: str, line: int) -> None:
    path = tmp_path / "f.yaml"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        read_text(path)
    (fault,) = caught.value.faults
    assert (fault.code, fault.line, fault.file) == (code, line, str(path))


def test_a_file_that_cannot_be_read_or_is_too_large_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "f.yaml"
    for bad in (path, tmp_path, f"{path}\0"):
        with pytest.raises(InputError) as caught:
            read_text(bad)
        assert caught.value.faults[0].code == "cannot-read"
    path.write_text("a: 12\n")
    monkeypatch.setattr(document, "LARGEST_FILE", 6)
    assert read_text(path) == "a: 12\n"
    monkeypatch.setattr(document, "LARGEST_FILE", 5)
    with pytest.raises(InputError) as caught:
        read_text(path)
    assert caught.value.faults[0].code == "file-too-large"


@pytest.mark.parametrize("text", ['{"KEY": 1, "KEY": 2}', "KEY: 1\n? KEY\n: 2\n"])
def test_a_long_key_is_shown_cut(text: str) -> None:
    fault = fault_of(text.replace("KEY", "k" * 900))
    assert fault.code == "duplicate-key"
    assert len(fault.what) < 300


def test_a_depth_that_libyaml_itself_refuses_is_named_as_ours() -> None:
    mark = Mark("plan.yaml", 0, 6, 2, None, 0)
    error = ScannerError("while increasing flow level", mark, "exceeded maximum nesting depth", mark)
    fault = syntax_fault(error, "\n" * 6 + "c: [[\n")
    assert (fault.code, fault.line) == ("nested-too-deep", 7)
    assert "by path" in fault.mend
