"""`fairhold import`: standard input, folders, lists; whole or not at all; exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from fairhold.cli.importing import import_files
from fairhold.errors import InputError, UsageError
from fairhold.planio.plan import read_plan
from tests.planio.importing import cluster_queue, queue, quotas, stream

if TYPE_CHECKING:
    from pathlib import Path


def fairhold(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fairhold", "import", *words]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False)


def test_a_pipe_goes_in_and_a_plan_comes_out(tmp_path: Path) -> None:
    listed = {"apiVersion": "v1", "kind": "List", "items": [queue("a"), queue("b", "a")]}
    done = fairhold("kai", "-", given=json.dumps(listed))
    assert done.returncode == 0
    assert done.stderr.startswith("warning: resource_groups.cluster.capacity: ")
    path = tmp_path / "plan.yaml"
    path.write_text(done.stdout)
    plan, warnings = read_plan(path)
    assert plan.tree.paths == ("/", "/a", "/a/b")
    assert warnings == ()


def test_nothing_is_written_where_something_is_wrong(tmp_path: Path) -> None:
    target = tmp_path / "plan.yaml"
    done = fairhold("kai", "-", "--output", str(target), given=stream(queue("a"), queue("b", "nobody")))
    assert (done.returncode, done.stdout) == (1, "")
    assert "[import-no-parent]\n    give the file of the parent, too" in done.stderr
    assert not target.exists()
    target.write_text("before")
    with pytest.raises(InputError):
        import_files("kai", [tmp_path / "nowhere.yaml"], target)
    assert target.read_text() == "before"


def test_calls_that_cannot_be_are_wrong_usage(tmp_path: Path) -> None:
    for words in (["kai"], ["slurm", "-"], ["kai", "-", "--output="]):
        done = fairhold(*words)
        assert done.returncode == 2, words
        assert "[usage]" in done.stderr
    path = tmp_path / "queues.yaml"
    path.write_text(stream(queue("a")))
    with pytest.raises(UsageError):
        import_files("kai", [path], path)
    with pytest.raises(UsageError):
        import_files("kai", [tmp_path], path)


def test_folders_are_read_file_by_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "2.yml").write_text(stream(cluster_queue("b", "team", resourceGroups=quotas(nominalQuota=1))))
    (tmp_path / "1.json").write_text(json.dumps(cluster_queue("a", "team", resourceGroups=quotas(nominalQuota=2))))
    (tmp_path / "notes.txt").write_text("nothing")
    target = tmp_path / "plan"
    import_files("kueue", [tmp_path], target)
    assert read_plan(target)[0].tree.paths == ("/", "/team", "/team/a", "/team/b")
    assert capsys.readouterr().out == ""
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError) as caught:
        import_files("kueue", [tmp_path / "empty"], None)
    assert [(fault.code, fault.file) for fault in caught.value.faults] == [("import-nothing", str(tmp_path / "empty"))]


def test_values_of_files_do_not_steer_a_terminal(tmp_path: Path) -> None:
    each = queue("a", displayName="\x1b[31mred\nline # x: y")
    path = tmp_path / "q\x1b.yaml"
    path.write_text(json.dumps(each))
    done = fairhold("kai", str(path))
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr
    assert r"\x1b[31mred\nline" in done.stdout


def test_files_and_a_cluster_exclude_each_other(tmp_path: Path) -> None:
    for words, said in (
        ((), "name FILES to read, or say --live"),
        (("a.yaml", "--live"), "exclude each other"),
        (("a.yaml", "--context", "here"), "add --live"),
    ):
        done = fairhold("kai", *words)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    done = fairhold("kai", "--live", "--kubeconfig", str(tmp_path / "none"))
    assert (done.returncode, "[kubernetes-access]" in done.stderr) == (1, True)
