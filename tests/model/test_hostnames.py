"""Names of hosts folded into ranges are those that a plan makes of the ranges."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.model.hostnames import fold, fold_counted
from fairhold.planio.hosts import expand

NUMBERS = st.integers(0, 120)
NAMES = st.builds(
    lambda stem, number, width, end: f"{stem}{number:0{width}d}{end}",
    *(st.sampled_from(["g", "rack1-", ""]), NUMBERS, st.integers(0, 3), st.sampled_from(["", "", ".lab"])),
) | st.sampled_from(["login", "a-b", "g"])


@given(st.lists(NAMES, unique=True))
def test_a_plan_makes_the_same_names_again(names: list[str]) -> None:
    folded = fold(names)
    assert sorted(each for name in folded for each in expand(name)) == sorted(names)
    assert len(folded) <= len(names)
    assert fold_counted(names) == [(name, len(expand(name))) for name in folded]


@pytest.mark.parametrize(
    ("names", "folded"),
    [
        ([f"g{at:02}" for at in range(1, 21)], ["g[01-20]"]),
        (["g08", "g09", "g10", "g12"], ["g[08-10,12]"]),
        (["g9", "g10", "g100"], ["g[9-10,100]"]),
        (["h1", "login", "g2", "h3"], ["h[1,3]", "login", "g2"]),
        (["n1.lab", "n2.lab", "n2"], ["n[1-2].lab", "n2"]),
        (["r1-n1", "r1-n2", "r2-n1"], ["r1-n[1-2]", "r2-n1"]),
        (["g1", "g1"], ["g1"]),
        ([], []),
    ],
)
def test_what_differs_in_a_number_alone_is_one(names: list[str], folded: list[str]) -> None:
    assert fold(names) == folded
