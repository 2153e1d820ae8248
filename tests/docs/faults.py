"""One small input for every code that a fault can have; `docs/reference/errors.md` shows what they print."""

from __future__ import annotations

from dataclasses import dataclass

PLAN = """\
fairhold: 1
resource_groups: {compute: {slots: 100}}
consumers: {Trading: {consumers: {Risk: {}, FX: {}}}, Research: {}}
policies:
  - resource_groups: [compute]
    policy: hybrid
    consumers:
      /Trading: {owned: 60}
"""
HOSTS = PLAN.replace("{slots: 100}", "{hosts: [{name: 'g[1-9]', slots: 8}]}, cpu: {slots: 50}").replace(
    "resource_groups: [compute]", "resource_groups: [compute, cpu]"
)
OLDEST = PLAN.replace("policy: hybrid", "policy: hybrid\n    settings: {victims: oldest}")
YOUNG = PLAN.replace("{owned: 60}", "{owned: 60, min_runtime: 10m}")
VECTORS = """\
fairhold: 1
resources: {cpu: {}, memory: {unit: GiB}}
resource_groups: {gpu: {hosts: [{name: 'g[1-9]', cpu: 64, memory: 512}]}}
consumers: {Trading: {consumers: {Risk: {}, FX: {}}}, Research: {}}
policies:
  - resource_groups: [gpu]
    policy: multidimensional
    consumers:
      /Trading: {own: [{resource_group: gpu, hosts: 2}]}
"""
VECTOR_HOSTS = "{hosts: [{name: 'g[1-9]', cpu: 64, memory: 512}]}"
QUEUES = VECTORS.replace("multidimensional", "fair_share").replace("{own: [{resource_group: gpu, hosts: 2}]}", "{}")
WHOLE = PLAN.replace("{slots: 100}", "{hosts: [{name: g1, slots: 100}]}").replace(
    "policy: hybrid", "policy: hybrid\n    settings: {packing: exclusive}"
)
HOSTED = PLAN.replace("{slots: 100}", "{hosts: [{name: g1, slots: 100}]}")
UNSHARED = PLAN.replace("{slots: 100}", "{slots: 100}, cpu: {slots: 50}")
DEMAND = "demand: {/Research: {compute: 5}}"
STATE = f"""\
fairhold_state: 1
now: 2026-01-05T09:00:00Z
{DEMAND}
"""
JOB = "{consumer: /Research, argv: [sleep, '1']}"
JOBS = f"""\
fairhold_jobs: 1
jobs:
  - {JOB}
"""
R1 = "{id: r1, consumer: /Research, count: 4}"
V1 = "requests: [{id: v1, consumer: /Trading/Risk, unit: {cpu: 8}, count: 20}]"
HELD = "{request: r1, units: 4, started: 2026-01-05T08:00:00Z}"
DEADLINE = "deadline: 2026-01-05T09:00:10Z"


@dataclass(frozen=True)
class Sample:
    """A file that is right but for one thing.

    kind  : `plan`, `state` or `jobs`
    old   : what of the right file is replaced
    new   : by what
    shown : the part of `new` that the page shows, or what it says instead; empty = all of it
    plan  : the plan that a state or job file is read with
    places : whether it is read to place units
    """

    kind: str
    old: str
    new: str
    shown: str = ""
    plan: str = PLAN
    places: bool = False

    @property
    def text(self) -> str:
        whole = {"plan": PLAN, "state": STATE, "jobs": JOBS}[self.kind]
        assert self.old in whole
        return whole.replace(self.old, self.new)

    @property
    def example(self) -> str:
        shown = self.shown or self.new
        return f"`{shown}`" if shown in self.new else shown


def plan(old: str, new: str, shown: str = "") -> Sample:
    return Sample("plan", old, new, shown)


def state(new: str, shown: str = "", plan: str = PLAN) -> Sample:
    return Sample("state", DEMAND, new, shown, plan)


WHO = PLAN[PLAN.index("consumers: {Trading") :]


def beside(mine: str, others: str, shown: str = "", *, one: str = "ownership") -> Sample:
    """Two entries of one resource group, the second of `hybrid`."""
    start = "  - {resource_groups: [compute], policy: "
    entries = f"{start}{one}, consumers: {{{mine}}}}}\n{start}hybrid, consumers: {{{others}}}}}\n"
    return plan(WHO, f"consumers: {{A: {{}}, B: {{}}, C: {{}}}}\npolicies:\n{entries}", shown)


def owning(consumers: str, shown: str) -> Sample:
    entry = f"{{resource_groups: [compute], policy: ownership, consumers: {{{consumers}}}}}"
    return plan(WHO, f"consumers: {{A: {{}}, B: {{}}, D: {{consumers: {{d: {{}}}}}}}}\npolicies: [{entry}]\n", shown)


def vectors(old: str, new: str, shown: str = "") -> Sample:
    """A plan of `multidimensional` with one mistake."""
    assert old in VECTORS
    return Sample("plan", PLAN, VECTORS.replace(old, new), shown or new)


def held(row: str, shown: str) -> Sample:
    """A state of `multidimensional` with one allocation."""
    text = f"{V1}\nallocations: [{{request: v1, host: g1, {row}, started: 2026-01-05T08:00:00Z}}]"
    return state(text, shown, VECTORS)


OWN = "hosts: 2"
RISK = "/Trading/Risk: {own: [{resource_group: gpu, "
OWNED = "/Trading: {owned: 60}"
GROUPS = "{compute: {slots: 100}}"
TREE = "{Trading: {consumers: {Risk: {}, FX: {}}}, Research: {}}"

SPECIAL = "special_days: {closed: {dates: [2026-12-25]}, open: {dates: [2026-12-24..2026-12-26]}}"
NIGHT = "- {resource_groups: [compute], policy: hybrid, window: 'Mon-Sun 18:00-08:00'}"

SAMPLES = {
    "empty": Sample("plan", PLAN, "# nothing but a comment\n", "a file with nothing but a comment"),
    "yaml-syntax": plan("policy: hybrid", "policy: hybrid: even"),
    "json-syntax": Sample("plan", PLAN, '{"fairhold": 1,}\n', '{"fairhold": 1,}'),
    "several-documents": plan("policies:", "---\npolicies:", "a line `---` before `policies:`"),
    "nested-too-deep": plan("fairhold: 1", f"fairhold: {'[' * 1001}{']' * 1001}", "1,001 lists inside one another"),
    "key-too-long": plan("/Trading:", f"/{'x' * 1100}:", "a path of 1,100 characters"),
    "key-not-text": plan(TREE, "{7: {}}"),
    "duplicate-key": plan(TREE, "{Research: {}, Research: {}}"),
    "merge-key": plan("{owned: 60}", "{<<: {owned: 60}}"),
    "tag": plan("{owned: 60}", "!mine {owned: 60}"),
    "alias": plan("{owned: 60}", "*same"),
    "bad-number": plan("slots: 100", "slots: .inf"),
    "not-text": plan("fairhold: 1", "cluster: a\0cme", "a NUL character in a name"),
    "version": plan("fairhold: 1", "fairhold: 2"),
    "missing-key": plan("    policy: hybrid\n", "", "a policy entry without `policy`"),
    "unknown-key": plan("{owned: 60}", "{onwed: 60}"),
    "wrong-place": plan("Research: {}", "Research: {owned: 40}"),
    "wrong-type": plan("[compute]", "compute"),
    "not-a-string": plan("fairhold: 1", "fairhold: 1\ncluster: 12", "cluster: 12"),
    "not-whole": plan("owned: 60", "owned: 60.5"),
    "negative": plan("owned: 60", "owned: -1"),
    "out-of-range": plan("slots: 100", "slots: 2000000000000"),
    "not-a-number": vectors("memory: 512", "memory: much"),
    "not-a-quantity": plan("{slots: 100}", "{nodes: {}, slot: {cpu: four}}", "slot: {cpu: four}"),
    "amount-unit": vectors("memory: 512", "memory: 512min"),
    "no-multiple": vectors("memory: 512", "memory: 0.1"),
    "unknown-resource": vectors("memory: 512", "gpu: 8"),
    "base-unit": vectors("cpu: {}", "cpu: {base: 0.3}", "base: 0.3"),
    "unknown-word": plan("policy: hybrid", "policy: hybrid\n    settings: {victims: eldest}", "{victims: eldest}"),
    "duration": plan("Research: {}", "Research: {reclaim_grace: 30}"),
    "instant": Sample("state", "2026-01-05T09:00:00Z", "2026-01-05 09:00"),
    "time-zone": plan("fairhold: 1", "fairhold: 1\ntime_zone: Europe/Zürich", "time_zone: Europe/Zürich"),
    "window": plan("policy: hybrid", "policy: hybrid\n    window: Mon-Fri 8-18", "window: Mon-Fri 8-18"),
    "unknown-day": plan("policy: hybrid", "policy: hybrid\n    window: Mo 08:00-18:00", "window: Mo 08:00-18:00"),
    "date": plan("fairhold: 1", f"fairhold: 1\n{SPECIAL.replace('12-25', '12-32')}", "2026-12-32"),
    "name": plan("Research: {}", "'Re/search': {}"),
    "not-supported-yet": plan("{slots: 100}", "{slots: 100, labels: [gpu]}", "labels: [gpu]"),
    "mixed-consumers": plan(TREE, "{/Trading: {}, Research: {}}"),
    "parent-after-child": plan(TREE, "{/Trading/Risk: {}, /Trading: {}}"),
    "slots-and-hosts": plan(GROUPS, "{compute: {slots: 8, hosts: [{name: g1, slots: 8}]}}"),
    "price-hour": plan(
        "policies:",
        "prices: {currency: CHF, rates: [{resource: slots, per_hour: 1, from: '2026-01-01T00:30:00Z'}]}\npolicies:",
        "'2026-01-01T00:30:00Z'",
    ),
    "price-overlap": plan(
        "policies:",
        "prices: {currency: EUR, rates: [{resource: slots, per_hour: 1}, {resource: slots, per_hour: 2}]}\npolicies:",
        "{resource: slots, per_hour: 2}",
    ),
    "host-range": plan(GROUPS, "{compute: {hosts: [{name: 'g[9-1]', slots: 8}]}}", "g[9-1]"),
    "duplicate-host": plan(GROUPS, "{compute: {hosts: [{name: g1, slots: 8}, {name: g1, slots: 8}]}}"),
    "unknown-resource-group": plan("[compute]", "[computer]"),
    "group-shared-twice": plan(
        "policies:", "policies:\n  - {resource_groups: [compute], policy: hybrid}", "resource_groups: [compute]"
    ),
    "window-overlap": plan(
        "policies:",
        f"policies:\n  {NIGHT}\n  {NIGHT.replace('Mon-Sun 18:00-08:00', 'Mon-Sun 08:00-20:00')}",
        "two windows, 18:00-08:00 and 08:00-20:00",
    ),
    "window-gap": plan("policy: hybrid", "policy: hybrid\n    window: Mon-Sun 08:00-24:00", "Mon-Sun 08:00-24:00"),
    "date-twice": plan("fairhold: 1", f"fairhold: 1\n{SPECIAL}", "2026-12-24..2026-12-26"),
    "unknown-policy": plan("policy: hybrid", "policy: hybird"),
    "other-policy": plan("{owned: 60}", "{share_ratio: 2}"),
    "unknown-consumer": plan(OWNED, "/Tradng: {owned: 60}"),
    "consumer-in-no-entry": beside("/A: {}", "/B: {}", "`/C` in neither of two entries"),
    "consumer-under-two": beside("/A: {}, /C: {}", "/B: {}, /C: {}", "/C: {}"),
    "policies-not-mixed": beside("/A: {}", "/B: {}, /C: {}", "policy: share_ratio", one="share_ratio"),
    "settings-differ": beside(
        "/A: {}", "/B: {}, /C: {}", "distribute_evenly: true", one="hybrid, settings: {distribute_evenly: true}"
    ),
    "slots-and-vectors": vectors("memory: 512", "slots: 8"),
    "owned-in-one-way": vectors(OWN, f"{OWN}, total: {{cpu: 64}}"),
    "group-of-another-entry": Sample(
        "plan",
        PLAN,
        VECTORS.replace("{gpu: {", "{old: {hosts: [{name: o1, cpu: 8}]}, gpu: {").replace(
            "resource_group: gpu", "resource_group: old"
        )
        + "  - {resource_groups: [old], policy: multidimensional}\n",
        "resource_group: old",
    ),
    "owned-twice": Sample(
        "plan",
        PLAN,
        f"{VECTORS}      {RISK}hosts: 1}}, {{resource_group: gpu, hosts: 1}}]}}\n",
        "`hosts: 1` twice",
    ),
    "remaining-twice": Sample(
        "plan",
        PLAN,
        f"{VECTORS}      {RISK}hosts: remaining}}]}}\n      {RISK.replace('Risk', 'FX')}hosts: remaining}}]}}\n",
        "`hosts: remaining` of two children",
    ),
    "oversubscribed": Sample(
        "plan",
        PLAN,
        VECTORS.replace("multidimensional", "fair_share").replace(
            "own: [{resource_group: gpu, hosts: 2}]", "deserved: {cpu: 600}"
        ),
        "deserved: {cpu: 600}",
    ),
    "deserved-left-out": Sample(
        "plan",
        PLAN,
        VECTORS.replace("multidimensional", "fair_share").replace(
            "own: [{resource_group: gpu, hosts: 2}]", "deserved: {cpu: 8}"
        ),
        "deserved: {cpu: 8}",
    ),
    "unlimited-twice": Sample(
        "plan",
        PLAN,
        VECTORS.replace("multidimensional", "fair_share").replace(
            "/Trading: {own: [{resource_group: gpu, hosts: 2}]}",
            "/Trading: {deserved: {cpu: unlimited}}\n      /Research: {deserved: {cpu: unlimited}}",
        ),
        "deserved: {cpu: unlimited}",
    ),
    "deserved-above-limit": Sample(
        "plan",
        PLAN,
        VECTORS.replace("multidimensional", "fair_share").replace(
            "own: [{resource_group: gpu, hosts: 2}]", "deserved: {cpu: 64}, limit: {cpu: 32}"
        ),
        "deserved: {cpu: 64}, limit: {cpu: 32}",
    ),
    "limit-below-deserved": Sample(
        "plan",
        PLAN,
        VECTORS.replace("multidimensional", "fair_share\n    settings: {division: kai}").replace(
            "own: [{resource_group: gpu, hosts: 2}]", "deserved: {cpu: 64}, limit: {cpu: 32}"
        ),
        "deserved: {cpu: 64}, limit: {cpu: 32}",
    ),
    "needs-hosts": Sample(
        "plan",
        PLAN,
        QUEUES.replace(VECTOR_HOSTS, "{capacity: {cpu: 576}}"),
        "capacity: {cpu: 576}",
        places=True,
    ),
    "label": plan("{slots: 100}", "{hosts: [{name: g1, slots: 100, labels: [zone==a]}]}", "labels: [zone==a]"),
    "packing-needs-hosts": plan(
        "policy: hybrid", "policy: hybrid\n    settings: {packing: balanced}", "packing: balanced"
    ),
    "lends-to-itself": owning("/A: {lend_to: [{consumer: /A}]}", "{consumer: /A}"),
    "listed-twice": owning(
        "/A: {lend_to: [{consumer: /B}, {consumer: /B, limit: 5}]}, /B: {borrow_from: [{consumer: /A}]}",
        "{consumer: /B, limit: 5}",
    ),
    "lends-across-policies": beside("/A: {lend_to: [{consumer: /B}]}", "/B: {}, /C: {}", "{consumer: /B}"),
    "nothing-owned": Sample(
        "plan",
        PLAN,
        PLAN.replace("hybrid", "share_ratio").replace(
            "/Trading: {owned: 60}", "/Research: {budget: {unit_hours: 9, period: day, then: borrow_only}}"
        ),
        "budget: {unit_hours: 9, period: day, then: borrow_only}",
    ),
    "ratio-on-branch": owning("/D: {share_ratio: 2}", "/D: {share_ratio: 2}"),
    "ratio-in-mixture": beside("/A: {share_ratio: 2}", "/B: {}, /C: {}", "share_ratio: 2"),
    "one-sided-lending": owning("/A: {lend_to: [{consumer: /B}]}", "{consumer: /B}"),
    "root-balance": Sample(
        "plan",
        PLAN[PLAN.index("resource_groups") :],
        "resource_groups: {compute: {slots: 90, configured_slots: 90}}\n"
        + beside("/A: {owned: 20}", "/B: {owned: 30}, /C: {}").new,
        "configured_slots: 90",
    ),
    "reserved-above-owned": plan("{owned: 60}", "{owned: 60, reserved: 70}"),
    "owned-above-limit": plan("{owned: 60}", "{owned: 60, limit: 50}"),
    "children-own-more": plan(OWNED, f"{OWNED}\n      /Trading/Risk: {{owned: 70}}", "/Trading/Risk: {owned: 70}"),
    "children-reserve-more": plan(
        OWNED,
        "/Trading: {owned: 60, limit: 60}\n      /Trading/Risk: {owned: 40, reserved: 40}\n"
        "      /Trading/FX: {owned: 30, reserved: 30}",
        "/Trading: {owned: 60, limit: 60}",
    ),
    "owned-above-configured": plan("{slots: 100}", "{slots: 100, configured_slots: 50}"),
    "never-in-force": plan(
        "policies:",
        f"policies:\n  {NIGHT.replace('18:00-08:00', '00:00-24:00')}",
        "`Mon-Sun 00:00-24:00` in another entry",
    ),
    "group-not-shared": plan(GROUPS, "{compute: {slots: 100}, cpu: {slots: 50}}", "cpu: {slots: 50}"),
    "overcommitted": plan("{slots: 100}", "{slots: 50}"),
    "private-grace-short": vectors(
        f"{OWN}}}]", f"{OWN}, lend_grace: 60s}}], private_pool_grace: 30s", "private_pool_grace: 30s"
    ),
    "no-private-pool": vectors(
        f"{OWN}}}]}}",
        f"{OWN}}}]}}\n      /Research: {{private_pool_grace: 30s}}",
        "/Research: {private_pool_grace: 30s}",
    ),
    "private-pool-empty": vectors(f"own: [{{resource_group: gpu, {OWN}}}]", "private_pool_grace: 30s"),
    "no-effect": vectors(f"{OWN}}}]", f"{OWN}}}], share_limit: {{}}", "share_limit: {}"),
    "owns-nothing": vectors(OWN, "hosts: 10%"),
    "odd-overcommit": vectors("{cpu: {}", "{cpu: {overcommit: 0.5}", "overcommit: 0.5"),
    "never-borrows": Sample(
        "plan",
        PLAN,
        VECTORS.replace(f"{OWN}}}]", f"{OWN}, lend_grace: 60s}}]").replace(
            "multidimensional", "multidimensional\n    settings: {public_pool_grace: 60s}"
        )
        + "      /Research: {reclaim_grace: 2m}\n",
        "reclaim_grace: 2m",
    ),
    "group-without-policy": state("demand: {/Research: {cpu: 5}}", "{cpu: 5}", UNSHARED),
    "not-a-leaf": state("demand: {/Trading: {compute: 5}}"),
    "unknown-host": state("hosts_down: [g10]", plan=HOSTS),
    "wrong-host": state(
        f"requests: [{{id: r1, consumer: /Research, resource_group: cpu, count: 4}}]\n"
        f"allocations: [{HELD.replace('units', 'host: g1, units')}]",
        "host: g1",
        HOSTS,
    ),
    "unknown-request": state(f"requests: [{R1}]\nallocations: [{HELD.replace('r1', 'r2')}]", "request: r2"),
    "duplicate-request": state(f"requests: [{R1}, {R1}]", "id: r1"),
    "gang-above-count": state("requests: [{id: r1, consumer: /Research, count: 4, min_count: 8}]", "min_count: 8"),
    "wrong-unit": state("requests: [{id: r1, consumer: /Research, count: 4, unit: {slots: 2}}]", "unit: {slots: 2}"),
    "unknown-pool": held("units: 4, pool: /Research", "pool: /Research"),
    "lent-above-held": held("units: 4, lenders: {/Research: 5}", "lenders: {/Research: 5}"),
    "used-above-host": held("units: 9", "units: 9"),
    "owned-above-host": state(
        "ownership: [{host: g1, consumer: /Trading, amounts: {cpu: 80}}]", "amounts: {cpu: 80}", VECTORS
    ),
    "vectors-need-requests": state("demand: {/Research: {gpu: 5}}", plan=VECTORS),
    "needs-requests": Sample("state", DEMAND, "demand: {/Research: {gpu: {cpu: 5}}}", "", QUEUES, places=True),
    "wrong-holder": state(
        f"requests: [{R1}]\nallocations: [{HELD}]\n"
        f"reclaims: [{{request: r1, consumer: /Trading/FX, units: 1, {DEADLINE}}}]",
        "request: r1, consumer: /Trading/FX",
    ),
    "notice-above-held": state(
        f"allocated: {{/Research: {{compute: 5}}}}\nreclaims: [{{consumer: /Research, units: 6, {DEADLINE}}}]",
        "units: 6",
    ),
    "notice-without-request": state(
        f"requests: [{R1}]\nallocations: [{HELD}]\nreclaims: [{{consumer: /Research, units: 1, {DEADLINE}}}]",
        "consumer: /Research, units: 1",
    ),
    "counts-and-requests": state(f"{DEMAND}\nrequests: [{R1}]", DEMAND),
    "victims-need-requests": state(DEMAND, plan=OLDEST),
    "packing-needs-requests": state(DEMAND, plan=WHOLE),
    "closed-needs-requests": state(f"{DEMAND}\nhosts_closed: [g1]", "hosts_closed: [g1]", plan=HOSTED),
    "runtime-needs-requests": state(DEMAND, plan=YOUNG),
    "later-than-now": state("previous_cycle: 2026-01-05T10:00:00Z"),
    "unknown-job": Sample("jobs", JOB, f"{JOB[:-1]}, after: [{{job: train}}]}}", "after: [{job: train}]"),
    "waits-for-itself": Sample(
        "jobs", JOB, f"{JOB[:-1]}, name: a, after: [{{job: a}}]}}", "name: a, after: [{job: a}]"
    ),
    "duplicate-job": Sample("jobs", JOB, f"{JOB[:-1]}, name: a}}\n  - {JOB[:-1]}, name: a}}", "name: a"),
}
"""Code → input; those that need more than a text are in `test_errors`."""
