"""The programs of the examples: their work is right, and is counted right."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from fairhold.model.job import Job
from tests.runtime.support import ROOT, python

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

PRICE = "import runpy; runpy.run_path('examples/price.py', run_name='__main__')"
NOTICED = f"""
import builtins, os, signal
said = print
def print(*words, **more):
    said(*words, **more)
    os.kill(os.getpid(), signal.SIGTERM)
builtins.print = print
{PRICE}
"""


def price(code: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(python(code, "--paths", "2000", *arguments), cwd=ROOT, capture_output=True, check=False)


def test_the_price_is_right() -> None:
    done = price(PRICE)
    assert done.returncode == 0
    assert b'"is_right": true' in done.stdout


def test_a_notice_after_the_result_does_not_undo_the_work() -> None:
    done = price(NOTICED)
    assert (done.returncode, done.stdout.count(b"\n")) == (0, 1)


def load_bank() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bank", ROOT / "examples/bank.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["bank"] = module  # its dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules["bank"]
    return module


def attempt(number: int, outcome: str) -> list[dict[str, Any]]:
    start = {"kind": "Start", "attempt": number, "job": "swaps", "index": 0, "number": number}
    return [
        {"kind": "Woken", "instructions": [start]},
        {"kind": "TaskEnded", "attempt": number, "outcome": outcome},
    ]


def test_the_bank_counts_the_results_of_attempts_that_finished(tmp_path: Path) -> None:
    bank = load_bank()
    argv = ("python3", "price.py", "--seed", "{index}", "--strike", "100")
    job = Job("swaps", 1, "compute", argv)
    (tmp_path / "swaps").mkdir()
    result = price(PRICE, "--seed", "0").stdout.decode()
    assert json.loads(result)["seed"] == 0

    def wrong(*outcomes: str) -> list[str]:
        lines: list[dict[str, Any]] = []
        for number, outcome in enumerate(outcomes, start=1):
            (tmp_path / "swaps" / f"0.{number}.out").write_text(result)
            lines += attempt(number, outcome)
        return list(bank.wrong_results([job], tmp_path, bank.finished_attempts(lines)))

    assert wrong("finished") == []
    # Stopped after it had printed its result, and rightly run again.
    assert wrong("stopped", "finished") == []
    assert wrong("stopped") == ["swaps[0] has 0 results of 0 attempts that finished"]
    assert wrong("finished", "finished") == ["swaps[0] has 2 results of 2 attempts that finished"]
