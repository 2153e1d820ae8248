"""Plans with states under every policy, alone and mixed, and changes that fit them, or not."""

from __future__ import annotations

from typing import NamedTuple

from fairhold.lab.explorer import Explorer, nobody_wants
from tests.docs.console import ROOT

EXAMPLES = ROOT / "examples"
NOW = 1_767_600_000_000_000
"""2026-01-05T08:00:00Z."""
MIXED = """
fairhold: 1
resources: {cpu: {}, gpu: {}}
resource_groups:
  compute: {slots: 20}
  night: {slots: 6}
  gpu: {hosts: [{name: "g[1-3]", cpu: 8, gpu: 4}]}
  train: {capacity: {cpu: 100, gpu: 10}}
consumers:
  Bank: {rank: 1, consumers: {Risk: {reclaim_grace: 5s}, FX: {}}}
  Lab: {}
  Shop: {}
  Web: {consumers: {Ads: {}, Search: {}}}
policies:
  - {resource_groups: [compute], policy: ownership, consumers: {/Bank: {owned: 8}, /Bank/Risk: {owned: 5}}}
  - {resource_groups: [compute], policy: hybrid, consumers: {/Lab: {owned: 6}, /Shop: {owned: 4}, /Web: {}}}
  - {resource_groups: [night], policy: share_ratio, consumers: {/Lab: {share_ratio: 2}}}
  - resource_groups: [gpu]
    policy: multidimensional
    consumers: {/Bank: {own: [{resource_group: gpu, hosts: 1}]}, /Lab: {share_ratio: 2}}
  - resource_groups: [train]
    policy: fair_share
    consumers: {/Web: {deserved: {gpu: 4}}, /Web/Ads: {priority: 7}, /Shop: {deserved: {gpu: 2, cpu: 8}}}
"""
ASKED = """
fairhold_state: 1
now: 2026-01-05T08:00:00Z
requests:
  - {id: r1, consumer: /Bank/Risk, resource_group: compute, count: 9}
  - {id: r2, consumer: /Lab, resource_group: compute, count: 3}
  - {id: r3, consumer: /Lab, resource_group: compute, count: 9}
  - {id: r4, consumer: /Lab, resource_group: night, count: 4}
allocations:
  - {request: r2, units: 2, started: 2026-01-05T07:00:00Z}
  - {request: r3, units: 4, started: 2026-01-05T07:00:00Z}
demand: {/Shop: {train: {gpu: 6}}, /Web/Ads: {train: {gpu: 6, cpu: 3}}}
"""


class Experiment(NamedTuple):
    """A plan and a state, as texts; changes that fit each for itself and all together."""

    plan: str
    state: str
    changes: tuple[str, ...]

    def explorer(self) -> Explorer:
        return Explorer(self.plan, "plan.yaml", self.state, "state.yaml")


def _example(plan: str, state: str, *changes: str) -> Experiment:
    return Experiment((EXAMPLES / plan).read_text(), (EXAMPLES / state).read_text(), changes)


SCENES = {
    "hybrid": _example(
        *(
            "tutorial/plan.yaml",
            "tutorial/state.yaml",
            "/Research:demand=20",
            "/Research:owned=30",
            "/Trading:limit=70",
        ),
        *("compute:slots=120", "settings:distribute_evenly=true", "/Trading/FX:rank=0", "/Trading/FX:demand=30"),
        *("/Trading:limit=", "/Research:reclaim_grace=1m"),
    ),
    "ownership": _example(
        *("ownership/plan.yaml", "ownership/morning.yaml", "/Bank/FX:demand=9", "/Bank/Risk:owned=5"),
        *("compute:slots=30", "/Bank/FX:limit=none"),
    ),
    "share_ratio": _example(
        *("sharing/plan.yaml", "sharing/idle.yaml", "/Trading:share_ratio=3", "/Trading/Risk:demand=9"),
        *("settings:enforce=parent", "/Research/Genome:limit=2", "settings:entitlement=fixed"),
    ),
    "multidimensional": _example(
        *(
            "multidimensional/plan.yaml",
            "multidimensional/morning.yaml",
            "/Research:demand=16",
            "/Research:share_ratio=3",
        ),
        *("model:count=25", "/Lab:share_limit.gpu=3", "/Lab:share_priority=2", "gpu:hosts[0].gpu=6"),
        *("/Trading:own[0].hosts=4", "prices:priority=5"),
    ),
    "fair_share": _example(
        *("queues/plan.yaml", "queues/state.yaml", "/Research:deserved.gpu=10", "/Product:limit.gpu=6"),
        *("/Product:demand=6", "/Product:priority=200", "voices:count=1", "/Research/Vision:over_quota_weight=1"),
        *("/Research/Vision:demand=30", "/Product:deserved={gpu: 6}"),
    ),
    "windows": _example(
        *("windows/plan.yaml", "windows/state.yaml", "policies[0]/Trading:owned=50", "/Research:demand=10"),
        *("policies[1]/Research:owned=10", "policies[0].settings:lead=0", "window[]/Research:owned=10"),
    ),
    "mixed": Experiment(
        MIXED,
        ASKED,
        (
            *("/Bank/Risk:owned=6", "/Lab:demand.compute=7", "/Lab:demand.night=9", "/Shop:demand.train.gpu=1"),
            *("/Bank/FX:demand.compute=2", "/Lab:share_ratio=3", "/Bank/Risk:reclaim_grace=9s", "/Bank:rank=0"),
            *("train:capacity.gpu=12", "compute:slots=22", "/Shop:demand.train.cpu=4", "r4:count=2"),
            *("/Web:deserved.gpu=1", "/Bank:own[0].hosts=2", "/Shop:owned=2", "policies[2]/Lab:limit=3"),
        ),
    ),
    "nobody": Experiment(
        MIXED, nobody_wants(NOW), ("/Lab:demand.compute=7", "/Web/Search:demand.train.gpu=3", "/Shop:owned=1")
    ),
}
