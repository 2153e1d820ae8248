"""Whatever a document holds: behind the veil nobody reads the name of a consumer that is kept from him."""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fairhold.service.veil import Veil, veiled

PATHS = (
    *("/", "/Own", "/Own/a", "/Own/a b", "/Hid", "/Hid/a", "/Hid-x", "/Hid/a b", "/Hid/a/c.d"),
    *("/Above", "/Above/Mine", "/Above/Hid"),
)
SEEN = {"/Own", "/Own/a", "/Own/a b", "/Above/Mine"}
NAME = re.compile("Hid")
WORDS = st.sampled_from(["", "lent to ", ", ", "`", "(", ")", ": ", " and ", ".", "owned", "job 1", " job 2 "])
apart = st.lists(st.tuples(WORDS, st.sampled_from(PATHS)), max_size=4).map(
    lambda pairs: " ".join(f"{word} {path}" for word, path in pairs)
)
keys = st.sampled_from(["path", "consumer", "text", "job", "n", "for", "lenders", "rank", "users", *PATHS])
leaves = st.none() | st.booleans() | st.integers(0, 9) | apart | st.sampled_from(PATHS) | st.sampled_from(["1", "1/2"])
documents = st.dictionaries(
    keys,
    st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4), max_leaves=20
    ),
    max_size=6,
)


def veil(*, is_whole: bool) -> Veil:
    above = frozenset({"/", "/Above"})
    return Veil(PATHS, SEEN.__contains__, above, lambda job: job == "2", is_whole)


@given(document=documents, is_whole=st.booleans())
def test_no_name_is_left(document: dict[str, Any], *, is_whole: bool) -> None:
    assert not NAME.search(json.dumps(veiled(document, veil(is_whole=is_whole))))


@given(document=documents)
def test_what_is_not_kept_stays_as_it_is(document: dict[str, Any]) -> None:
    everything = Veil(PATHS, lambda _: True, frozenset(), lambda _: True, is_whole=False)
    assert veiled(document, everything) == document


@given(document=documents, is_whole=st.booleans())
def test_a_veil_over_a_veil_changes_nothing(document: dict[str, Any], *, is_whole: bool) -> None:
    once = veiled(document, veil(is_whole=is_whole))
    assert veiled(once, veil(is_whole=is_whole)) == once
