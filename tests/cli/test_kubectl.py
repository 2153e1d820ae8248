"""`kubectl fairhold` as a program: what it takes is explained, and what keeps it from its cluster is said."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from typer.main import get_command

from fairhold.cli.kubectl import plugin
from tests.docs.console import ROOT
from tests.docs.test_reference import words_of

if TYPE_CHECKING:
    from pathlib import Path


def kubectl_fairhold(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from fairhold.cli.main import kubectl; kubectl()", *words]
    return subprocess.run(command, env=os.environ | more, capture_output=True, text=True, check=False)


def test_every_command_and_option_is_explained() -> None:
    page = (ROOT / "docs/reference/kubernetes.md").read_text()
    section = page.split("\n## kubectl fairhold\n")[1].split("\n## ")[0]
    words = {word.removeprefix("kubectl_fairhold ").removeprefix("None ") for word in words_of(get_command(plugin))}
    assert {"--once", "--full", "--fairhold-namespace"} <= words
    assert [word for word in words if word not in section] == []


def test_without_a_cluster_it_says_what_is_missing(tmp_path: Path) -> None:
    for words in (("top", "--once"), ("explain", "pod", "p"), ("pods",), ("observed",), ("suggest", "pod", "p")):
        done = kubectl_fairhold(*words, KUBECONFIG=str(tmp_path / "none"))
        assert (done.returncode, "there is no kubeconfig [kubernetes-access]" in done.stderr) == (1, True), done.stderr
    done = kubectl_fairhold("top", "--once", "--service", "http://127.0.0.1:1")
    assert (done.returncode, "does not answer" in done.stderr) == (3, True), done.stderr
    done = kubectl_fairhold("top", "--namespace", "")
    assert done.returncode == 2
