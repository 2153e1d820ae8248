"""What faults of single values say: the thing that is wrong, as it is written, and a mend that mends it."""

from __future__ import annotations

import pytest

from fairhold.errors import Fault, InputError
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from tests.planio.support import SMALL, faults_of

PLAN = parse_plan(SMALL, "plan.yaml")[0]
STATE = "fairhold_state: 1\nnow: "


def fault_of_now(text: str) -> Fault:
    with pytest.raises(InputError) as caught:
        parse_state(f"{STATE}{text}\n", PLAN, "state.yaml")
    (fault,) = caught.value.faults
    assert (fault.code, fault.line) == ("instant", 2)
    return fault


@pytest.mark.parametrize(
    ("text", "what", "mend"),
    [
        ("2026-13-05T09:00:00Z", "there is no month 13", "that exist"),
        ("2026-00-05T09:00:00Z", "there is no month 0", "that exist"),
        ("2026-02-29T09:00:00Z", "the month has no day 29", "that exist"),
        ("0000-01-01T09:00:00Z", "there is no year 0", "that exist"),
        ("2026-01-05T24:00:00Z", "there is no hour 24", "that exist"),
        ("2026-01-05 09:60Z", "there is no minute 60", "that exist"),
        ("2026-01-05T09:00:60Z", "there is no second 60", "that exist"),
        ("2026-01-05T09:00:00+25:00", "there is no offset `+25:00`", "such as `+01:00`"),
        ("2026-01-05T09:00:00.1234567Z", "it has 7 digits after the point", "six digits"),
        ("2026-01-05T09:00:00", "it has no offset from UTC", "add `Z`"),
        ("1969-12-31T23:59:59Z", "it is before 1970", "1970 to 8999"),
        ("1970-01-01T00:30:00+01:00", "it is before 1970", "1970 to 8999"),
        ("9000-01-01T00:00:01Z", "it is after the year 8999", "1970 to 8999"),
    ],
)
def test_an_instant_is_told_what_it_lacks(text: str, what: str, mend: str) -> None:
    fault = fault_of_now(text)
    assert fault.what == f"`{text}` cannot be used: {what}"
    assert mend in fault.mend


@pytest.mark.parametrize("text", ["yesterday", "2026-01-05", "5", "'20260105T090000Z'", "[1]"])
def test_what_is_no_instant_at_all_is_shown_one(text: str) -> None:
    fault = fault_of_now(text)
    assert fault.what.startswith("expected an instant with its offset, found ")
    assert "2026-01-05T09:00:00Z" in fault.mend


@pytest.mark.parametrize(
    ("written", "found", "mend"),
    [
        ("1e3", "`1e3`", "write 1000"),
        ("60.50", "`60.50`", "write 60 or 61"),
        ("6.00e1", "`6.00e1`", "write 60"),
        ('"60"', 'the text `"60"`', "write 60 without quotes"),
        ("sixty", "`sixty`", "write a whole number without unit"),
    ],
)
def test_a_number_is_shown_as_it_is_written(written: str, found: str, mend: str) -> None:
    texts = [SMALL.replace("owned: 60", f"owned: {written}")]
    if written != "sixty":
        texts.append(_as_json(written))
    for text in texts:
        (fault,) = faults_of(text)
        assert (fault.code, fault.what) == ("not-whole", f"expected a whole number, found {found}")
        assert fault.mend == mend


def _as_json(written: str) -> str:
    return (
        '{"fairhold": 1, "resource_groups": {"compute": {"slots": 100}}, "consumers": {"A": {}}, "policies": '
        f'[{{"resource_groups": ["compute"], "policy": "hybrid", "consumers": {{"/A": {{"owned": {written}}}}}}}]}}'
    )


def test_a_time_zone_that_is_a_number_is_not_told_to_quote_it() -> None:
    (fault,) = faults_of(f"{SMALL}time_zone: 3\n")
    assert (fault.code, fault.mend) == ("not-a-string", "write a name like `Europe/Zurich`")


def test_a_resource_group_that_stands_twice_in_one_entry_is_a_fault() -> None:
    (fault,) = faults_of(SMALL.replace("[compute]", "[compute, compute]"))
    assert (fault.code, fault.place) == ("group-shared-twice", ("policies", 0, "resource_groups", 1))
    assert "twice in one policy entry" in fault.what
