"""The package of the policy `lottery`, as it lies among the examples."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from fairhold.policies.registry import POLICIES, register
from tests.lottery.package import PACKAGE
from tests.places import tmp_path as tmp_path  # noqa: PLC0414 - a fixture of this folder

if TYPE_CHECKING:
    from collections.abc import Iterator

sys.path.insert(0, str(PACKAGE))


@pytest.fixture(autouse=True, scope="module")
def registered() -> Iterator[None]:
    """For tests in this process; no other test knows the policy."""
    from fairhold_lottery import LOTTERY  # noqa: PLC0415 - found by the path above

    register(LOTTERY)
    yield
    del POLICIES["lottery"]
