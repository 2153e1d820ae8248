"""Rules, the statements that they cover, and who cites them: in `docs/rules.md`, in the code and in the tests.

`python -m tests.architecture.coverage` prints which statements no rule covers yet, and fails where a rule is cited by
no code or by no test.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
RULE = re.compile(r"R-[A-Z]+-\d+")
STATEMENT = re.compile(r"\bS\d\.\d+\b")
IN_NAME = re.compile(r"_s(\d)_(\d+)(?=_|\b)")
RULE_IN_NAME = re.compile(r"def test_r_([a-z]+)_(\d+)_")


@cache
def rules() -> dict[str, frozenset[str]]:
    """Every rule of `docs/rules.md` with the statements that it covers."""
    found: dict[str, frozenset[str]] = {}
    for section in re.split(r"^### ", (ROOT / "docs/rules.md").read_text(), flags=re.MULTILINE)[1:]:
        name = RULE.match(section)
        assert name, f"a section of docs/rules.md without a rule id: {section.splitlines()[0]}"
        covers = re.search(r"^Covers (.*?)\.\n", section, flags=re.MULTILINE | re.DOTALL)
        found[name.group()] = frozenset(STATEMENT.findall(covers.group(1)) if covers else ())
    return found


@cache
def statements() -> tuple[str, ...]:
    """Every statement of `docs/requirements.md`, in its order."""
    return tuple(dict.fromkeys(STATEMENT.findall((ROOT / "docs/requirements.md").read_text())))


@cache
def cited_in(folder: str) -> tuple[frozenset[str], frozenset[str]]:
    """Rules and statements that the Python files below a folder name.

    In a test's name `s1_45` is S1.45 and `test_r_need_1_` is R-NEED-1.
    """
    text = "\n".join(
        path.read_text() for path in sorted((ROOT / folder).rglob("*.py")) if path.resolve() != Path(__file__).resolve()
    )
    named = {f"S{seed}.{number}" for seed, number in IN_NAME.findall(text)}
    named_rules = {f"R-{family.upper()}-{number}" for family, number in RULE_IN_NAME.findall(text)}
    return frozenset(RULE.findall(text)) | named_rules, frozenset(STATEMENT.findall(text)) | named


def gaps() -> list[str]:
    """Everything that is cited nowhere, or cited and unknown."""
    code, tests = cited_in("src"), cited_in("tests")
    covered = frozenset().union(*rules().values())
    found = [f"{rule} is cited by no code" for rule in rules() if rule not in code[0]]
    found += [f"{rule} is cited by no test" for rule in rules() if rule not in tests[0]]
    found += [f"{rule} is cited and stands in no rule" for rule in sorted((code[0] | tests[0]) - rules().keys())]
    found += [f"{name} is covered by a rule and named by no test" for name in sorted(covered - tests[1])]
    found += [f"{name} is covered by a rule and is no statement" for name in sorted(covered - set(statements()))]
    return found


def uncovered() -> list[str]:
    """Statements that no rule covers yet."""
    covered = frozenset().union(*rules().values())
    return [name for name in statements() if name not in covered]


if __name__ == "__main__":
    open_statements = uncovered()
    sys.stdout.write(f"{len(rules())} rules; {len(open_statements)} statements not covered yet:\n")
    for seed in sorted({name.split(".")[0] for name in open_statements}):
        sys.stdout.write("  " + " ".join(name for name in open_statements if name.startswith(f"{seed}.")) + "\n")
    faults = gaps()
    sys.stdout.write("".join(f"{fault}\n" for fault in faults))
    raise SystemExit(bool(faults))
