"""The text of a token and what is kept of it."""

from __future__ import annotations

import pytest

from fairhold.access.tokens import Token, is_of_people, parse_token

TOKEN = Token("0123abcd", 7, "x" * 43)


def test_a_token_is_read_as_it_was_written() -> None:
    assert parse_token(TOKEN.text()) == TOKEN
    assert is_of_people(TOKEN.text())
    assert TOKEN.text() not in TOKEN.digest()


@pytest.mark.parametrize(
    "text", ["", "fht_", TOKEN.text()[:-1], TOKEN.text() + "x", TOKEN.text().upper(), f" {TOKEN.text()}", "x" * 43]
)
def test_what_is_no_token_is_not_read_as_one(text: str) -> None:
    assert parse_token(text) is None


@pytest.mark.parametrize(
    "other", [TOKEN._replace(number=8), TOKEN._replace(cluster="0123abce"), TOKEN._replace(secret="y" * 43)]
)
def test_every_part_of_a_token_is_in_what_is_kept(other: Token) -> None:
    assert TOKEN.is_of(TOKEN.digest())
    assert not other.is_of(TOKEN.digest())
