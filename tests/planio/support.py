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

VECTORS = """\
fairhold: 1
resources: {cpu: {step: 0.5, overcommit: 1.5}, memory: {unit: GiB}, gpu: {base: 1}}
resource_groups:
  main: {hosts: [{name: "g[1-4]", cpu: 64, memory: 512, gpu: 8}, {name: big, cpu: 128, labels: [large]}]}
  rest: {hosts: [{name: r1, cpu: 8}]}
consumers: {Trading: {consumers: {Risk: {}, FX: {}}}, Research: {}}
policies:
  - resource_groups: [main, rest]
    policy: multidimensional
    settings: {packing: balanced, public_pool_grace: 60s}
    consumers:
      /Trading: {own: [{resource_group: main, hosts: 3}], share_limit: {gpu: 6}}
      /Trading/Risk: {own: [{resource_group: main, hosts: 1}], reclaim_grace: 30s}
      /Research: {share_priority: 2, share_ratio: 3}
"""

QUEUES = """\
fairhold: 1
resources: {cpu: {}, gpu: {}}
resource_groups: {train: {hosts: [{name: g1, cpu: 64, gpu: 8}]}}
consumers: {A: {}, B: {}}
policies:
  - resource_groups: [train]
    policy: fair_share
    settings:
      division: kai
      reclaimer_utilization_multiplier: 1.25
      k: 0.5
      half_life: 1d
      usage_window: 7d
      consolidation: false
    consumers:
      /A: {deserved: {cpu: 4, gpu: unlimited}, limit: {cpu: 9}, over_quota_weight: 2.5, reclaim_min_runtime: 1m}
      /B: {priority: 50, preempt_min_runtime: 30s, preemption_delay: 10s, min_runtime: 1m}
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


def swapped(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new, 1)


def told(faults: tuple[Fault, ...]) -> list[tuple[str, str]]:
    return [(fault.code, ".".join(map(str, fault.place))) for fault in faults]
