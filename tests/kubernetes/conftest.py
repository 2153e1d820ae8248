"""A cluster for all tests of a process, and a namespace for each."""

from __future__ import annotations

import os
import secrets
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from tests.kubernetes.control_plane import ControlPlane
from tests.kubernetes.estate import Estate
from tests.kubernetes.programs import CLUSTER
from tests.kubernetes.real_nodes import RealNode
from tests.kubernetes.real_nodes import unavailable as no_real_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


OF_CLUSTERS = {"control_plane", "cluster", "namespace", "estate", "real_nodes"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that need a cluster are `make kubernetes`; the others are among all tests."""
    for item in items:
        if OF_CLUSTERS & set(getattr(item, "fixturenames", ())):
            item.add_marker("cluster")


@pytest.fixture(scope="session")
def control_plane() -> type[ControlPlane]:
    """The class, where a cluster can be started; `FAIRHOLD_KUBERNETES=required` makes a failure of a skip."""
    if reason := CLUSTER.unavailable():
        (pytest.fail if os.environ.get("FAIRHOLD_KUBERNETES") == "required" else pytest.skip)(reason)
    return ControlPlane


@pytest.fixture(scope="session")
def cluster(control_plane: type[ControlPlane], tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A cluster whose programs no test kills; each process of the tests that asks for one has its own."""
    with control_plane(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture(scope="session")
def real_nodes(
    control_plane: type[ControlPlane], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[ControlPlane, list[RealNode]]]:
    """A cluster that finds silent nodes soon, and nodes in it that run containers."""
    if reason := no_real_nodes():
        pytest.skip(reason)
    with ExitStack() as stack:
        cluster = stack.enter_context(control_plane(tmp_path_factory.mktemp("cluster"), quick_faults=True))
        nodes = [RealNode(cluster, tmp_path_factory.mktemp("nodes") / name, name, "real") for name in ("r1", "r2")]
        for node in nodes:
            stack.callback(node.close)
            node.start()
        yield cluster, nodes


@pytest.fixture
def namespace(cluster: ControlPlane) -> Iterator[str]:
    """A namespace of the test's own."""
    name = f"test-{secrets.token_hex(4)}"
    cluster.kubectl("create", "namespace", name)
    yield name
    cluster.kubectl("delete", "namespace", name, "--wait=false")


@pytest.fixture
def estate(cluster: ControlPlane, tmp_path: Path) -> Iterator[Estate]:
    """A service that governs two namespaces and two nodes of the cluster."""
    with ExitStack() as stack:
        made = Estate(cluster, tmp_path)
        stack.callback(made.close)
        yield made.serve()
