"""Every start of a service that cannot be: one fault with its code and how to mend it, and the exit status."""

from __future__ import annotations

import os
import resource
import shutil
import socket
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.engines.addresses import Purpose, cannot_listen
from fairhold.service.listening import begin_to_listen, listen_tcp
from fairhold.store import open_store
from tests.cli.live.served import LONGEST, ME, PLAN
from tests.places import disk

if TYPE_CHECKING:
    from collections.abc import Callable

WITHOUT_UVICORN = """
import sys
sys.modules["uvicorn"] = None
from fairhold.cli.main import main
main()
"""
READABLE = "name an existing file that you may read"
OTHER = "name another state directory with --state, one that you may write to"
LOOK = "check that you may read and write it and that its disk works; or name another directory"


class Start:
    """A start that is refused. words: before the command, as `setpriv`."""

    def __init__(self, place: Path, *words: str) -> None:
        self.place, self.words = place, words
        self.state = place / "state"
        (place / "plan.yaml").write_text(PLAN)

    def __call__(self, *options: str, plan: str = "plan.yaml", **more: Any) -> tuple[int, list[str]]:
        """The exit status, and the lines of what is wrong."""
        command = [*self.words, *ME, "serve", *([plan] if plan else ()), "--port", "0", *options]
        if "--state" not in options:
            command += ["--state", str(self.state)]
        own = {"FAIRHOLD_STATE": str(self.place / "base")}
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            cwd=self.place,
            env=os.environ | own,
            timeout=LONGEST,
            stdin=subprocess.DEVNULL,
            **more,
        )
        assert not done.stdout
        return done.returncode, [line for line in done.stderr.splitlines() if not line.startswith("{")]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    return Start(tmp_path)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--agents", "x..y:77"), "cannot listen for agents at x..y:77: no host can have this name [cannot-listen]"),
        (("--listen", "203.0.113.5"), "`203.0.113.5` is not a loopback address, and there is no TLS cert"),
        (("--tls-cert", "no", "--tls-key", "no"), "no: the file cannot be read: No such file or directory [tls-files]"),
        (("--tls-cert", "plan.yaml", "--tls-key", "plan.yaml"), "plan.yaml: the certificate and key cannot be used: "),
        (("--host", "g1"), "the plan has no hosts, and --host names `g1` [unknown-host]"),
        (("--state", "plan.yaml"), "{place}/plan.yaml: the state directory is a file [state-directory]"),
        (("--state", "plan.yaml/x"), "{place}/plan.yaml/x: the state directory cannot be made: Not a directory [st"),
        (("--state", "/proc/x"), "/proc/x: the state directory cannot be made: No such file or directory [state-"),
        (("--state", "x" * 108), "{place}/" + "x" * 108 + "/agents.sock: the path of the agents' socket is longer"),
    ],
)
def test_an_option_that_cannot_be_used_is_named(start: Start, options: tuple[str, ...], said: str) -> None:
    status, lines = start(*options)
    assert status == 1
    assert lines[0].startswith(said.format(place=start.place))
    assert len(lines) == 2, "and how to mend it"
    assert lines[1].startswith("    ")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--tls-cert", "plan.yaml"), "--tls-cert and --tls-key go together: name both files [usage]"),
        (("--tls-key", "plan.yaml"), "--tls-cert and --tls-key go together: name both files [usage]"),
        (("--agents", "x"), "--agents x: write HOST:PORT, as 10.0.0.1:7879 [usage]"),
        (("--log", "loud"), "--log: write debug, info, warning or error [usage]"),
        (("--lease", "2d"), "--lease: write 1s to 1d [usage]"),
    ],
)
def test_options_that_are_none_are_a_wrong_call(start: Start, options: tuple[str, ...], said: str) -> None:
    assert start(*options) == (2, [said])


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ("no.yaml", ["no.yaml: the file cannot be read: No such file or directory [cannot-read]", f"    {READABLE}"]),
        (".", [".: the file cannot be read: Is a directory [cannot-read]", f"    {READABLE}"]),
        ("empty", ["empty: the file is empty [empty]", "    write its keys and values"]),
    ],
)
def test_a_plan_that_cannot_be_read_is_named(start: Start, plan: str, said: list[str]) -> None:
    (start.place / "empty").touch()
    assert start(plan=plan) == (1, said)


def test_without_a_plan_there_has_to_be_one_in_the_state(start: Start) -> None:
    has_none = f"{start.state} has no plan yet; name one: `fairhold serve PLAN` [usage]"
    assert start(plan="") == (2, [has_none])
    status, (line,) = start(plan="-")
    assert (status, line.startswith("the plan of a service is a file, ")) == (2, True)


def test_a_port_that_is_taken_is_told_with_the_way_to_another(start: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        status, lines = start("--port", str(port))
    assert status == 1
    assert lines == [
        f"cannot listen at 127.0.0.1:{port}: Address already in use [cannot-listen]",
        "    stop what listens there, or choose another port with --port; port 0 takes any free port",
    ]


def test_a_port_that_another_takes_between_binding_and_listening_is_told_too() -> None:
    with closing(listen_tcp("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
        with closing(listen_tcp("127.0.0.1", port)) as other:  # neither listens yet
            begin_to_listen(other, "127.0.0.1", port)
            with pytest.raises(Exception, match=f"at 127.0.0.1:{port}: Address already in use") as caught:
                begin_to_listen(door, "127.0.0.1", port)
    assert caught.value.faults[0].code == "cannot-listen"  # type: ignore[attr-defined]


def test_a_name_that_is_not_known_is_told_with_the_option() -> None:
    error = cannot_listen("no.invalid", 1, socket.gaierror(-2, "Name or service not known"), Purpose("x", "-a", "-p"))
    assert str(error) == (
        "x at no.invalid:1: Name or service not known [cannot-listen]\n"
        "    name an address of this machine with -a, such as 127.0.0.1"
    )


@pytest.fixture
def plain(tmp_path: Path) -> Start:
    """As somebody who may not write where others may not."""
    if os.geteuid() == 0:
        if not shutil.which("setpriv"):
            pytest.skip("this system has no setpriv")
        less = "-net_bind_service,-dac_override,-dac_read_search"
        return Start(tmp_path, "setpriv", f"--bounding-set={less}", f"--inh-caps={less}")
    return Start(tmp_path)


def test_what_a_user_may_not_do_is_told(plain: Start) -> None:
    if int(Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").read_text()) > 80:
        assert plain("--port", "80", "--state", "other") == (
            1,
            [
                "cannot listen at 127.0.0.1:80: Permission denied [cannot-listen]",
                "    choose a port from 1024 on with --port: those below need root",
            ],
        )
    plain.state.mkdir(mode=0o500)
    cannot = f"{plain.state}: the state directory cannot be written to [state-directory]"
    assert plain() == (1, [cannot, f"    {OTHER}"])
    (plain.place / "plan.yaml").chmod(0)
    assert plain("--state", "another") == (
        1,
        ["plan.yaml: the file cannot be read: Permission denied [cannot-read]", f"    {READABLE}"],
    )


def file(path: Path) -> None:
    path.touch(0o600)


def folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize(
    ("name", "make", "said", "mend"),
    [
        ("jobs", file, "jobs: the state directory has a file where it needs a directory [state-directory]", OTHER),
        ("spool", file, "spool: the state directory has a file where it needs a directory [state-directory]", OTHER),
        ("token", folder, "token: the service's token is not a file [service-token]", "remove it; a new one is made"),
        ("secret", file, "secret: the agents' secret holds no secret [agent-secret]", "remove it"),
        (
            "agents.sock",
            folder,
            "agents.sock: the agents' socket cannot be made: a file of another kind",
            "remove it, or choose",
        ),
        (
            "api.sock",
            folder,
            "api.sock: the clients' socket cannot be made: Address already in use",
            "remove",
        ),
        ("store.lock", folder, ": the store cannot be used: Is a directory [store-failed]", LOOK),
        ("store.sqlite", folder, "store.sqlite: the store cannot be used: unable to open", LOOK),
        ("store.sqlite", file, "store.sqlite: the store is empty [store-damaged]", "restore a backup: fairhold st"),
    ],
)
def test_what_stands_in_the_way_in_the_state_directory_is_named(
    start: Start, name: str, make: Callable[[Path], None], said: str, mend: str
) -> None:
    start.state.mkdir(0o700)
    make(start.state / name)
    status, lines = start()
    assert status == 1
    assert lines[0].startswith(f"{start.state}{'' if said[0] == ':' else '/'}{said}")
    assert mend in lines[1]
    assert len(lines) == 2


def test_a_store_that_another_holds_or_that_is_damaged_is_told(start: Start) -> None:
    with closing(open_store(start.state, cluster="bank", node="n", now=1)):
        status, lines = start()
        held = f"{start.state}: the store is in use by the process {os.getpid()} [store-in-use]"
        assert (status, lines[0]) == (1, held)
        assert len(lines) == 2
    (start.state / "store.sqlite").write_bytes(b"nonsense" * 1000)
    status, lines = start()
    assert status == 1
    assert "[store-damaged]" in lines[0]
    assert "fairhold store restore" in lines[1]


def test_a_disk_without_room_is_the_machines_side(tmp_path: Path) -> None:
    start = Start(tmp_path)
    with disk(tmp_path / "small", "64k") as small:
        start.state = small / "state"
        full = "the disk is full, so the store cannot be written; free some space [store-full]"
        assert start() == (3, [f"{start.state}/store.sqlite: {full}"])
        with suppress(OSError), (small / "fill").open("wb", buffering=0) as ballast:
            while ballast.write(bytes(1024)):
                pass
        assert start() == (3, [f"{start.state}/store.sqlite: {full}"])


def test_without_its_extra_it_says_what_to_install(start: Start) -> None:
    command = [sys.executable, "-c", WITHOUT_UVICORN, "serve", "plan.yaml", "--state", str(start.state)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=start.place, timeout=LONGEST)
    said = "the service needs more than the base: pip install 'fairhold[service]' [usage]\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


def test_where_the_system_allows_too_few_open_files_it_says_how_to_get_more(start: Start) -> None:
    status, lines = start(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)))
    assert (status, lines) == (
        1,
        [
            "the service may open only 64 files and needs at least 128 [open-files]",
            "    allow more: `ulimit -n 4096`, or LimitNOFILE of its unit",
        ],
    )
    assert not start.state.exists()
