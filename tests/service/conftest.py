from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.service.support import Bank

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[Bank]:
    with Bank(tmp_path / "state") as found:
        yield found
