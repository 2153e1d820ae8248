"""A file is one thing and a function fits a screen."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted(path for folder in ("src", "tests", "bench", "examples") for path in (ROOT / folder).rglob("*.py"))
LONGEST_FILE, LONGEST_FUNCTION = 400, 40
"""Lines; of a function those with code, without its signature and docstring."""


def functions(text: str) -> Iterator[tuple[str, int]]:
    """Every function with its lines of code."""
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            code = lines[body[0].lineno - 1 : node.end_lineno] if body else []
            yield node.name, sum(bool(line.strip()) and not line.lstrip().startswith("#") for line in code)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_and_functions_are_short(path: Path) -> None:
    text = path.read_text()
    assert text.count("\n") <= LONGEST_FILE
    assert [(name, lines) for name, lines in functions(text) if lines > LONGEST_FUNCTION] == []


def test_lines_of_code_are_counted_in_functions_of_both_kinds() -> None:
    text = 'async def f(\n    a,\n):\n    """Doc.\n\n    More."""\n    # why\n    b = a\n\n    return b\n'
    text += 'def g(): "doc"\n'
    assert list(functions(text)) == [("f", 2), ("g", 0)]
