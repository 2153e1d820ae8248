"""Each line of the page on security names a test that is there."""

from __future__ import annotations

import re

from tests.docs.console import ROOT


def test_every_threat_names_a_test_that_is_there() -> None:
    rows = re.findall(r"^\| (?!somebody|-).*\| (.*) \|$", (ROOT / "docs/security.md").read_text(), re.MULTILINE)
    named = [re.fullmatch(r"`(test_\w+)`", cell) for cell in rows]
    assert len(rows) > 20
    assert all(named), rows
    there = {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(), re.MULTILINE)
    }
    assert [each[1] for each in named if each is not None and each[1] not in there] == []
