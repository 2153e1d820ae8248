"""As what account on hosts somebody's work runs, as his provider says it."""

from __future__ import annotations

from typing import Any

import pytest

from fairhold.access.document import Access
from fairhold.access.provider import Person, Provider, person_of
from fairhold.planio.access import parse_access

NOW = 1_800_000_000


@pytest.mark.parametrize(
    ("said", "account"), [("bwhite", "bwhite"), (None, ""), ("", ""), (["bwhite"], ""), ("b white", ""), ("x" * 65, "")]
)
def test_an_account_is_what_the_claim_says_where_it_can_be_one(said: Any, account: str) -> None:
    provider = Provider("https://sso.example.com", "fairhold", account_claim="uid")
    claims = {"iss": provider.issuer, "aud": "fairhold", "sub": "7", "exp": NOW + 600, "uid": said}
    found = person_of(provider, Access(), {**claims, "preferred_username": "ben"}, NOW * 1_000_000)
    assert isinstance(found, Person)
    assert (found.name, found.account) == ("ben", account)
    plain = person_of(provider._replace(account_claim=""), Access(), {**claims, "preferred_username": "ben"}, NOW)
    assert isinstance(plain, Person)
    assert plain.account == ""


def test_the_document_names_the_claim() -> None:
    text = "fairhold_access: 1\noidc: {issuer: 'https://sso.example.com', client_id: x, account_claim: uid}\n"
    access, warnings = parse_access(text, "access.yaml")
    assert access.provider is not None
    assert (access.provider.account_claim, warnings) == ("uid", ())
