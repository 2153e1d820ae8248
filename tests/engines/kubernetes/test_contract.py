"""The contract of governors, on a cluster in memory."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, cast

import pytest

from tests.engines.governor_bench import Bench
from tests.engines.governor_contract import GovernorContract
from tests.engines.kubernetes.fake_cluster import FakeCluster
from tests.kubernetes.estate import GPU
from tests.kubernetes.nodes import fake_node
from tests.kubernetes.place import KubernetesPlace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.engines.kubernetes.api import Api

NODES = ["n1", "n2"]


def place_in_memory(fake: FakeCluster) -> KubernetesPlace:
    """A governed namespace and two nodes of four GPUs."""
    for name in NODES:
        fake.request("POST", "/api/v1/nodes", fake_node(name, {"cpu": "8", GPU: "4", "pods": "9"}, {"pool": "p"}))
    return KubernetesPlace(lambda: cast("Api", fake), "p", NODES, (fake.cut, lambda: fake.cut(is_cut=False)))


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench(place_in_memory(FakeCluster()))
    with closing(made):
        yield made


class TestInMemory(GovernorContract):
    pass
