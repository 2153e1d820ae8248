"""The console's source: types that are those of the API, its own tests, checks and sizes."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.console.types import CONSOLE, GENERATOR, TYPES, written

if TYPE_CHECKING:
    from pathlib import Path

needs_node = pytest.mark.skipif(not GENERATOR.exists(), reason="the console's libraries are not installed here")


@needs_node
def test_types_are_those_of_the_api(tmp_path: Path) -> None:
    assert written(tmp_path / "schema.ts") == TYPES.read_text(), "run `make console-types`"


@needs_node
@pytest.mark.parametrize("script", ["check", "test"])
def test_source_passes_its_own_checks(script: str) -> None:
    command = [sys.executable, str(CONSOLE / "build.py"), script]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_lock_names_no_place_to_get_packages_from() -> None:
    packages = json.loads((CONSOLE / "package-lock.json").read_text())["packages"]
    places = {each["resolved"] for each in packages.values() if "resolved" in each}
    assert {place for place in places if not place.startswith("https://registry.npmjs.org/")} == set()
    assert all("integrity" in each for path, each in packages.items() if path)


def test_components_fit_a_screen_or_few() -> None:
    sources = [path for path in CONSOLE.glob("src/**/*.ts*") if path != TYPES]
    assert sources
    assert {str(path): lines for path in sources if (lines := path.read_text().count("\n")) > 400} == {}
