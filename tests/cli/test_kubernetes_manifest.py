"""`fairhold kubernetes manifest` as a user meets it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from fairhold.engines.kubernetes.manifest import documents
from fairhold.engines.kubernetes.manifest_settings import ManifestSettings
from tests.cli.test_commands import PLAN, fairhold


def test_it_prints_all_that_is_to_be_applied(tmp_path: Path) -> None:
    words = ("kubernetes", "manifest", "--namespace", "fair", "--image", "other:2", "--replicas", "0", "--plan", PLAN)
    settings = ManifestSettings("fair", "other:2", 0, plan=Path(PLAN).read_text())
    said = fairhold(*words).stdout
    assert list(yaml.safe_load_all(said)) == documents(settings)
    assert fairhold(*words, "--output", str(tmp_path / "all.yaml")).stdout == ""
    assert (tmp_path / "all.yaml").read_text() == said
    with Path(PLAN).open() as plan:
        assert fairhold(*words[:-1], "-", stdin=plan).stdout == said
    known = fairhold("kubernetes", "manifest", "--service-account", "carol").stdout
    assert list(yaml.safe_load_all(known)) == documents(ManifestSettings(user="carol"))


def test_a_faulty_plan_is_refused_with_its_faults(tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text("fairhold: 1\nconsumers: {A: {}}\nsurplus: 1\n")
    done = fairhold("kubernetes", "manifest", "--plan", str(plan), exits=1)
    assert done.stdout == ""
    assert all(word in done.stderr for word in ("plan.yaml:3: surplus", "[unknown-key]", "[missing-key]"))


@pytest.mark.parametrize(
    ("option", "value"), [("--namespace", "Fair"), ("--namespace", "a" * 64), ("--replicas", "2"), ("--image", "")]
)
def test_what_cannot_be_is_refused(option: str, value: str) -> None:
    assert option in fairhold("kubernetes", "manifest", option, value, exits=2).stderr


def test_the_output_never_replaces_the_plan(tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(Path(PLAN).read_text())
    fault = fairhold("kubernetes", "manifest", "--plan", str(plan), "--output", str(plan), exits=2).stderr
    assert "--output names the plan" in fault
    assert plan.read_text() == Path(PLAN).read_text()
