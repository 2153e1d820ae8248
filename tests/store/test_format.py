"""The number of the format says what a store holds: who changes that has to raise it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairhold.store.schema import steps
from tests.store.layout import layout

LATEST = len(steps())
RAISE = f"""
What a store holds is not what format {LATEST} was fixed as. A store must never be left to a Fairhold that cannot read
it: add a step to src/fairhold/store/migrations (where no table changes, a comment that says what is new), keep a store
of format {LATEST} as tests/store/service_{LATEST}.sql with a test in tests/live/test_formats.py, and say
`python -m tests.store.layout > tests/store/format_{LATEST + 1}.txt`. Only where the same is written in other words, or
where no released version has written format {LATEST}, let that command renew format_{LATEST}.txt.
"""


def test_what_a_store_holds_changes_with_the_number_of_its_format() -> None:
    fixed = Path(__file__).with_name(f"format_{LATEST}.txt").read_text(encoding="utf-8").splitlines()
    changed = sorted(set(fixed) ^ set(layout()))
    assert not changed, "\n".join(changed) + RAISE


@pytest.mark.parametrize("number", range(1, LATEST))
def test_a_store_of_every_earlier_format_is_kept_for_the_tests(number: int) -> None:
    text = Path(__file__).with_name(f"service_{number}.sql").read_text(encoding="utf-8")
    assert f"PRAGMA user_version={number};" in text
