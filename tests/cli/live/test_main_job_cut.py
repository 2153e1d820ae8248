"""The main job on a machine that is too slow: it is cut short, says so, and checks what there is."""

from __future__ import annotations

import importlib.util
import json
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.live.served import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("main_job", ROOT / "examples/service.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "main_job", module)
    spec.loader.exec_module(module)
    return module


class Time:
    """Passes only where somebody sleeps."""

    def __init__(self) -> None:
        self.instant = 0.0

    def monotonic(self) -> float:
        return self.instant

    def sleep(self, seconds: float) -> None:
        self.instant += seconds


class Slow:
    """A client of a service whose machine has done one task of each job, and does no more."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.cancelled: list[str] = []

    def submit(self, path: str, argv: list[str], *, count: int, **_: Any) -> Any:
        tasks = {"waiting": count - 3, "delayed": 0, "running": 2, "done": 1}
        job = SimpleNamespace(name=str(len(self.sent)), tasks=tasks, consumer=path, argv=argv, submitted=None)
        self.sent.append(job)
        return job

    def consumers(self) -> list[Any]:
        return []

    def job(self, name: str) -> Any:
        return self.sent[int(name)]

    def jobs(self, limit: int) -> list[Any]:
        return [job for job in self.sent if job.name not in self.cancelled][:limit]

    def cancel(self, job: Any) -> None:
        self.cancelled.append(job.name)

    def tasks(self, _name: str) -> Iterator[Any]:
        yield SimpleNamespace(attempts=[])

    def results(self, name: str) -> list[Any]:
        argv = self.sent[int(name)].argv
        seed, strike = argv[argv.index("--seed") + 1].replace("{index}", "0"), float(argv[argv.index("--strike") + 1])
        text = json.dumps({"seed": int(seed), "strike": strike, "price": 0, "error": 1000, "is_right": True})
        cut = [SimpleNamespace(index=index, state="cancelled", text="") for index in range(1, self.count(name))]
        return [SimpleNamespace(index=0, state="done", text=text), *cut]

    def count(self, name: str) -> int:
        return sum(self.sent[int(name)].tasks.values())


def test_what_is_not_done_in_time_is_cancelled_and_the_table_says_so(
    example: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(example, "time", Time())
    monkeypatch.setattr(example, "BEGAN", -example.LAST_WAVE + 0.5)
    client, watch, stage = Slow(), example.Watch(), SimpleNamespace(say=lambda _: None, show=lambda *_: None)
    plan = example.read_plan(example.PLAN)[0]
    sent = example.work(client, stage, watch, plan)
    assert len(sent) == 2, "nothing is submitted after the last wave that there is time for"
    assert client.cancelled == ["0", "1"]
    assert watch.cut == "108 tasks were cancelled, 5 of 7 waves not submitted"
    assert list(example.judge(client, sent, watch, plan.tree.paths)) == []
    shown = capsys.readouterr().out
    assert "\ncut short to end within a minute, for this machine is slow: 108 tasks were cancelled" in shown
    assert "2 of 110 results are right" in shown


def test_a_wrong_result_is_found_all_the_same(example: ModuleType) -> None:
    client, watch = Slow(), example.Watch(cut="everything else")
    plan = example.read_plan(example.PLAN)[0]
    wave = example.read_jobs(example.WAVES, plan)[0]
    argv = ["python3", "price.py", "--seed", "9", "--strike", "100"]
    job = client.submit("/Research/Backtests", argv, name="", count=wave.count, directory="/")
    found = list(example.judge(client, [(wave, job)], watch, plan.tree.paths))
    assert any("answers another question" in each for each in found)
    assert "nothing came to its end" in found
