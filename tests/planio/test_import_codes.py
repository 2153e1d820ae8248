"""Every code of an import is explained on its page, and every code explained is used."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import fairhold.planio.imports
from fairhold.planio.codes import CODES
from fairhold.planio.imports.codes import FAULTS, NOTES
from tests.planio.test_fault_codes import codes_in

SOURCES = [
    *Path(fairhold.planio.imports.__path__[0]).glob("*.py"),
    Path(fairhold.planio.imports.__path__[0]).parents[1] / "cli/importing.py",
]
PAGE = Path(__file__).parents[2] / "docs/reference/import.md"
MADE = re.compile(r'(?:_fault|_twice|\.note|Fault)\([^"()]*"([a-z]+(?:-[a-z]+)*)"')


def used() -> set[str]:
    texts = [path.read_text(encoding="utf-8") for path in SOURCES if path.name != "codes.py"]
    return set().union(*(codes_in(ast.parse(text)) | set(MADE.findall(text)) for text in texts))


def test_codes_used_are_those_of_imports_or_of_all_files() -> None:
    assert FAULTS.keys() | NOTES.keys() <= used()
    assert used() <= FAULTS.keys() | NOTES.keys() | CODES.keys() | {""}


def test_the_page_has_a_row_for_every_code() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| ([^|]+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {code: meaning for code, meaning in rows if code in FAULTS | NOTES} == FAULTS | NOTES
