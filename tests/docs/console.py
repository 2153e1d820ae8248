"""What the documentation shows: files, and commands with their outputs.

A page is a Markdown file. A fence of the kind `console` holds commands, each after `$ `, and what they print. Before
it, comments in the page say what the reader is not told twice:

    <!-- run in examples/tutorial -->    the folder in which the commands of the page run; else the root
    <!-- file examples/tutorial/plan.yaml -->    the next fence is this file

    <!-- $ until fairhold hosts; do sleep 0.1; done -->    a command that is run and not shown, as to start a service

Commands find a service of their own, in a state directory that is empty at first; it is stopped after the last one.

In an expected output a line `...` stands for any lines and `...` inside a line for any text. What differs every time
stands for anything of its kind: a time such as `0.502s` or `09:00:00` (of another day with its date), an instant with
fractions of a second, an amount such as `1.25`. Where one of the last three is, the width of columns is free. Who runs
this is called `ann`.
"""

from __future__ import annotations

import os
import pwd
import re
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")] if not path.name.startswith("requirements")
)
IS_UPDATE = os.environ.get("FAIRHOLD_UPDATE_DOCS") == "1"
"""Whether blocks that differ are rewritten instead of reported."""

_FENCE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"(<!-- file (\S+) -->\n+```\w*\n)(.*?)(?=^```$)", re.MULTILINE | re.DOTALL)
_FOLDER = re.compile(r"<!-- run in (\S+) -->")
_HIDDEN = re.compile(r"^<!-- \$ (.*?) -->$", re.MULTILINE | re.DOTALL)
_TIME = re.compile(r" *\d+\\\.\d+ ?s\b")
_CHANGING = [
    re.compile(pattern)
    for pattern in (
        r"\b\d{4}-\d\d-\d\dT[\d:]{8}\.\d{1,6}Z",
        r"(\b\d{4}-\d\d-\d\d )?(?<![T\d:])\d\d(:\d\d){2}\b",
        r"\b\d+\.\d{1,6}\b(?!\.)",
    )
]
_USER = pwd.getpwuid(os.geteuid()).pw_name
_MARK = "--- end of a command, exit status kept ---"


@dataclass(frozen=True)
class Command:
    """One command of a page.

    text      : without the `$ `; further lines of it start with `> `
    expected  : what the page says that it prints
    is_hidden : it is not shown, and may print anything
    """

    text: str
    expected: str
    is_hidden: bool = False


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def folder_of(text: str) -> str:
    """The folder in which a page's commands run."""
    match = _FOLDER.search(text)
    return match[1] if match else "."


def files_of(text: str) -> list[tuple[str, str]]:
    """Files that a page shows: path and content."""
    return [(match[2], match[3]) for match in _FILE.finditer(text)]


def with_files(text: str) -> str:
    """A page with the files that it shows as they are now."""
    return _FILE.sub(lambda match: match[1] + (ROOT / match[2]).read_text(), text)


def commands_of(block: str) -> list[Command]:
    """The commands of one fence."""
    commands = []
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        lines = part.splitlines(keepends=True)
        more = 1
        while more < len(lines) and lines[more].startswith("> "):
            more += 1
        text = "".join([lines[0], *(line[2:] for line in lines[1:more])]).rstrip("\n")
        commands.append(Command(text, "".join(lines[more:])))
    return commands


def blocks_of(text: str) -> list[list[Command]]:
    """All fences of a page with their commands, hidden commands as blocks of their own."""
    found = [(match.start(), commands_of(match[1])) for match in _FENCE.finditer(text)]
    found += [(match.start(), [Command(match[1], "...", is_hidden=True)]) for match in _HIDDEN.finditer(text)]
    return [block for _, block in sorted(found, key=lambda pair: pair[0])]


def run(commands: list[Command], folder: Path) -> list[str]:
    """What the commands print, one after another in one shell in a folder; a service that they leave is stopped."""
    script = "".join(f"{command.text}\n__=$?; echo '{_MARK}'; (exit $__)\n" for command in commands)
    home = Path(sys.executable).parent
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as base:  # paths of sockets have to be short
        state = Path(base, "state")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("FAIRHOLD_")}
        environment |= {"PATH": f"{home}:{os.environ['PATH']}", "TERM": "dumb", "COLUMNS": "80", "TZ": "UTC"}
        environment |= {"FAIRHOLD_STATE": str(state)}
        try:
            said = _bash(script, folder, environment)
        finally:
            if (state / "service.json").exists():
                _bash("fairhold stop --kill", folder, environment)
            _end_agents(state, folder)
    outputs = re.sub(rf"(?<=  ){_USER}(?=\s)", "ann", said).split(f"{_MARK}\n")
    assert len(outputs) == len(commands) + 1, said
    return outputs[:-1]


def _bash(script: str, folder: Path, environment: dict[str, str]) -> str:
    """What a script prints, errors included."""
    done = subprocess.run(
        ["bash", "-c", script],
        stdin=subprocess.DEVNULL,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    return done.stdout


def _end_agents(*folders: Path) -> None:
    """End the agents whose directories are below these folders."""
    for lock in (lock for folder in folders for lock in folder.rglob("agent.lock")):
        pid = int(lock.read_text() or 0)
        with suppress(OSError):
            if "--directory" in Path(f"/proc/{pid}/cmdline").read_text():
                os.kill(pid, signal.SIGTERM)


def _is_changing(text: str) -> bool:
    return any(pattern.search(text) for pattern in _CHANGING)


def _level(text: str) -> str:
    """A text in which what differs every time is the same, and columns have no width."""
    for pattern in _CHANGING:
        text = pattern.sub("~", text)
    return re.sub(r"^ +| +(?= )", "", text, flags=re.MULTILINE)


def matches(expected: str, said: str) -> bool:
    """Whether an output is what a page says."""
    if _is_changing(expected):
        expected, said = _level(expected), _level(said)
    pattern = ""
    for line in expected.rstrip("\n").split("\n") if expected.strip("\n") else []:
        if line == "...":
            pattern += r"(?:.*\n)*?"
            continue
        escaped = re.escape(line.rstrip()).replace(r"\.\.\.", ".*")
        pattern += _TIME.sub(lambda _: r" *\d+\.\d+ ?s", escaped.replace(r"\ ", " ")) + r" *\n"
    text = "".join(f"{line.rstrip()}\n" for line in said.rstrip("\n").split("\n")) if said.strip("\n") else ""
    return re.fullmatch(pattern, text) is not None


def updated(text: str, outputs: list[str]) -> str:
    """A page with the outputs of its fences, of hidden commands none; those that match stay as they are written."""
    remaining = iter(outputs)

    def fence(match: re.Match[str]) -> str:
        parts = []
        for command in commands_of(match[1]):
            said = next(remaining)
            said_now = command.expected if matches(command.expected, said) else said.rstrip("\n") + "\n" * bool(said)
            parts.append("$ " + command.text.replace("\n", "\n> ") + "\n" + said_now)
        return "```console\n" + "".join(parts) + "```"

    return _FENCE.sub(fence, text)
