"""The client library with keys that cannot be sent and names that would be another address."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import fairhold
from fairhold.client.errors import Refused
from fairhold.errors import ArgumentError
from tests.client.serving import fake as fake  # noqa: PLC0414 - a fixture

if TYPE_CHECKING:
    from tests.client.fake import Fake


@pytest.mark.parametrize("key", [" a", "a\n", "ключ", "x" * 201])
def test_a_key_that_cannot_be_sent_breaks_no_connection(fake: Fake, key: str) -> None:
    with fairhold.connect() as service:
        with pytest.raises(ArgumentError, match="1 to 200 printable ASCII"):
            service.submit("/Research", ["true"], key=key)
        with pytest.raises(ArgumentError, match="1 to 200 printable ASCII"):
            service.check_job("/Research", ["true"], key=key)
    assert not fake.asked


def test_a_name_that_would_be_another_address_is_one_of_no_job(fake: Fake) -> None:
    with fairhold.connect() as service:
        for name in ("1/tasks", "..", ""):
            with pytest.raises(Refused) as caught:
                service.job(name)
            assert (caught.value.code, caught.value.status) == ("unknown-job", 404)
    assert not fake.asked
