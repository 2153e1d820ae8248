"""Schema and reader on generated values of single fields: what is read is valid, and what is valid is mostly read."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from fairhold.errors import InputError
from fairhold.planio.hosts import expand
from fairhold.planio.jobs import parse_jobs
from fairhold.planio.plan import parse_plan
from fairhold.planio.report import LAST_DEADLINE
from fairhold.planio.schema import KINDS, schema
from fairhold.planio.state import parse_state
from fairhold.units import LONGEST, parse_duration, parse_instant

CHECKS = {kind: Draft202012Validator(json.loads(schema(kind))) for kind in KINDS}
Json = dict[str, Any]


def plan_of(**more: Any) -> Json:
    entry = {"resource_groups": ["c"], "policy": "hybrid"}
    plan = {"fairhold": 1, "resource_groups": {"c": {"slots": 9}}, "consumers": {"A": {}}, "policies": [entry]}
    return plan | more


def state_of(**more: Any) -> Json:
    return {"fairhold_state": 1, "now": "2026-01-05T09:00:00Z"} | more


def verdicts(kind: str, document: Json, plan: Json | None = None) -> tuple[bool, bool]:
    """Whether the schema takes a document, and whether the reader does."""
    text = json.dumps(document, ensure_ascii=False)
    try:
        if kind == "plan":
            parse_plan(text, kind)
        else:
            read = parse_state if kind == "state" else parse_jobs
            read(text, parse_plan(json.dumps(plan or plan_of()), "plan")[0], kind)
    except InputError:
        return bool(CHECKS[kind].is_valid(document)), False
    return bool(CHECKS[kind].is_valid(document)), True


def is_told_apart(text: str) -> bool:
    """Whether patterns can say of every character if it can be printed; they know no planes and no gaps of Unicode.

    Python's `$` also matches before a last line break, which that of an editor does not.
    """
    return not text.endswith("\n") and all(
        unicodedata.category(each)[0] != "C" or ord(each) <= 0xFF or each in "\u200b\ufeff\ue000" for each in text
    )


TEXTS = st.text(
    st.one_of(
        st.sampled_from("ab01 /.[]-,=\t\n\u00a0\u00ad\u200b\u2028\u3000\ufeff\ue000\u0663é😀"),
        st.characters(codec="utf-8", exclude_characters="\0"),
    ),
    max_size=6,
)


@pytest.mark.parametrize("where", ["group", "consumer", "path", "request", "job"])
@given(text=TEXTS)
@example(text="a\u00a0")
@example(text="\u200b")
def test_names(where: str, text: str) -> None:
    if where == "group":
        entry = {"resource_groups": [text], "policy": "hybrid"}
        kind, document = "plan", plan_of(resource_groups={text: {"slots": 9}}, policies=[entry])
    elif where == "consumer":
        kind, document = "plan", plan_of(consumers={text: {}})
    elif where == "path":
        kind, document = "plan", plan_of(consumers={f"/A/{text}": {}, "/B": {}})
    elif where == "request":
        kind, document = "state", state_of(requests=[{"id": text, "consumer": "/A", "count": 1}])
    else:
        job = {"name": text, "consumer": "/A", "argv": ["true"]}
        kind, document = "jobs", {"fairhold_jobs": 1, "jobs": [job]}
    is_valid, is_read = verdicts(kind, document)
    assert is_valid >= is_read
    if is_told_apart(text):
        assert is_valid == is_read


@given(
    st.one_of(
        TEXTS, st.from_regex(r"[gh](\[[0-9]{1,3}(-[0-9]{1,3})?( ?, ?[0-9]{1,2})?\]|[\[\],-]|x){0,3}", fullmatch=True)
    )
)
def test_host_names(text: str) -> None:
    group = {"hosts": [{"name": text, "slots": 1}]}
    is_valid, is_read = verdicts("plan", plan_of(resource_groups={"c": group}))
    assert is_valid >= is_read
    try:
        names = expand(text)
        has_no_range_at_fault = len(set(names)) == len(names)
    except ValueError as error:
        has_no_range_at_fault = "brackets" in str(error) or "is no range" in str(error)
    if has_no_range_at_fault and is_told_apart(text):
        assert is_valid == is_read


NUMBER = st.from_regex(r"[0-9]{1,4}(\.[0-9]{1,4}(0{0,5}(125|25|75|5|1)?))?", fullmatch=True)
PARTS = st.tuples(NUMBER, st.sampled_from(["ms", "s", "m", "h", "d"])).map("".join)
DURATIONS = st.one_of(
    PARTS,
    st.lists(PARTS, max_size=4).map("".join),
    TEXTS,
    st.text("0123456789.msh d\u0663", max_size=9),
    st.sampled_from([0, 1, 0.5, True, None, "0", "30s\n", "\u0663s", "1e3s", "366d", "367d", "0.123456789125d"]),
)


@given(DURATIONS)
@example("\u0661\u0662s")
@example("0.00000000125h")
@example("0.00000000000125d")
def test_durations(value: object) -> None:
    found = {
        verdicts("plan", plan_of(consumers={"A": {"reclaim_grace": value}})),
        verdicts("jobs", {"fairhold_jobs": 1, "jobs": [{"consumer": "/A", "argv": ["x"], "submit": value}]}),
    }
    ((is_valid, is_read),) = found
    assert is_valid >= is_read
    long = isinstance(value, str) and (parse_duration(value) or 0) > LONGEST
    if not long and not (isinstance(value, str) and value.endswith("\n")):
        assert is_valid == is_read


@st.composite
def instants(draw: st.DrawFn) -> str:
    year = draw(st.sampled_from(["1969", "1970", "2026", "8999", "9000", "9001", "0000", "202\u0664"]))
    month, day = draw(st.integers(0, 13)), draw(st.integers(0, 32))
    clock = [draw(st.integers(0, most)) for most in (25, 61, 61)]
    fraction = draw(st.sampled_from(["", ".5", ".123456", ".1234567"]))
    offset = draw(st.sampled_from(["Z", "z", "+01:00", "-23:59", "+24:00", "+05:75", "", "+1:00"]))
    joint = draw(st.sampled_from("Tt _"))
    return f"{year}-{month:02}-{day:02}{joint}{clock[0]:02}:{clock[1]:02}:{clock[2]:02}{fraction}{offset}"


@given(instants())
@example("9000-12-31T23:59:59Z")
@example("2026-01-05T24:00:00Z")
@example("2026-01-05T09:00:00+05:75")
def test_instants(text: str) -> None:
    notice = {"consumer": "/A", "units": 1, "deadline": text}
    later = state_of(demand={"/A": {"c": 1}}, allocated={"/A": {"c": 1}}, reclaims=[notice])
    is_valid, is_read = verdicts("state", state_of(now=text))
    assert is_valid >= is_read
    is_valid, is_read = verdicts("state", later)
    assert is_valid >= is_read
    micros = parse_instant(text)
    if micros is not None:  # there is such a day
        assert is_valid == is_read or not 0 <= micros <= LAST_DEADLINE
    assert is_read == (micros is not None and 0 <= micros <= LAST_DEADLINE)


@given(st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.booleans(), st.none(), TEXTS))
@example(10**12)
@example(10**12 + 1)
@example(-1)
def test_whole_numbers(value: object) -> None:
    entry = {"resource_groups": ["c"], "policy": "hybrid", "consumers": {"/A": {"rank": value}}}
    found = {
        verdicts("plan", plan_of(default_rank=value)),
        verdicts("plan", plan_of(resource_groups={"c": {"slots": value}})),
        verdicts("plan", plan_of(policies=[entry])),
        verdicts("state", state_of(demand={"/A": {"c": value}})),
    }
    ((is_valid, is_read),) = found
    assert is_valid >= is_read
    if not isinstance(value, float):  # to a schema, 1.0 is a whole number
        assert is_valid == is_read


AMOUNTS = st.one_of(
    st.integers(), st.floats(allow_nan=False), st.booleans(), st.none(), st.decimals(0, 9).map(str), TEXTS
)


@given(AMOUNTS)
@example(10**12)
@example(0)
@example(-0.0)
@example("0" * 29 + "5")
@example("0.5")
@example("5.")
@example("40%")
def test_amounts(value: object) -> None:
    def vectors(host: object = 8, share: object = 1, own: object = 1, **resource: object) -> Json:
        consumers = {"/A": {"share_limit": {"x": share}, "own": [{"resource_group": "c", "per_host": {"x": own}}]}}
        entry = {"resource_groups": ["c"], "policy": "multidimensional", "consumers": consumers}
        group = {"hosts": [{"name": "h", "x": host}]}
        return plan_of(resources={"x": {"base": 1} | resource}, resource_groups={"c": group}, policies=[entry])

    plans = [vectors(value), vectors(share=value), vectors(own=value), vectors(step=value), vectors(overcommit=value)]
    parcels = [{"host": "h", "consumer": "/A", "amounts": {"x": value}}]
    request = {"id": "r", "consumer": "/A", "count": 1, "unit": {"x": value}}
    states = [state_of(ownership=parcels), state_of(requests=[request])]
    found = [verdicts("plan", plan) for plan in plans] + [verdicts("state", each, vectors(10**12)) for each in states]
    for is_valid, is_read in found:
        assert is_valid >= is_read
