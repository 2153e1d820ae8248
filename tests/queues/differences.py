"""Cases of KAI that end otherwise here, as `docs/reference/kai.md` lists them."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs/reference/kai.md").read_text(encoding="utf-8")


def listed(title: str) -> frozenset[str]:
    """Cases in the table of a section; in each row both sides are told, and a rule is named."""
    (section,) = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, flags=re.MULTILINE | re.DOTALL)
    rows = [re.split(r" *\| *", line)[1:-1] for line in section.splitlines() if line.startswith("| `")]
    assert all(len(row) == 3 and all(row) and "rules.md#r-" in row[2] for row in rows)
    found = [row[0].strip("`") for row in rows]
    assert len(set(found)) == len(found)
    return frozenset(found)
