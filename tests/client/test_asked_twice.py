"""What is not asked twice, as its answer tells something this once."""

from __future__ import annotations

from typing import Any

import pytest

from fairhold.client import people
from fairhold.client.exchange import Request


@pytest.mark.parametrize(
    ("webhook", "more", "is_safe"),
    [
        ("https://hooks.example.com/x", {}, False),
        (None, {"new_secret": True}, False),
        ("", {}, True),
        (None, {}, True),
    ],
)
def test_a_change_that_may_make_a_secret_is_not_asked_twice(
    webhook: str | None, more: dict[str, Any], *, is_safe: bool
) -> None:
    asked = next(people.change_notifications(None, webhook, ["end"], **more))
    assert isinstance(asked, Request)
    assert asked.is_safe is is_safe
