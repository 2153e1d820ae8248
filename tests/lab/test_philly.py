"""The plans of the comparison on Philly's trace: who asks for more owns more, the same under every policy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.planio.plan import read_plan
from fairhold.traces.telling import by_consumer
from tests.docs.console import ROOT
from tests.examples import FEW
from tests.traces.support import workload_of

if TYPE_CHECKING:
    from fairhold.model.plan import ConsumerSettings

EXAMPLE = ROOT / "examples/philly"
DATA = Path(os.environ.get("FAIRHOLD_DATA", ROOT / "../shared/data"))
NAMES = ("static", "hybrid", "share_ratio", "multidimensional", "fair_share")


def written(work: dict[str, int], gpus: int, folder: Path) -> None:
    shown = json.dumps({"consumers": {name: {"unit_seconds": seconds} for name, seconds in work.items()}})
    command = [sys.executable, str(EXAMPLE / "plans.py"), "--gpus", str(gpus), "--folder", str(folder)]
    subprocess.run(command, input=shown, text=True, check=True, capture_output=True)


def given_by(policy: str, settings: ConsumerSettings, base: int) -> int:
    """GPUs that a consumer is entitled to."""
    if policy == "multidimensional":
        return dict(settings.own[0].total)[0] // base
    if policy == "fair_share":
        return dict(settings.queue.deserved)[0] // base
    if policy == "share_ratio":
        assert settings.share_ratio is not None
        return settings.share_ratio
    return settings.owned


def entitled(name: str, folder: Path) -> dict[str, int]:
    plan = read_plan(folder / f"{name}.yaml")[0]
    (entry,) = plan.policies
    base = plan.resources[0].base if plan.resources else 1
    return {plan.tree.paths[row]: given_by(entry.policy.name, of, base) for row, of in entry.consumers.items()}


def test_every_policy_gives_the_same_number_to_the_same_consumer() -> None:
    expected = entitled("hybrid", EXAMPLE)
    assert sum(expected.values()) == 480
    assert min(expected.values()) == 1
    assert [entitled(name, EXAMPLE) for name in NAMES] == [expected] * len(NAMES)


@given(work=st.lists(st.integers(0, 10**9), min_size=1, max_size=14).filter(any), hosts=st.integers(2, 20))
@FEW
def test_shares_are_whole_numbers_next_to_the_exact_ones(
    tmp_path_factory: pytest.TempPathFactory, work: list[int], hosts: int
) -> None:
    folder, gpus = tmp_path_factory.mktemp("plans"), 8 * hosts
    of = {f"/c{at}": seconds for at, seconds in enumerate(work)}
    written(of, gpus, folder)
    found = entitled("hybrid", folder)
    assert sum(found.values()) == gpus
    assert min(found.values()) >= 1
    more = {name: seconds for name, seconds in of.items() if found[name] > 1}
    left, total = gpus - (len(found) - len(more)), sum(more.values())
    assert all(abs(found[name] - Fraction(left * seconds, total)) < 1 for name, seconds in more.items())


@pytest.mark.skipif(not DATA.is_dir(), reason=f"there are no traces in {DATA}")
def test_the_plans_are_those_of_the_trace(tmp_path: Path) -> None:
    section = "{kind: philly, file: philly-vc/philly.csv.gz, from: 2017-10-03T00:00:00Z, until: 2017-12-15T00:00:00Z}"
    workload, _ = workload_of(section, DATA)
    assert len(workload) == 73_565
    written({path: of.work // 1_000_000 for path, of in by_consumer(workload).items()}, 480, tmp_path)
    for name in NAMES:
        assert (tmp_path / f"{name}.yaml").read_text() == (EXAMPLE / f"{name}.yaml").read_text()
