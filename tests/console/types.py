"""Writes the console's types of the REST API, from the OpenAPI document of the service."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

from tests.service.support import Bank

CONSOLE = Path(__file__).parents[2] / "console"
TYPES = CONSOLE / "src/api/schema.ts"
GENERATOR = CONSOLE / "node_modules/.bin/openapi-typescript"


def written(target: Path) -> str:
    """Types made anew, in a file."""
    with tempfile.TemporaryDirectory() as folder, Bank(Path(folder) / "state") as bank:
        document = Path(folder) / "openapi.json"
        document.write_text(json.dumps(bank.app.openapi()))
        command = [str(each) for each in (GENERATOR, document, "--output", target, "--alphabetize")]
        subprocess.run(command, check=True, capture_output=True, cwd=CONSOLE)
    return target.read_text()


if __name__ == "__main__":
    written(TYPES)
