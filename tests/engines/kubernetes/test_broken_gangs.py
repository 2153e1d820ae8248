"""Gangs that lose pods one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.engines.kubernetes import names
from tests.engines.kubernetes.pretended import Pretended
from tests.engines.kubernetes.test_resized_pods import PATIENT

if TYPE_CHECKING:
    from pathlib import Path


def test_a_gang_whose_notice_ends_when_too_few_are_left_starts_again_whole(tmp_path: Path) -> None:
    cluster = Pretended(tmp_path, PATIENT)
    for number in range(3):
        cluster.pod(f"p{number}", job="j", gpus=2, annotations={names.GANG_SIZE: "3"})
    cluster.settle()
    cluster.pod("owner", namespace="trading", gpus=4)
    cluster.settle()
    assert all(names.NOTICE in cluster.named(f"p{at}")["metadata"]["annotations"] for at in range(3))
    cluster.finish("p1", 75)  # it has saved what it needs: what it leaves is enough for the owner
    cluster.settle(6)
    assert (cluster.running(), cluster.running("trading")) == ([], ["owner"])
    for number in range(3):
        cluster.pod(f"again{number}", job="j", gpus=2, annotations={names.GANG_SIZE: "3"})
    cluster.settle(6)
    assert cluster.running() == []
    cluster.finish("owner")
    cluster.settle(6)
    assert cluster.running() == ["again0", "again1", "again2"]


def test_a_gang_that_gives_what_it_has_beyond_its_minimum_goes_on(tmp_path: Path) -> None:
    cluster = Pretended(tmp_path, PATIENT)
    for number in range(4):
        cluster.pod(f"p{number}", job="j", gpus=2, annotations={names.GANG_SIZE: "2"})
    cluster.settle()
    cluster.pod("owner", namespace="trading", gpus=4)
    cluster.settle()
    cluster.delete("owner")
    cluster.settle(6)
    assert cluster.running() == ["p0", "p1", "p2", "p3"]


def test_a_gang_of_which_one_has_done_its_work_goes_on(tmp_path: Path) -> None:
    cluster = Pretended(tmp_path, PATIENT)
    for number in range(3):
        cluster.pod(f"p{number}", job="j", gpus=2, annotations={names.GANG_SIZE: "3"})
    cluster.settle()
    cluster.pod("owner", namespace="trading", gpus=4)
    cluster.settle()
    cluster.finish("p1")
    cluster.settle(6)
    assert (cluster.running(), cluster.running("trading")) == (["p0", "p2"], ["owner"])
