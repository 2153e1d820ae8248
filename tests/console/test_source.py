"""The console's source: types that are those of the API, its own tests, checks and sizes."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from tests.console.types import CONSOLE, GENERATOR, TYPES, written

if TYPE_CHECKING:
    from pathlib import Path

BUILT = files("fairhold") / "console/assets"
MOST = 350_000
"""Bytes of the whole console, compressed."""

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


@pytest.mark.skipif(not BUILT.is_dir(), reason="the console is not built here")
def test_the_whole_console_is_small() -> None:
    sizes = {each.name: len(gzip.compress(each.read_bytes())) for each in BUILT.iterdir()}
    assert any(name.endswith(".js") for name in sizes)
    assert sum(sizes.values()) <= MOST, sizes


def test_components_fit_a_screen_or_few() -> None:
    sources = [path for path in CONSOLE.glob("src/**/*.ts*") if path != TYPES]
    assert sources
    assert {str(path): lines for path in sources if (lines := path.read_text().count("\n")) > 400} == {}
