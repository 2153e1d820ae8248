"""A stop waits for what is stopped, and not for ever."""

from __future__ import annotations

import asyncio
from collections import Counter
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from fairhold.service.stopping import Stopping

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest


class Silent:
    """A desk whose tasks run on hosts that say nothing, until they have ended."""

    trouble = None

    def __init__(self, looks: int) -> None:
        self.looks = looks

    def write(self, _: Callable[..., object]) -> Future[None]:
        return self._done(None)

    def read(self, _: Callable[..., object]) -> Future[Counter[str]]:
        self.looks -= 1
        return self._done(Counter({"g1": 2, "": 1}) if self.looks > 0 else Counter())

    def _done(self, value: Any) -> Future[Any]:
        answer: Future[Any] = Future()
        answer.set_result(value)
        return answer


async def stopped(looks: int, patience: float) -> str:
    stopping = Stopping(Silent(looks), patience)  # type: ignore[arg-type]
    await stopping.ask("kill")
    return await asyncio.wait_for(stopping.wait(), 10)


def test_what_is_silent_is_left_to_the_next_start(caplog: pytest.LogCaptureFixture) -> None:
    assert asyncio.run(stopped(2, 30.0)) == "kill"
    assert not caplog.records
    assert asyncio.run(stopped(10_000, 0.3)) == "kill"
    told = "stopped 3 tasks, which may still run on this machine, g1: the next start checks"
    assert [record.message for record in caplog.records] == [told]
