"""Every code that the readers use is explained, and every code explained is used."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import fairhold.planio
from fairhold.planio.codes import CODES

ELSEWHERE = {"access.py", "codes.py", "notifications.py", "provider.py"} | {
    f"kai{part}.py" for part in ("files", "found", "queues", "together", "work")
}
"""The table itself, and files whose codes have a page of their own."""
SOURCES = [path for path in Path(fairhold.planio.__file__).parent.glob("*.py") if path.name not in ELSEWHERE]
FIRST_ARGUMENT = {"fault": 0, "warn": 0, "Fault": 0, "note": 1, "stop": 1}


def codes_in(tree: ast.AST) -> set[str]:
    """First arguments of the calls that make faults, and what is assigned to `code` or returned first in a tuple."""
    found: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            found += node.args[FIRST_ARGUMENT.get(name, 99) :][:1]
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "code":
            found.append(node.value)
        elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) and len(node.value.elts) == 3:
            found.append(node.value.elts[0])
    inner = [each for node in found for each in ([node.body, node.orelse] if isinstance(node, ast.IfExp) else [node])]
    return {node.value for node in inner if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def test_codes_used_and_codes_explained_are_the_same() -> None:
    used = set[str]().union(*(codes_in(ast.parse(path.read_text(encoding="utf-8"))) for path in SOURCES))
    assert used == set(CODES)


def test_codes_are_kebab_case_with_a_meaning_of_one_line() -> None:
    for code, meaning in CODES.items():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code)
        assert meaning
        assert "\n" not in meaning
        assert not meaning.endswith(".")
