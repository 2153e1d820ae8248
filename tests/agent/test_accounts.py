"""As whom commands run: real processes under another uid, as an agent that is root starts them."""

from __future__ import annotations

import json
import os
import pwd
import signal
import stat
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.agent import processes, reading
from fairhold.agent.accounts import AccountError, Accounts, read_limit, read_names
from tests.agent.service import PROGRAM, Service, is_alive, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

SH = "/bin/sh"
USER, OTHER = "nobody", "games"
"""Accounts that every Linux has: tests make none."""
ELSEWHERE = {"output": "jobs/8/o", "job_directory": "jobs/8/dir", "reclaim_file": "jobs/8/reclaim"}
BOUND = ("--run-as", "submitter", "--least-uid", "2")
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root starts processes of other users")


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory that other users can reach; the usual ones of tests are closed to them."""
    made = Path(tempfile.mkdtemp(prefix="fairhold-accounts-"))
    made.chmod(0o711)
    yield made
    rmtree(made)


def opened(place: Path, *words: str, groups: str = "none") -> Service:
    made = Service(place / "s", tcp=True)
    made.launch(*(words or BOUND), groups=groups)
    made.accept()
    return made


@pytest.fixture
def service(place: Path) -> Iterator[Service]:
    made = opened(place)
    yield made
    made.close()
    assert "Traceback" not in made.words


def mine(service: Service, attempt: int, script: str, user: str = USER, **more: Any) -> Any:
    """A script of a user, in a directory that he may enter; `job` is that of the folder."""
    more = {"directory": "/", "user": user, **more}
    return service.start(attempt, SH, "-c", script, **more)


def run(service: Service, attempt: int, script: str, user: str = USER, **more: Any) -> Any:
    service.send(mine(service, attempt, script, user, **more))
    return service.ended(attempt)


def account(name: str) -> pwd.struct_passwd:
    return pwd.getpwnam(name)


@as_root
def test_a_command_has_the_rights_of_its_account_and_no_others(service: Service) -> None:
    script = (
        "id -u; id -g; id -G; grep -E '^(Uid|Gid|Groups|Cap(Eff|Prm|Inh|Amb)):' /proc/self/status; echo $USER $HOME"
    )
    assert run(service, 1, script)["reason"] == "finished"
    found, lines = account(USER), service.output(1).splitlines()
    every = set(os.getgrouplist(USER, found.pw_gid))
    assert lines[:2] == [str(found.pw_uid), str(found.pw_gid)]
    assert {int(word) for word in lines[2].split()} == every
    status = dict(line.split(":\t", 1) for line in lines[3:-1])
    assert status["Uid"].split() == [str(found.pw_uid)] * 4
    assert status["Gid"].split() == [str(found.pw_gid)] * 4
    assert {int(word) for word in status["Groups"].split()} == every
    assert {status[name].strip("0") for name in ("CapEff", "CapPrm", "CapInh", "CapAmb")} == {""}
    assert lines[-1] == f"{USER} {found.pw_dir}"


@as_root
def test_output_and_files_of_a_job_belong_to_its_account_and_nobody_else_reads_them(service: Service) -> None:
    script = "echo hello; echo kept > $FAIRHOLD_JOB_DIRECTORY/file; sleep 0.1"
    assert run(service, 1, script)["reason"] == "finished"
    folder, uid = service.state / "jobs/7", account(USER).pw_uid
    for path in (folder, folder / "1.1.out", folder / "1.dir", folder / "1.dir/file"):
        assert path.stat().st_uid == uid, path
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [stat.S_IMODE((service.state / name).stat().st_mode) for name in ("", "jobs", "spool")] == [
        *(0o711, 0o711, 0o700)
    ]
    record = run(
        service, 2, f"cat {folder}/1.1.out; ls {service.state} {folder}; cat {service.secret}", OTHER, **ELSEWHERE
    )
    assert record["reason"] == "failed"
    said = (service.state / "jobs/8/o").read_text()
    assert said.count("Permission denied") == 4
    assert "hello" not in said
    piece = reading.read(str(service.state / "jobs"), "7/1.1.out", 0, 100)
    assert piece is not None
    assert piece.content == b"hello\n"


@as_root
@pytest.mark.parametrize(
    ("user", "why"),
    [
        ("root", "the account 'root' is root, which runs nothing for anybody"),
        ("daemon", "the account 'daemon' is one of the system's"),
        ("no-such-person", "this host has no account 'no-such-person'"),
        ("no\nsuch\x00person", "this host has no account"),
        ("", "the job does not say whose it is"),
    ],
)
def test_who_has_no_account_that_may_run_anything_is_refused_by_name(service: Service, user: str, why: str) -> None:
    record = run(service, 1, "echo ran", user)
    assert (record["reason"], record["code"]) == ("no_account", -1)
    assert why in record["detail"]
    assert not (service.state / "jobs/7").exists()


def test_the_lowest_uid_is_that_of_people_if_nothing_is_said() -> None:
    with pytest.raises(AccountError, match="its uid 2 is below 1000"):
        Accounts(1000, "", {}).of("bin")
    with pytest.raises(AccountError, match="root"):
        Accounts(0, "", {}).of("root")


@as_root
def test_a_file_says_who_has_which_account(place: Path) -> None:
    names = place / "accounts"
    names.write_text(f"# of the cluster  of this host\nben@example.com {USER}\n\neve root\n")
    service = opened(place, *BOUND, "--accounts", str(names))
    try:
        assert run(service, 1, "id -un", "ben@example.com")["reason"] == "finished"
        assert service.output(1) == f"{USER}\n"
        assert "is root" in run(service, 2, "id -un", "eve")["detail"]
        assert run(service, 3, "id -un", "ann", account=OTHER, **ELSEWHERE)["reason"] == "finished"
        assert (service.state / "jobs/8/o").read_text() == f"{OTHER}\n"
        names.write_text("ben@example.com\n")
        assert "line 1: write a submitter and an account" in run(service, 4, "id", "ben@example.com")["detail"]
    finally:
        service.close()


@pytest.mark.parametrize(
    ("text", "mode", "why"),
    [
        ("a b\na c\n", 0o644, "line 2: a has an account already"),
        ("a b c\n", 0o644, "line 1"),
        ("a b\n", 0o666, "can be written by others"),
        ("\udcff", 0o600, "cannot be read"),
    ],
)
def test_a_file_of_accounts_with_a_fault_is_not_believed(tmp_path: Path, text: str, mode: int, why: str) -> None:
    path = tmp_path / "accounts"
    path.write_bytes(text.encode(errors="surrogateescape"))
    path.chmod(mode)
    with pytest.raises(AccountError, match=why):
        read_names(str(path))


@as_root
def test_what_runs_has_the_limits_that_the_agent_was_given(place: Path) -> None:
    service = opened(place, *BOUND, "--limit", "nofile=64:128", "--limit", "core=0")
    try:
        assert run(service, 1, "ulimit -n; ulimit -Hn; ulimit -c")["reason"] == "finished"
        assert service.output(1).split() == ["64", "128", "0"]
    finally:
        service.close()


@pytest.mark.parametrize("text", ["nofile", "nofile=", "nofile=a", "files=1", "nofile=9:8", "NOFILE=1"])
def test_a_limit_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"limit|write|above"):
        read_limit(text)


@as_root
def test_links_in_its_folder_lead_root_nowhere(service: Service, place: Path) -> None:
    target = place / "target"
    target.write_text("root's\n")
    target.chmod(0o600)
    script = f"""cd $FAIRHOLD_JOB_DIRECTORY/..
        for name in 2.1.out 1.1.reclaim.json 1.1.reclaim.json.tmp; do ln -s {target} $name; done
        ln {target} hard; trap 'exit 75' TERM; echo ready; while :; do sleep 0.05; done"""
    service.send(mine(service, 1, script))
    wait_for(lambda: "ready" in service.output(1))
    service.send({
        "type": "notice", "attempt": 1, "deadline": 1_800_000_000_000_000, "seconds": 30, "reason": "owned", "for": None
    })  # fmt: skip
    assert service.ended(1)["reason"] == "yielded"
    record = run(service, 2, "echo overwritten")
    assert (record["reason"], "Permission denied" in record["detail"]) == ("not_started", True)
    assert target.read_text() == "root's\n"
    with suppress(FileExistsError):  # where the system lets users link files of others
        os.link(target, service.state / "jobs/7/hard")
    assert reading.read(str(service.state / "jobs"), "7/hard", 0, 100) is None


@as_root
def test_a_notice_belongs_to_the_account_that_reads_it(service: Service) -> None:
    script = "trap 'stat -c %U $FAIRHOLD_RECLAIM_FILE; cat $FAIRHOLD_RECLAIM_FILE; exit 75' TERM; echo ready; while :; do sleep 0.05; done"  # noqa: E501 - one line of a shell
    service.send(mine(service, 1, script))
    wait_for(lambda: "ready" in service.output(1))
    service.send({"type": "stop", "attempt": 1, "reason": "requeue", "seconds": 30})
    assert service.ended(1)["reason"] == "yielded"
    owner, told = service.output(1).splitlines()[-2:]
    assert owner == USER
    assert json.loads(told)["reason"] == "requeue"
    assert not (service.state / "jobs/7/1.1.reclaim.json").exists()


@as_root
def test_the_folder_of_a_job_has_one_owner(service: Service) -> None:
    assert run(service, 1, "echo mine")["reason"] == "finished"
    record = run(service, 2, "echo mine too", OTHER)
    assert record["reason"] == "no_account"
    assert (
        record["detail"] == f"the folder of the job belongs to uid {account(USER).pw_uid}, not to the account 'games'"
    )


@as_root
@pytest.mark.parametrize(
    ("words", "more", "why"),
    [
        (["no-such-command"], {}, "cannot start no-such-command: No such file or directory"),
        ([SH, "-c", "true"], {"directory": "/root"}, "cannot work in the directory /root: Permission denied"),
        ([""], {}, "the command is empty"),
    ],
)
def test_what_the_account_cannot_do_is_told_as_its_own_fault(
    service: Service, words: list[str], more: dict[str, Any], why: str
) -> None:
    service.send(service.start(1, *words, **{"directory": "/", "user": USER, **more}))
    record = service.ended(1)
    assert record["reason"] == "not_started"
    assert record["detail"].endswith(why)
    assert service.output(1).endswith(f"{why}\n")


@as_root
@pytest.mark.parametrize("hierarchy", ["none", "auto"])
def test_what_it_starts_is_found_after_the_agent_was_killed(place: Path, hierarchy: str) -> None:
    """A process with a session and parents of its own, adopted by the next agent, dies with its attempt."""
    service = opened(place, groups=hierarchy)
    try:
        script = "setsid sh -c 'sleep 600 & echo $!' & wait; echo ready; sleep 600"
        service.send(mine(service, 1, script))
        wait_for(lambda: "ready" in service.output(1))
        hidden = int(service.output(1).split()[0])
        service.agents[0].kill()
        service.launch(*BOUND, groups=hierarchy)
        assert [each["alive"] for each in service.accept()["attempts"]] == [True]
        assert is_alive(hidden)
        service.send({"type": "stop", "attempt": 1, "reason": "cancel", "seconds": 0.2})
        assert service.ended(1)["reason"] == "cancel"
        assert not is_alive(hidden)
    finally:
        service.close()


@as_root
def test_what_a_killed_supervisor_leaves_of_an_account_is_killed(service: Service) -> None:
    service.send(mine(service, 1, "setsid sleep 600 & echo $!; echo ready; sleep 600"))
    wait_for(lambda: "ready" in service.output(1))
    hidden = int(service.output(1).split()[0])
    command = service.hear("running", 1)["pid"]
    supervisor = next(each.parent for each in processes.survey() if each.pid == command)
    os.kill(supervisor, signal.SIGKILL)
    assert service.ended(1)["reason"] == "supervisor_lost"
    assert not is_alive(hidden)


@as_root
def test_an_account_cannot_end_its_supervisor_or_the_agent(service: Service) -> None:
    record = run(service, 1, "kill -9 $PPID; echo $?; kill -9 $(cut -d' ' -f4 /proc/$PPID/stat); echo $?")
    assert record["reason"] == "finished"
    assert [line for line in service.output(1).splitlines() if line.isdecimal()] == ["1", "1"]
    assert service.agents[0].poll() is None


@as_root
def test_memory_and_time_of_an_account_are_limited_as_ever(service: Service) -> None:
    record = run(service, 1, "sleep 60", time_limit=0.2)
    assert record["reason"] == "time_limit"
    assert run(service, 2, "dd if=/dev/zero of=/dev/null bs=200M", memory=64 << 20)["reason"] == "memory"


@as_root
def test_an_agent_that_cannot_start_work_of_others_says_so(place: Path) -> None:
    words = ["--directory", str(place / "s"), "--connect", "tcp:127.0.0.1:1", "--host", "h", "--secret", "none"]
    command = [sys.executable, "-I", "-S", str(PROGRAM), *words, "--run-as", "submitter"]
    here = [*command[:-2], "--connect", f"unix:{place}/no.sock", *command[-2:]]
    told = subprocess.run(here, capture_output=True, text=True, check=False)
    assert (told.returncode, "a --directory of its own" in told.stderr) == (1, True)
    closed = place / "closed"
    closed.mkdir(mode=0o700)
    told = subprocess.run([*command, "--directory", f"{closed}/s"], capture_output=True, text=True, check=False)
    assert f"run: chmod o+x {closed}" in told.stderr
    told = subprocess.run([*command[:-1], "anybody"], capture_output=True, text=True, check=False)
    assert (told.returncode, "write agent or submitter" in told.stderr) == (2, True)


def test_only_root_runs_work_as_its_submitters(place: Path) -> None:
    program = "import sys; sys.path.insert(0, 'src'); from fairhold.agent import accounts, main; import os\n"
    program += "os.geteuid() or os.setresuid(65534, 65534, 65534)\n"
    program += "try: accounts.check_host(sys.argv[1], is_own=False)\nexcept ValueError as error: print(error)"
    told = subprocess.run(
        [sys.executable, "-c", program, str(place)], capture_output=True, text=True, check=True, timeout=30
    )
    assert told.stdout == "--run-as submitter needs an agent that is root\n"
