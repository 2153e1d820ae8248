"""Programs built from Go modules once and kept in the user's cache: first those of a Kubernetes cluster."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

VERSION = "k8s.io/component-base/version"
OLDEST_GO = (1, 21)
"""It fetches by itself the Go that the module asks for."""


class Programs:
    """Programs of one Go module.

    name : in messages; source: folder of the module; packages: what is built, in words of `go build`; mend: how
    """

    def __init__(self, name: str, source: Path, packages: tuple[str, ...], mend: str = "") -> None:
        self.name, self.source = name, source
        self._packages, self._mend = packages, mend

    def path(self, program: str) -> Path:
        """Where a program is, once it is built."""
        return self._kept() / program

    def unavailable(self) -> str | None:
        """Why the programs are not there; None where they are."""
        if self._kept().exists():
            return None
        if not go():
            return f"{self.name} is not built, and there is no Go {OLDEST_GO[0]}.{OLDEST_GO[1]} or later to build it"
        return f"{self.name} is not built: {self._mend}"

    def build(self) -> None:
        """Build what is not built yet. Raises CalledProcessError where that fails; Go has said why."""
        kept = self._kept()
        kept.parent.mkdir(parents=True, exist_ok=True)
        with kept.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not kept.exists():
                part = kept.with_suffix(".part")
                self._build(part)
                part.rename(kept)

    def _kept(self) -> Path:
        """The folder of the programs; what they are built of decides."""
        sources = [self.source / "go.mod", self.source / "go.sum", *sorted(self.source.glob("*/*.go"))]
        text = b"\0".join(path.read_bytes() for path in sources)
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        return cache / "fairhold" / self.source.name / hashlib.sha256(text).hexdigest()[:16]

    def _build(self, folder: Path) -> None:
        found = go()
        if not found:
            raise SystemExit(self.unavailable())
        stamps = " ".join(("-s -w", *self._stamps()))
        command = [found, "build", "-buildvcs=false", "-tags=providerless", f"-ldflags={stamps}", f"-o={folder}/"]
        environment = os.environ | {"CGO_ENABLED": "0", "GOWORK": "off"}
        subprocess.run([*command, *self._packages], cwd=self.source, env=environment, check=True)

    def _stamps(self) -> list[str]:
        """Let Kubernetes say which version it is, where the module has it."""
        found = re.search(r"k8s\.io/kubernetes (v(\d+)\.(\d+)\.\S+)", (self.source / "go.mod").read_text())
        names = zip(("gitVersion", "gitMajor", "gitMinor"), found.groups(), strict=True) if found else ()
        return [f"-X {VERSION}.{name}={value}" for name, value in names]


CLUSTER = Programs("Kubernetes", Path(__file__).parent, ("./cluster", "./kwok"), "`make kubernetes-cluster` builds it")
"""10 minutes on two cores, and 4 GB of Go's cache."""


def go() -> str | None:
    """Go, where it is new enough."""
    found = shutil.which("go")
    said = subprocess.run([found, "version"], capture_output=True, text=True, check=False).stdout if found else ""
    version = re.search(r"go(\d+)\.(\d+)", said)
    return found if version and (int(version[1]), int(version[2])) >= OLDEST_GO else None
