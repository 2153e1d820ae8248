"""Attempts in control groups, where some can be made."""

from __future__ import annotations

import hashlib
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fairhold.agent import groups
from fairhold.agent.forking import fork_into
from fairhold.agent.hierarchies import VERSION_2, own_groups
from fairhold.agent.spool import LIFE, Spool
from tests.agent.service import Service, is_alive, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

SH = "/bin/sh"
HIDDEN = "env -i setsid sh -c '(env -i setsid sh -c \"echo \\$\\$ > PIDS; exec sleep 1000\" &) &' & sleep 1000"


@pytest.fixture(params=[VERSION_2, "memory", "freezer"])
def hierarchy(request: pytest.FixtureRequest) -> str:
    """Version 2, and two of version 1."""
    return str(request.param)


@pytest.fixture
def grouped(tmp_path: Path, hierarchy: str) -> Iterator[tuple[Service, Path]]:
    """A service with an agent that makes groups there and nowhere else, and the directory of these."""
    service = Service(tmp_path / "s")
    key = hashlib.sha256(os.fsencode(service.state.resolve())).hexdigest()[:12]
    base = groups.find_base(key, hierarchy)
    if not base:
        pytest.skip(f"no control groups can be made here: {hierarchy}")
    try:
        service.launch(groups=hierarchy)
        service.accept()
        yield service, Path(base)
    finally:
        service.close()
        wait_for(lambda: gives_back(base))


def gives_back(base: str) -> bool:
    """Whether all groups of a base are gone; the kernel keeps one for a moment after its last process ended."""
    for group in Path(base).glob("[0-9]*"):
        groups.kill(str(group))
        groups.remove(str(group))
    groups.remove_base(base)
    return not Path(base).exists()


def hide(service: Service) -> int:
    """Start something that only its group still finds; its number."""
    pids = service.state / "pids"
    service.send(service.start(1, SH, "-c", HIDDEN.replace("PIDS", str(pids))))
    service.hear("running", 1)
    wait_for(lambda: pids.exists() and pids.read_text().endswith("\n"))
    return int(pids.read_text())


def test_an_attempt_has_a_group_and_gives_it_back(grouped: tuple[Service, Path], hierarchy: str) -> None:
    service, base = grouped
    assert groups.is_born_in(str(base)) == (hierarchy == VERSION_2)
    pid = hide(service)
    assert pid in groups.members(str(base / "1"))
    service.send({"type": "stop", "attempt": 1, "reason": "cancel", "seconds": 0})
    assert service.ended(1)["reason"] == "cancel"
    assert not is_alive(pid)
    wait_for(lambda: not (base / "1").exists())


def test_without_agent_and_supervisor_its_group_still_finds_it(grouped: tuple[Service, Path], hierarchy: str) -> None:
    service, base = grouped
    pid = hide(service)
    service.agents[0].kill()
    service.agents[0].wait()
    os.kill(Spool(str(service.state / "spool")).read(1, "alive", LIFE)["pid"], signal.SIGKILL)
    assert is_alive(pid)
    service.launch(groups=hierarchy)
    (one,) = service.accept()["attempts"]
    assert (one["exit"] or service.ended(1))["reason"] == "supervisor_lost"
    assert not is_alive(pid)
    wait_for(lambda: not (base / "1").exists())


def test_a_supervisor_without_an_agent_gives_its_group_back(grouped: tuple[Service, Path]) -> None:
    service, base = grouped
    service.send(service.start(1, SH, "-c", "while [ ! -e go ]; do sleep 0.02; done"))
    service.hear("running", 1)
    service.agents[0].kill()
    service.agents[0].wait()
    (service.state / "go").touch()
    wait_for(lambda: service.stage(1) == "exit")
    wait_for(lambda: not (base / "1").exists())


@pytest.mark.parametrize("hierarchy", [VERSION_2, "memory", "freezer", "pids", "name=systemd"], indirect=True)
def test_what_forks_without_end_is_stopped(grouped: tuple[Service, Path]) -> None:
    service, _ = grouped
    relay = "import os\nwhile True:\n    if os.fork():\n        os._exit(0)\n    os.setsid()"
    assert service.run(1, "python3", "-c", relay)["reason"] == "finished"


def test_an_idle_agent_that_goes_leaves_no_group(grouped: tuple[Service, Path]) -> None:
    service, base = grouped
    service.run(1, "true")
    wait_for(lambda: not (base / "1").exists())
    service.agents[0].terminate()
    assert service.agents[0].wait(10) == 0
    assert not base.exists()


@pytest.mark.parametrize(
    ("hierarchy", "is_at_once"),
    [(VERSION_2, True), (VERSION_2, False), ("memory", False), ("freezer", False)],
    indirect=["hierarchy"],
)
def test_a_process_comes_into_its_group(grouped: tuple[Service, Path], *, is_at_once: bool) -> None:
    _, base = grouped
    group = groups.make(str(base), 77, 0)
    try:
        pid = fork_into(group) if is_at_once else os.fork()
    except OSError as error:
        groups.remove(group)
        pytest.skip(f"the kernel forks into no group here: {error}")
    if not pid:
        is_there = is_at_once or groups.enter(group)
        os._exit(7 if is_there and groups.members(group) == [os.getpid()] else 8)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    groups.remove(group)


def test_no_group_to_fork_into(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"."):
        fork_into(str(tmp_path))
    with pytest.raises(FileNotFoundError):
        fork_into(str(tmp_path / "no"))


def test_a_hierarchy_that_is_not_there_is_told_and_done_without(tmp_path: Path) -> None:
    service = Service(tmp_path / "s")
    try:
        service.launch(groups="freezr")
        service.accept()
        assert service.run(1, "true")["reason"] == "finished"
    finally:
        service.close()
    assert "no control groups can be made in freezr; attempts have none" in service.words


def test_nowhere_to_make_groups(tmp_path: Path) -> None:
    assert groups.make("", 1, 0) == ""
    assert groups.make(str(tmp_path / "no"), 1, 0) == ""
    assert not groups.enter("")
    assert not groups.enter(str(tmp_path / "no"))
    assert groups.members(str(tmp_path)) == []
    assert not groups.kill(str(tmp_path / "no"))
    assert not groups.is_limited("")
    assert not groups.was_short_of_memory(str(tmp_path))


@pytest.mark.parametrize(
    ("files", "limits", "kills"),
    [
        (["memory.max", "memory.swap.max"], ["1000", "0"], "memory.events"),
        (["memory.limit_in_bytes", "memory.memsw.limit_in_bytes"], ["1000", "1000"], "memory.oom_control"),
    ],
    ids=["version 2", "version 1"],
)
def test_a_limit_of_the_kernel_is_asked_for_and_read(
    tmp_path: Path, files: list[str], limits: list[str], kills: str
) -> None:
    """With files in the place of a group that has the memory controller."""
    group = tmp_path / "5"
    group.mkdir()
    for name in (*files, "cgroup.procs"):
        (group / name).touch()
    assert groups.make(str(tmp_path), 5, 1000) == str(group)
    assert groups.enter(str(group))
    assert [(group / name).read_text() for name in files] == limits
    assert groups.is_limited(str(group))
    (group / kills).write_text("low 0\noom 1\noom_kill 0\n")
    assert not groups.was_short_of_memory(str(group))
    (group / kills).write_text("low 0\noom 1\noom_kill 2\n")
    assert groups.was_short_of_memory(str(group))


@pytest.mark.parametrize("hierarchy", ["memory"], indirect=True)
def test_what_uses_more_than_its_limit_is_killed_by_the_kernel(grouped: tuple[Service, Path]) -> None:
    service, _ = grouped
    record = service.run(1, sys.executable, "-c", "bytearray(300_000_000)", memory=100_000_000)
    assert record["reason"] == "memory"
    assert record["detail"] == "it used more than its 100000000 bytes"  # the supervisor's own word is another


@pytest.mark.parametrize(
    ("cpu", "files", "limits"),
    [
        (2500, ["cpu.max"], ["250000 100000"]),
        (1, ["cpu.max"], ["1000 100000"]),
        (2500, ["cpu.cfs_period_us", "cpu.cfs_quota_us"], ["100000", "250000"]),
        (0, ["cpu.max", "cpu.cfs_quota_us"], ["", ""]),
    ],
    ids=["version 2", "less than the kernel counts", "version 1", "no limit"],
)
def test_cores_are_asked_for_as_a_quota(tmp_path: Path, cpu: int, files: list[str], limits: list[str]) -> None:
    """With files in the place of a group that has the controller of processors."""
    group = tmp_path / "5"
    group.mkdir()
    for name in files:
        (group / name).touch()
    assert groups.make(str(tmp_path), 5, 0, cpu) == str(group)
    assert [(group / name).read_text() for name in files] == limits


def test_what_a_base_limits_is_read_from_it(tmp_path: Path) -> None:
    assert groups.limits_kept("") == []
    assert groups.limits_kept(str(tmp_path)) == []
    handed_on = tmp_path / "cgroup.subtree_control"
    handed_on.write_text("cpuset cpu pids\n")
    assert groups.limits_kept(str(tmp_path)) == ["cpu"]
    handed_on.write_text("cpu memory\n")
    assert groups.limits_kept(str(tmp_path)) == ["memory", "cpu"]
    handed_on.unlink()
    (tmp_path / "memory.limit_in_bytes").touch()
    assert groups.limits_kept(str(tmp_path)) == ["memory"]


@pytest.mark.parametrize("hierarchy", ["cpu"], indirect=True)
def test_who_has_a_quarter_of_a_core_takes_four_times_as_long(grouped: tuple[Service, Path]) -> None:
    service, base = grouped
    if groups.limits_kept(str(base)) != ["cpu"]:
        pytest.skip("the kernel limits no processors here")
    script = f"cat {base}/1/cpu.cfs_quota_us; while [ ! -e go ]; do sleep 0.02; done"
    service.send(service.start(1, SH, "-c", script, cpu=250))
    service.hear("running", 1)
    wait_for(lambda: "25000" in service.output(1))
    (service.state / "go").touch()
    assert service.ended(1)["reason"] == "finished"
    burn = "import time; t = time.perf_counter(); e = time.process_time() + 0.2\nwhile time.process_time() < e: pass\n"
    service.run(2, sys.executable, "-c", f"{burn}print(time.perf_counter() - t)", cpu=250)
    assert float(service.output(2)) > 0.4  # 0.8 but for a period at each end


@pytest.mark.parametrize(("hierarchy", "kept"), [("memory", ["memory"]), ("cpu", ["cpu"])], indirect=["hierarchy"])
def test_an_agent_tells_what_the_kernel_limits(grouped: tuple[Service, Path], kept: list[str]) -> None:
    service, base = grouped
    service.cut()
    assert service.accept()["enforced"] == kept == groups.limits_kept(str(base))


def test_an_agent_without_groups_limits_nothing(service: Service) -> None:
    service.cut()
    assert service.accept()["enforced"] == []


def test_hierarchies_from_best_to_last(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    texts = {
        "/proc/self/cgroup": "9:name=systemd:/u:1\n4:cpu,cpuacct:/\n2:memory:/pod/a\n1:cpuset:/\n0::/x\n",
        "/proc/self/mountinfo": "".join(
            f"31 2 0:3 {root} /cg/{place} rw shared:1 - {kind} source rw,{options}\n"
            for root, place, kind, options in (
                ("/", "cpu,cpuacct", "cgroup", "cpu,cpuacct"),
                ("/", "systemd", "cgroup", "name=systemd"),
                ("/pod", "memory", "cgroup", "memory"),
                ("/", "cpuset", "cgroup", "cpuset"),
                ("/", "unified", "cgroup2", "nsdelegate"),
                ("/", "data", "ext4", "memory"),
            )
        ),
    }
    for number, text in enumerate(texts.values()):
        (tmp_path / str(number)).write_text(text)
    at = {name: tmp_path / str(number) for number, name in enumerate(texts)}
    monkeypatch.setattr("builtins.open", lambda name, **_: at[name].open())
    assert list(own_groups()) == ["/cg/unified/x", "/cg/memory/a", "/cg/cpu,cpuacct", "/cg/systemd/u:1"]
    assert list(own_groups("name=systemd")) == ["/cg/systemd/u:1"]
    assert list(own_groups("freezer")) == []
