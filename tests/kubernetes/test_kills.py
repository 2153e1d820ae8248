"""Whatever is killed, nothing is lost and nothing runs twice: the service, the API server, its store."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, suppress
from random import Random
from typing import TYPE_CHECKING

import pytest

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.api import ApiError
from tests.kubernetes.estate import Estate, state_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.kubernetes.control_plane import ControlPlane

KILLS = int(os.environ.get("FAIRHOLD_KILLS", "5"))
"""Of the service; `make kubernetes-storm` kills it 100 times, and the API server and its store 15 times each."""
OTHERS = ("kube-apiserver", "etcd")


class Watched(Estate):
    """An estate that is looked at all the time."""

    def look(self) -> None:
        """No node has more than it can hold, and no pod runs beside the one whose place it takes.

        Where an answer was lost, the controller of Jobs itself may make two pods of an index, and delete one of them.
        """
        with suppress(ApiError):
            assert all(gpus <= 4 for gpus in self.used().values())
            running: dict[tuple[str, str], list[bool]] = {}
            for pod in self.all_pods():
                notes = pod["metadata"].get("annotations") or {}
                if state_of(pod) in {"running", "ending"} and names.INDEX in notes:
                    job, _, _ = pod["metadata"]["name"].split("-", 2)
                    running.setdefault((job, notes[names.INDEX]), []).append(names.OWNER in notes)
            twice = {key for key, were_let_go in running.items() if len(were_let_go) > 1 and any(were_let_go)}
            assert not twice

    def submit(self, random: Random, number: int) -> int:
        """A Job of some pods in one of the namespaces; how many pods."""
        count = random.randrange(2, 7)
        namespace = random.choice((self.risk, self.trading))
        spec = {"completionMode": "Indexed", "backoffLimit": 0}
        runs_for = round(random.uniform(0.5, 3), 1)
        self.job(namespace, f"job{number}", count, spec=spec, runs_for=runs_for, term_after=random.choice((0, 0.5)))
        return count

    def all_done(self) -> bool:
        """Whether every Job has succeeded; one that has failed is an error."""
        found = []
        for namespace in (self.risk, self.trading):
            for job in self.api.list(f"/apis/batch/v1/namespaces/{namespace}/jobs")[0]:
                assert not job["status"].get("failed"), (job["metadata"]["name"], job["status"])
                found.append(job["status"].get("succeeded", 0) == job["spec"]["completions"])
        return all(found)


def order_of_kills(random: Random, kills: int, *, others: bool) -> list[str]:
    """What is killed, one after the other: the service so often, and the others."""
    killed = ["service"] * kills + [name for name in OTHERS if others for _ in range(-(-kills * 3 // 20))]
    random.shuffle(killed)
    return killed


def kill_service(estate: Estate, random: Random) -> None:
    """At any moment: also, one time in four, while it starts."""
    time.sleep(random.uniform(0, 1))
    estate.house.kill()
    if random.random() < 0.25:
        estate.house.launch()
        time.sleep(random.uniform(0, 3))
        estate.house.kill()
    estate.house.serve()


SEED = int(os.environ.get("FAIRHOLD_SEED", "1"))


@pytest.mark.parametrize("others", [True, False], ids=["all", "service"])
def test_whatever_is_killed_all_work_is_done_once(
    control_plane: type[ControlPlane], tmp_path: Path, *, others: bool
) -> None:
    _storm(control_plane, tmp_path, KILLS, others=others)


@pytest.mark.slow
def test_a_service_that_is_killed_a_hundred_times_loses_nothing(
    control_plane: type[ControlPlane], tmp_path: Path
) -> None:
    _storm(control_plane, tmp_path, 100, others=False)


def _storm(control_plane: type[ControlPlane], tmp_path: Path, kills: int, *, others: bool) -> None:
    """Kill one program after another while Jobs come; in the end all of them have succeeded, and nothing is left."""
    random = Random(SEED)
    with ExitStack() as stack:
        (folder := tmp_path / "cluster").mkdir()
        cluster = stack.enter_context(control_plane(folder))
        estate = Watched(cluster, tmp_path / "house", nodes=3)
        stack.callback(estate.api.close)
        stack.callback(estate.house.close)
        estate.serve()
        killed = order_of_kills(random, kills, others=others)
        for number, name in enumerate(killed):
            for extra in range(3):
                estate.submit(random, number * 3 + extra)
            for _ in range(random.randrange(1, 6)):
                estate.look()
            if name == "service":
                kill_service(estate, random)
            else:
                cluster.restart(name)
            estate.look()

        def done() -> bool:
            estate.look()
            try:
                return estate.all_done()
            except ApiError:
                return False

        estate.until(done, 60.0 + 5 * len(killed))

        def kept() -> list[str]:
            pods = estate.all_pods()
            return [pod["metadata"]["name"] for pod in pods if names.FINALIZER in pod["metadata"].get("finalizers", ())]

        with suppress(AssertionError):
            estate.until(lambda: not kept())
        assert kept() == []
        with suppress(AssertionError):
            estate.until(lambda: not estate.house.client.jobs())
        assert estate.house.client.jobs() == []
