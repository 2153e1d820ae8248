"""The contract of governors, on a real control plane."""

from __future__ import annotations

import secrets
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from fairhold.engines.kubernetes.access import find_access
from fairhold.engines.kubernetes.api import Api
from tests.engines.governor_bench import Bench
from tests.engines.governor_contract import GovernorContract
from tests.kubernetes.estate import GPU
from tests.kubernetes.place import KubernetesPlace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.kubernetes.control_plane import ControlPlane


@pytest.fixture
def bench(cluster: ControlPlane) -> Iterator[Bench]:
    pool, server = f"p{secrets.token_hex(3)}", "kube-apiserver"

    def connect() -> Api:
        return Api(find_access(cluster.kubeconfig()))

    nodes = cluster.kwok(2, {"cpu": "8", GPU: "4", "pods": "110"}, {"pool": pool}, prefix=pool)
    switch = (lambda: cluster.kill(server), lambda: cluster.start(server))
    with closing(KubernetesPlace(connect, pool, nodes, switch)) as place, closing(Bench(place)) as made:
        yield made


class TestOnControlPlane(GovernorContract):
    pass
