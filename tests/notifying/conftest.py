"""Messages that go soon, and somebody who receives them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fairhold.runtime.live import outbox
from fairhold.units import SECOND
from tests.notifying.receivers import Receiver

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "EVERY", SECOND // 10)
    monkeypatch.setattr(outbox, "_FIRST", SECOND // 10)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as found:
        yield found
