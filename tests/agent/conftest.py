from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.agent.service import Service

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A service with an agent that has connected."""
    made = Service(tmp_path / "s")
    try:
        made.launch()
        made.accept()
        yield made
    finally:
        made.close()
    assert made.strays() == []
    assert "it goes on" not in made.words
    assert "Traceback" not in made.words
