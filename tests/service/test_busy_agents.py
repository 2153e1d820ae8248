"""Questions about files of a machine whose agent has as many to answer already: they wait for their turn."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.agent.reading import Piece
from fairhold.engines.agents.questions import AgentBusyError
from fairhold.errors import InputError
from fairhold.service import output

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.engines.agents.questions import Question


class BusyHub:
    """Its agent takes a question only after so many others; each stays with it for a moment."""

    def __init__(self, most: int, *, answers: bool = True) -> None:
        self.most, self.answers, self.open, self.largest = most, answers, 0, 0

    def ask(self, machine: str, question: Question) -> Future[Any]:
        assert machine == "far"
        if self.open >= self.most:
            raise AgentBusyError(f"the agent has {self.most} questions to answer already")
        self.open += 1
        self.largest = max(self.largest, self.open)
        asked = Future[Any]()
        if self.answers:
            asyncio.get_running_loop().call_later(0.01, self._answer, asked, question.offset)
        return asked

    def _answer(self, asked: Future[Any], offset: int) -> None:
        self.open -= 1
        asked.set_result(Piece(b"x", offset + 1, is_end=True))


def read(place: Path, hub: BusyHub, times: int) -> list[Any]:
    """The file asked for so often at once."""
    service: Any = SimpleNamespace(jobs_directory=place, desk=SimpleNamespace(agents=hub))
    tried = output.Tried("7", 0, 1, is_over=False, host="far", machine="far")

    async def all_of() -> list[Any]:
        return await asyncio.gather(*(output.read(service, tried, "7/0.1.out", at, 10) for at in range(times)))

    return asyncio.run(all_of())


def test_more_readers_than_an_agent_takes_all_have_their_answer(tmp_path: Path) -> None:
    hub = BusyHub(4)
    assert [each.next for each in read(tmp_path, hub, 30)] == [*range(1, 31)]
    assert hub.largest == 4


def test_who_waits_too_long_for_a_busy_agent_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "PATIENCE", 0.2)
    with pytest.raises(InputError) as refused:
        read(tmp_path, BusyHub(0), 1)
    assert refused.value.faults[0].code == "too-many"
    with pytest.raises(InputError) as refused:
        read(tmp_path, BusyHub(1, answers=False), 1)
    assert refused.value.faults[0].code == "host-away"
