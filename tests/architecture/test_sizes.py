"""A file is one thing and a function fits a screen."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted(path for folder in ("src", "tests", "bench", "examples") for path in (ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_and_functions_are_short(path: Path) -> None:
    text = path.read_text()
    assert text.count("\n") <= 400
    long = [
        f"{node.name}: {(node.end_lineno or 0) - node.lineno + 1}"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.lineno + 1 > 70
    ]
    assert long == []
