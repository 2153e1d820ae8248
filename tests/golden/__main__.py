"""Make the digests anew, or write whole logs into a folder."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.golden.telling import DIGESTS, NAMES, story_of, told


def main(folder: str = "") -> None:
    """See the package."""
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name in NAMES:
            with (Path(folder) / f"{name.replace(' ', '-')}.log").open("w", encoding="utf-8") as file:
                story_of(name)(file.write)
        return
    before = json.loads(DIGESTS.read_text(encoding="utf-8")) if DIGESTS.exists() else {}
    found = {name: told(name) for name in NAMES}
    DIGESTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    changed = [name for name in NAMES if before.get(name) != found[name]]
    sys.stdout.write("".join(f"{name} is another\n" for name in changed) or "nothing is another\n")


if __name__ == "__main__":
    main(*sys.argv[1:2])
