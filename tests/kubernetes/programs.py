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
PROGRAMS = ("cluster", "kwok")
VERSION = "k8s.io/component-base/version"
OLDEST_GO = (1, 21)
"""It fetches by itself the Go that the module asks for."""


def program(name: str) -> Path:
    """Where a program is, once it is built."""
    return _kept() / name


def unavailable() -> str | None:
    """Why no cluster can be started; None where one can."""
    if _kept().exists():
        return None
    if not _go():
        return f"Kubernetes is not built, and there is no Go {OLDEST_GO[0]}.{OLDEST_GO[1]} or later to build it"
    return "Kubernetes is not built: `make kubernetes-cluster` builds it"


def build() -> None:
    """Build what is not built yet: 10 minutes on two cores, and 4 GB of Go's cache."""
    kept = _kept()
    kept.parent.mkdir(parents=True, exist_ok=True)
    with kept.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            part = kept.with_suffix(".part")
            _build(part)
            part.rename(kept)


def _kept() -> Path:
    """The folder of the programs; what they are built of decides."""
    sources = [HERE / "go.mod", HERE / "go.sum", *sorted(HERE.glob("*/*.go"))]
    text = b"\0".join(path.read_bytes() for path in sources)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "fairhold" / "kubernetes" / hashlib.sha256(text).hexdigest()[:16]


def _build(folder: Path) -> None:
    go = _go()
    if not go:
        raise SystemExit(unavailable())
    command = [go, "build", "-buildvcs=false", "-tags=providerless", f"-ldflags={_stamps()}", f"-o={folder}/"]
    command += [f"./{name}" for name in PROGRAMS]
    subprocess.run(command, cwd=HERE, env=os.environ | {"CGO_ENABLED": "0", "GOWORK": "off"}, check=True)


def _stamps() -> str:
    """Let Kubernetes say which version it is."""
    found = re.search(r"k8s\.io/kubernetes (v(\d+)\.(\d+)\.\S+)", (HERE / "go.mod").read_text())
    assert found
    names = zip(("gitVersion", "gitMajor", "gitMinor"), found.groups(), strict=True)
    return " ".join(("-s -w", *(f"-X {VERSION}.{name}={value}" for name, value in names)))


def _go() -> str | None:
    """Go, where it is new enough."""
    go = shutil.which("go")
    said = subprocess.run([go, "version"], capture_output=True, text=True, check=False).stdout if go else ""
    found = re.search(r"go(\d+)\.(\d+)", said)
    return go if found and (int(found[1]), int(found[2])) >= OLDEST_GO else None
