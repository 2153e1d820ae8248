"""Records follow from one another: whatever is changed, taken out or put in is found."""

from __future__ import annotations

from typing import Any

import pytest

from fairhold.access.chain import START, Record, first_break, sealed


def records(number: int) -> list[Record]:
    found: list[Record] = []
    before = START
    for seq in range(1, number + 1):
        found.append(
            sealed(Record(seq, seq, *("ada", "token 1", "here", "submit_job", f"{seq}", "done", "{}"), before, ""))
        )
        before = found[-1].hash
    return found


def test_an_untouched_chain_is_good() -> None:
    whole = records(5)
    assert first_break(whole) == ((5, whole[-1].hash), None)
    assert first_break([]) == ((0, START), None)


@pytest.mark.parametrize("field", ["at", "user", "via", "origin", "action", "target", "outcome", "detail"])
def test_a_changed_field_is_found(field: str) -> None:
    whole = records(5)
    values: list[Any] = [*whole[2]]
    values[Record._fields.index(field)] = 9 if field == "at" else "forged"
    whole[2] = Record(*values)
    end, broken = first_break(whole)
    assert end == (2, whole[1].hash)
    assert broken is not None
    assert (broken.seq, broken.why) == (3, "record 3 was changed")


def test_a_record_that_was_sealed_anew_does_not_fit_what_follows() -> None:
    whole = records(5)
    whole[2] = sealed(whole[2]._replace(user="eve"))
    broken = first_break(whole)[1]
    assert broken is not None
    assert broken.why == "record 4 does not follow the record before it"


def test_a_missing_record_is_found() -> None:
    whole = records(5)
    broken = first_break([*whole[:2], *whole[3:]])[1]
    assert broken is not None
    assert broken.why == "record 3 is missing"


def test_a_chain_whose_beginning_was_cleared_out_is_followed_from_there() -> None:
    whole = records(5)
    assert first_break(whole[2:], (2, whole[1].hash)) == ((5, whole[-1].hash), None)
    broken = first_break(whole[2:], (2, START))[1]
    assert broken is not None
    assert broken.seq == 3
