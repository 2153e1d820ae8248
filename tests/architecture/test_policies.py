"""What differs between policies is asked of their values: nobody compares their names."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from fairhold.policies.registry import POLICIES

SOURCE = Path(__file__).parents[2] / "src/fairhold"
FILES = [path for path in sorted(SOURCE.rglob("*.py")) if "policies" not in path.relative_to(SOURCE).parts[:1]]
KEYS_TOO = {"share_ratio", "fair_share", "ownership"}
"""Names of policies that are names of a setting, a number or a part of a state as well."""


def names_compared(tree: ast.AST) -> list[tuple[int, str]]:
    """Line and name of every comparison with the name of a policy."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            known = set(POLICIES) - (set() if "polic" in ast.unparse(node) else KEYS_TOO)
            parts = (part for side in (node.left, *node.comparators) for part in ast.walk(side))
            named = (str(part.value) for part in parts if isinstance(part, ast.Constant) and part.value in known)
            found += [(node.lineno, name) for name in named]
    return found


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(SOURCE)) for path in FILES])
def test_no_policy_is_compared_by_name(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if any(f'"{name}"' in text for name in POLICIES):
        assert names_compared(ast.parse(text)) == []


def test_a_comparison_would_be_found() -> None:
    assert names_compared(ast.parse('if entry.policy == "share_ratio": pass')) == [(1, "share_ratio")]
    assert names_compared(ast.parse('x = policies in ({"hybrid"}, set())')) == [(1, "hybrid")]
    assert names_compared(ast.parse('each.name == "fair_share"')) == []
