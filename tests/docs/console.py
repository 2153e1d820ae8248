"""What the documentation shows: files, and commands with their outputs.

A page is a Markdown file. A fence of the kind `console` holds commands, each after `$ `, and what they print. Before
it, comments in the page say what the reader is not told twice:

    <!-- run in examples/tutorial -->    the folder in which the commands of the page run; else the root
    <!-- file examples/tutorial/plan.yaml -->    the next fence is this file

In an expected output a line `...` stands for any lines and `...` inside a line for any text; a time such as `0.502s`
stands for any time.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
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
_TIME = re.compile(r" *\d+\\\.\d+ ?s\b")
_MARK = "--- end of a command, exit status kept ---"


@dataclass(frozen=True)
class Command:
    """One command of a page.

    text     : without the `$ `; further lines of it start with `> `
    expected : what the page says that it prints
    """

    text: str
    expected: str


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
    """All fences of a page with their commands."""
    return [commands_of(match[1]) for match in _FENCE.finditer(text)]


def run(commands: list[Command], folder: Path) -> list[str]:
    """What the commands print, one after another in one shell in a folder."""
    script = "".join(f"{command.text}\n__=$?; echo '{_MARK}'; (exit $__)\n" for command in commands)
    home = Path(sys.executable).parent
    environment = os.environ | {"PATH": f"{home}:{os.environ['PATH']}", "TERM": "dumb", "COLUMNS": "80"}
    done = subprocess.run(
        ["bash", "-c", script],
        stdin=subprocess.DEVNULL,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    outputs = done.stdout.split(f"{_MARK}\n")
    assert len(outputs) == len(commands) + 1, done.stdout
    return outputs[:-1]


def matches(expected: str, said: str) -> bool:
    """Whether an output is what a page says."""
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
    """A page with the outputs of its fences; those that match stay as they are written."""
    remaining = iter(outputs)

    def fence(match: re.Match[str]) -> str:
        parts = []
        for command in commands_of(match[1]):
            said = next(remaining)
            said_now = command.expected if matches(command.expected, said) else said.rstrip("\n") + "\n" * bool(said)
            parts.append("$ " + command.text.replace("\n", "\n> ") + "\n" + said_now)
        return "```console\n" + "".join(parts) + "```"

    return _FENCE.sub(fence, text)
