"""What the tests of this folder share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fairhold.errors import Fault, InputError
from fairhold.planio.plan import parse_plan

CASES = Path(__file__).parent.parent / "cases"

SMALL = """\
fairhold: 1
resource_groups:
  compute: {slots: 100}
consumers:
  Trading:
    consumers: {Risk: {}, FX: {}}
  Research: {}
policies:
  - resource_groups: [compute]
    policy: hybrid
    consumers:
      /Trading: {owned: 60, reserved: 10, limit: 80}
      /Trading/Risk: {owned: 40}
      /Research: {owned: 40}
"""

HOSTS = """\
fairhold: 1
resource_groups:
  gpu: {hosts: [{name: "g[01-04]", slots: 8}, {name: big, slots: 16}]}
  cpu: {slots: 50}
consumers: {A: {}, B: {consumers: {b: {}}}, C: {}}
policies:
  - {resource_groups: [gpu, cpu], policy: hybrid, consumers: {/A: {owned: 10}, /B: {owned: 5}, /C: {limit: 7}}}
"""


def cases(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))["cases"]
    return found


def faults_of(text: str) -> tuple[Fault, ...]:
    with pytest.raises(InputError) as caught:
        parse_plan(text, "plan.yaml")
    return caught.value.faults


def codes_and_lines(faults: tuple[Fault, ...]) -> list[tuple[str, int]]:
    return [(fault.code, fault.line) for fault in faults]
