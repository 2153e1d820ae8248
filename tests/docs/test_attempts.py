"""The page about attempts tells the ends of attempts, and what agents and the service say, as the code has them."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from fairhold.orchestrator.ending import OUTCOMES
from fairhold.orchestrator.events import Outcome
from tests.docs.console import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

ROW = re.compile(r"^\| `(\w+)` \|[^|]*\| ([^|]*) \|$", re.MULTILINE)
MESSAGE = re.compile(r"^\| (agent|service) \| `(\w+) \{(.*)\}` \|", re.MULTILINE)
SAYS = {
    "agent": (
        *("src/fairhold/agent/agent.py", "src/fairhold/agent/reading.py", "src/fairhold/engines/agents/enrolling.py"),
    ),
    "service": ("src/fairhold/engines/agents/messages.py",),
}
THEN = {
    Outcome.FINISHED: "done",
    Outcome.FAILED: ("retried while it has retries, else failed", "as `failed`"),
    Outcome.YIELDED: "is queued again",
    Outcome.STOPPED: ("is queued again", "cancelled"),
    Outcome.LOST: "is queued again",
}


def page() -> str:
    return (ROOT / "docs/attempts.md").read_text()


def test_every_end_of_an_attempt_has_the_consequence_that_is_told() -> None:
    told = dict(ROW.findall(page().split("\n| reason |")[1].split("\n\n")[0]))
    assert set(told) == set(OUTCOMES)
    assert [reason for reason, then in told.items() if not then.startswith(THEN[OUTCOMES[reason]])] == []


def said(source: str) -> Iterator[tuple[str, set[str]]]:
    """Every message that a module makes, with its keys."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Dict):
            entries = {
                key.value: value
                for key, value in zip(node.keys, node.values, strict=True)
                if isinstance(key, ast.Constant)
            }
            kind = entries.pop("type", None)
            if isinstance(kind, ast.Constant):
                yield str(kind.value), {str(key) for key in entries}


def test_every_message_is_told_with_its_keys() -> None:
    told: dict[str, dict[str, set[str]]] = {who: {} for who in SAYS}
    for who, kind, keys in MESSAGE.findall(page()):
        flat = re.sub(r": (\[[^]]*\]|\{[^}]*\})", "", keys)
        told[who][kind] = {key for key in flat.split(", ") if key}
    assert told == {
        who: {kind: keys for path in paths for kind, keys in said((ROOT / path).read_text())}
        for who, paths in SAYS.items()
    }
