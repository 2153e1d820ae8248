"""The schemas for editors agree with the readers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from fairhold.access.permissions import ROLES, Permission
from fairhold.errors import InputError
from fairhold.planio import (
    access,
    consumers,
    controls,
    counts,
    groups,
    hosts,
    jobs,
    lending,
    loans,
    notices,
    plan,
    policies,
    provider,
    requests,
    shortages,
    state,
)
from fairhold.planio.access import parse_access
from fairhold.planio.document import parse_document
from fairhold.planio.jobs import parse_jobs
from fairhold.planio.plan import parse_plan
from fairhold.planio.schema import KINDS, schema
from fairhold.planio.state import parse_state
from fairhold.policies.registry import POLICIES
from tests.planio.support import HOSTS, QUEUES, SMALL, cases, swapped
from tests.planio.test_access import GOOD as ACCESS
from tests.planio.test_read_jobs import JOBS
from tests.planio.test_read_state import FULL

CHECKS = {kind: Draft202012Validator(json.loads(schema(kind))) for kind in KINDS}
GOOD = {"plan": SMALL, "state": FULL, "jobs": JOBS, "access": ACCESS}
HOST_PLAN = parse_plan(HOSTS, "f")[0]


def is_valid(kind: str, text: str) -> bool:
    return bool(CHECKS[kind].is_valid(parse_document(text, kind).value))


def reads(kind: str, text: str) -> bool:
    small = parse_plan(SMALL, "f")[0]
    try:
        if kind == "plan":
            parse_plan(text, kind)
        elif kind == "state":
            parse_state(text, HOST_PLAN, kind)
        elif kind == "access":
            parse_access(text, kind)
        else:
            parse_jobs(text, small, kind)
    except InputError:
        return False
    return True


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_is_one(kind: str) -> None:
    Draft202012Validator.check_schema(json.loads(schema(kind)))


def test_only_known_kinds_have_a_schema() -> None:
    with pytest.raises(KeyError):
        schema("../plan")


def test_all_cases_are_valid() -> None:
    for case in [
        *cases("hybrid"),
        *cases("share_ratio"),
        *cases("cycles"),
        *cases("ownership"),
        *cases("multidimensional"),
        *cases("lending"),
    ]:
        for kind in ("plan", "state"):
            assert list(CHECKS[kind].iter_errors(case[kind])) == [], case["id"]


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        *[("plan", old, old) for old in ("fairhold: 1",)],
        ("plan", "compute: {slots: 100}", 'compute: {hosts: [{name: "g[01-20]", slots: 5}]}'),
        ("plan", "limit: 80", "limit: none"),
        ("plan", "limit: 80", "limit: null"),
        ("plan", "Research: {}", "Research:"),
        ("plan", "Research: {}", "Research: {rank: 3, reclaim_grace: 1m30s}"),
        ("state", "for: r2", "for: null"),
        ("state", "held: [", "held: []\n#"),
        ("jobs", "submit: 1m", "submit: 0"),
        (
            "access",
            "others: sums",
            "others: sums\noidc: {issuer: 'https://h/x', client_id: f, scopes: [openid, g]}",
        ),
        ("access", "others: sums", "others: sums\noidc: {issuer: 'http://127.0.0.1:80', client_id: f, clock_skew: 5m}"),
        ("access", "requests: 100", "waiting_in_leaf: 0"),
        ("access", "others: sums", "oidc: {issuer: 'https://h', client_id: f, account_claim: uid}"),
    ],
)
def test_what_is_read_is_valid(kind: str, old: str, new: str) -> None:
    text = GOOD[kind].replace(old, new, 1)
    assert (is_valid(kind, text), reads(kind, text)) == (True, True)


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        ("plan", "fairhold: 1", "fairhold: 2"),
        ("plan", "fairhold: 1", "fairhold: 1\nresources: []"),
        ("plan", "slots: 100", "slots: -1"),
        ("plan", "slots: 100", "slots: 1.5"),
        ("plan", "slots: 100", "slots: 1, hosts: []"),
        ("plan", "policy: hybrid", "policy: fair_share"),
        ("plan", "policy: hybrid", "policy: hybrid\n    window: x"),
        ("plan", "Research: {}", "Research: {owned: 3}"),
        ("plan", "Research: {}", "Research: {reclaim_grace: 30}"),
        ("plan", "Research: {}", "/Research: {}"),
        ("plan", "/Research:", "Research:"),
        ("plan", "limit: 80", "limit: some"),
        ("state", "fairhold_state: 1", "fairhold_state: 1\nborrowed: [{borrower: /A, units: 0}]"),
        ("state", "fairhold_state: 1", "fairhold_state: 1\nshortages: [{consumer: /A, since: 2026-01-05}]"),
        ("state", "now: 2026-01-05T09:00:00Z", "now: 2026-01-05"),
        ("state", "unit: {slots: 1}", "unit: {slots: 2}"),
        ("state", "preemptible: true", "preemptible: 1"),
        ("state", "units: 8", "units: 0"),
        ("state", "reason: limit", "reason: limits"),
        ("state", "consumer: /A, resource_group: cpu, units", "resource_group: cpu, units"),
        ("jobs", "[sleep, ", "[1, "),
        ("jobs", '{SEED: "7"}', "{SEED: 7}"),
        ("jobs", "count: 40", "count: 0"),
        ("jobs", "name: train", "nme: train"),
        ("access", "others: sums", "others: some"),
        ("access", "[ada, ben]", "[ada, ben, ada]"),
        ("access", "[ada, ben]", "[ada, ben, a/b]"),
        ("access", "read_audit]", "read_audits]"),
        ("access", "auditor: [view", "viewer: [view"),
        ("access", "role: auditor, at: /,", "role: auditor,"),
        ("access", ", users: [ada]}", "}"),
        ("access", "requests: 100", "requests: -1"),
        ("access", "requests: 100", "requests: 1000000000001"),
        ("access", "submits: 20", "people: 20"),
        ("access", "others: sums", "others: sums\noidc: {issuer: 'http://h/x', client_id: f}"),
        ("access", "others: sums", "others: sums\noidc: {issuer: 'https://h/x', client_id: f, scopes: [email]}"),
        ("access", "others: sums", "others: sums\noidc: {issuer: 'https://h/x?y', client_id: f}"),
        ("access", "others: sums", "others: sums\noidc: {issuer: 'https://h/x'}"),
    ],
)
def test_what_is_broken_is_neither_valid_nor_read(kind: str, old: str, new: str) -> None:
    assert old in GOOD[kind]
    text = GOOD[kind].replace(old, new, 1)
    assert (is_valid(kind, text), reads(kind, text)) == (False, False)


@pytest.mark.parametrize(
    ("kind", "name", "keys"),
    [
        ("plan", "", plan.KEYS),
        ("plan", "host", hosts.HOST_KEYS),
        ("plan", "consumer", consumers.KEYS),
        ("plan", "entry", policies.ENTRY_KEYS),
        ("plan", "settings", tuple({key for policy in POLICIES.values() for key in policy.keys})),
        ("state", "", state.KEYS),
        ("state", "request", requests.REQUEST_KEYS),
        ("state", "allocation", requests.ALLOCATION_KEYS),
        ("state", "notice", notices.NOTICE_KEYS),
        ("state", "held", notices.HELD_KEYS),
        ("state", "loan", loans.LOAN_KEYS),
        ("state", "shortage", shortages.SHORTAGE_KEYS),
        ("plan", "peer", lending.PEER_KEYS),
        ("plan", "budget", controls.BUDGET_KEYS),
        ("jobs", "", jobs.KEYS),
        ("jobs", "job", jobs.JOB_KEYS),
        ("access", "", access.KEYS),
        ("access", "binding", access.BINDING_KEYS),
        ("access", "limits", access.LIMIT_KEYS),
        ("access", "oidc", provider.KEYS),
    ],
)
def test_schemas_and_readers_know_the_same_keys(kind: str, name: str, keys: tuple[str, ...]) -> None:
    whole = json.loads(schema(kind))
    part: dict[str, Any] = whole["$defs"][name] if name else whole
    part = part["anyOf"][0] if "properties" not in part else part
    assert sorted(part["properties"]) == sorted(keys)


def test_the_schema_of_access_documents_knows_all_permissions_and_roles() -> None:
    roles = json.loads(schema("access"))["properties"]["roles"]["anyOf"][0]
    assert roles["additionalProperties"]["items"]["enum"] == [*Permission]
    assert roles["propertyNames"]["allOf"][1]["not"]["enum"] == [*ROLES]


@pytest.mark.parametrize(
    ("old", "new", "is_right"),
    [
        ("k: 0.5", "k: 0.5", True),
        ("k: 0.5", 'k: "0.5"', True),
        ("k: 0.5", "k: -1", False),
        ("multiplier: 1.25", "multiplier: 0.5", False),
        ("division: kai", "division: both", False),
        ("half_life: 1d", "half_life: none", True),
        ("half_life: 1d", "half_life: 0", False),
        ("usage_window: 7d", "usage_window: 0", False),
        ("usage_window: 7d", "usage_window: month", True),
        ("usage_window: 7d", "usage_window: year", False),
        ("usage_window: 7d", "usage_window: {tumbling: 7d}", True),
        ("usage_window: 7d", "usage_window: {tumbling: 7d, start: 2026-01-05T00:00:00Z}", True),
        ("usage_window: 7d", "usage_window: {tumbling: 7d, cron: x}", False),
        ("usage_window: 7d", "usage_window: {start: 2026-01-05T00:00:00Z}", False),
        ("consolidation: false", "consolidation: 1", False),
        ("consolidation: false", "hold_after: 1h", False),
        ("gpu: unlimited", "gpu: none", False),
        ("limit: {cpu: 9}", "limit: none", True),
        ("limit: {cpu: 9}", "limit: {cpu: none}", True),
        ("limit: {cpu: 9}", "limit: {cpu: unlimited}", False),
        ("limit: {cpu: 9}", "limit: 9", False),
        ("limit: {cpu: 9}", "owned: 9", False),
        ("over_quota_weight: 2.5", "over_quota_weight: {gpu: 0, cpu: 1}", True),
        ("over_quota_weight: 2.5", "over_quota_weight: -1", False),
        ("priority: 50", "priority: -1", False),
        ("reclaim_min_runtime: 1m", "reclaim_min_runtime: 60", False),
        ("policy: fair_share", "policy: multidimensional", False),
    ],
)
def test_settings_of_queues(old: str, new: str, *, is_right: bool) -> None:
    text = swapped(QUEUES, old, new)
    assert (is_valid("plan", text), reads("plan", text)) == (is_right, is_right)


@pytest.mark.parametrize(
    ("old", "new", "is_right"),
    [
        ("gpu: 0.25", "gpu: 0.25", True),
        ("gpu: 0.25", "gpu: -1", False),
        ("usage: {/A", "usage: {/", False),
        ("preemptible: false", "preemptible: 1", False),
    ],
)
def test_states_of_queues(old: str, new: str, *, is_right: bool) -> None:
    state = """\
fairhold_state: 1
now: 2026-01-05T09:00:00Z
requests: [{id: r, consumer: /A, unit: {gpu: 1}, count: 2, preemptible: false}]
usage: {/A: {gpu: 0.25}}
"""
    text = swapped(state, old, new)
    try:
        parse_state(text, parse_plan(QUEUES, "f")[0], "state")
    except InputError:
        assert (is_valid("state", text), is_right) == (False, False)
    else:
        assert (is_valid("state", text), is_right) == (True, True)


def test_schemas_and_readers_know_the_same_keys_of_groups_and_switches() -> None:
    parts = json.loads(schema("plan"))["$defs"]
    assert {key for part in parts["group"]["oneOf"] for key in part["properties"]} == set(groups.GROUP_KEYS)
    assert set(parts["entry"]["properties"]["settings"]["anyOf"][0]["properties"]) == {
        key for policy in POLICIES.values() for key in policy.settings
    }
    sizes = json.loads(schema("state"))["properties"]["resource_groups"]["anyOf"][0]["additionalProperties"]
    assert {key for part in sizes["anyOf"] for key in part["properties"]} == set(counts.SLOT_KEYS)
