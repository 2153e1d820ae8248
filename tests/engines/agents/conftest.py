"""Desks and agents that are closed when a test ends."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from tests.engines.agents.fake import Desk, FakeAgent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def after() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def open_desk(tmp_path: Path, after: ExitStack) -> Callable[..., Desk]:
    def opened(**more: Any) -> Desk:
        desk = Desk(tmp_path, **more)
        after.callback(desk.agents.close)
        return desk

    return opened


@pytest.fixture
def connect(tmp_path: Path, after: ExitStack) -> Callable[..., FakeAgent]:
    def connected(to: Path | tuple[str, int] | None = None, **more: Any) -> FakeAgent:
        agent = FakeAgent(to or tmp_path, **more)
        after.callback(agent.close)
        return agent

    return connected
