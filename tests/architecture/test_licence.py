"""The project says its licence where people and package indexes look for it."""

import hashlib
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
APACHE_2 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
"""SHA-256 of https://www.apache.org/licenses/LICENSE-2.0.txt."""


def test_the_licence_is_the_unchanged_text_and_is_packed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (project["license"], project["license-files"]) == ("Apache-2.0", ["LICENSE"])
    assert hashlib.sha256((ROOT / "LICENSE").read_bytes()).hexdigest() == APACHE_2
    for page in ("README.md", "CONTRIBUTING.md"):
        assert "[Apache License 2.0](LICENSE)" in (ROOT / page).read_text()
