"""The programs of a Kubernetes cluster, built from Go modules once and kept in the user's cache."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
MODULES = ("cluster", "kwok")
SOURCES = ("go.mod", "go.sum", "main.go")
VERSION = "k8s.io/component-base/version"
OLDEST_GO = (1, 21)
"""It fetches by itself the Go that a module asks for."""


def kept(module: str) -> Path:
    """Where the program of this module is, once it is built: its sources decide."""
    text = b"\0".join((HERE / module / name).read_bytes() for name in SOURCES)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "fairhold" / "kubernetes" / hashlib.sha256(text).hexdigest()[:16] / module


def unavailable() -> str | None:
    """Why no cluster can be started; None where one can."""
    if all(kept(module).exists() for module in MODULES):
        return None
    if not _go():
        return f"Kubernetes is not built, and there is no Go {OLDEST_GO[0]}.{OLDEST_GO[1]} or later to build it"
    return "Kubernetes is not built: `make kubernetes-cluster` builds it"


def build() -> None:
    """Build what is not built yet; 10 minutes on two cores, and 4 GB of Go's cache."""
    for module in MODULES:
        program = kept(module)
        program.parent.mkdir(parents=True, exist_ok=True)
        with (program.parent / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not program.exists():
                _build(module, program)


def _build(module: str, program: Path) -> None:
    go = _go()
    if not go:
        raise SystemExit(unavailable())
    part = program.with_suffix(".part")
    command = [
        go,
        "build",
        "-buildvcs=false",
        "-tags",
        "providerless",
        "-ldflags",
        _stamps(module),
        "-o",
        str(part),
        ".",
    ]
    subprocess.run(command, cwd=HERE / module, env=os.environ | {"CGO_ENABLED": "0", "GOWORK": "off"}, check=True)
    part.rename(program)


def _stamps(module: str) -> str:
    """Let Kubernetes say which version it is."""
    found = re.search(r"k8s\.io/kubernetes (v(\d+)\.(\d+)\.\S+)", (HERE / module / "go.mod").read_text())
    names = zip(("gitVersion", "gitMajor", "gitMinor"), found.groups(), strict=True) if found else ()
    return " ".join(("-s -w", *(f"-X {VERSION}.{name}={value}" for name, value in names)))


def _go() -> str | None:
    """Go, where it is new enough."""
    go = shutil.which("go")
    said = subprocess.run([go, "version"], capture_output=True, text=True, check=False).stdout if go else ""
    found = re.search(r"go(\d+)\.(\d+)", said)
    return go if found and (int(found[1]), int(found[2])) >= OLDEST_GO else None
