"""The same input gives the same bytes: whatever the hash seed, plain or compiled (SPEC §2)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.properties.strategies import Case, cases

ROOT = Path(__file__).parents[2]
RANDOM_CASES = 60


def collect() -> list[dict[str, object]]:
    """The worked cases, and random ones."""
    found: list[dict[str, object]] = []

    @settings(
        max_examples=RANDOM_CASES,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(cases())
    def draw(case: Case) -> None:
        found.append({"plan": case.plan_document, "state": case.state_document})

    draw()
    for name in ("hybrid", "cycles"):
        worked = json.loads((ROOT / "tests" / "cases" / f"{name}.json").read_text(encoding="utf-8"))["cases"]
        found += [case for case in worked if case.get("policy", "hybrid") == "hybrid"]
    return found


def printed(path: Path, **environment: str) -> bytes:
    command = [sys.executable, "-m", "tests.properties.print_cycles", str(path)]
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"PYTHONPATH": paths} | environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("determinism") / "cases.json"
    path.write_text(json.dumps(collect()), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def plain(inputs: Path) -> bytes:
    return printed(inputs, PYTHONHASHSEED="0", FAIRHOLD_JIT="off")


def test_the_hash_seed_decides_nothing(inputs: Path, plain: bytes) -> None:
    assert plain.count(b"\n") >= 4 * RANDOM_CASES
    assert printed(inputs, PYTHONHASHSEED="4711", FAIRHOLD_JIT="off") == plain


@pytest.mark.skipif(find_spec("numba") is None, reason="needs the extra `fast`")
def test_compiled_kernels_give_the_same_bytes(inputs: Path, plain: bytes) -> None:
    assert printed(inputs, PYTHONHASHSEED="1", FAIRHOLD_JIT="on") == plain
