"""Whose a pod is, and what is asked for it."""

from __future__ import annotations

from typing import Any

import pytest

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.pods import Pod, pod_of
from fairhold.engines.kubernetes.whose import consumer_of, terms_of
from fairhold.errors import InputError
from fairhold.model.siting import ANYWHERE, Siting
from fairhold.planio.plan import parse_plan

QUEUES = """
fairhold: 1
resources: {gpu: {base: 1}, cpu: {}, memory: {unit: GiB}}
resource_groups: {all: {nodes: {}}}
kubernetes:
  pods:
    - {namespace: "ml-*", labels: {queue: "risk*"}, consumer: /bank/risk}
    - {service_account: trader, consumer: /bank/trading}
    - {namespace: lab, consumer_label: team}
    - {namespace: lab, consumer_label: unit}
    - {namespace: lab, service_account: robot, consumer: /bank/risk}
consumers: {bank: {consumers: {risk: {}, trading: {}, spare: {}}}, shop: {consumers: {spare: {}}}}
policies:
  - policy: fair_share
    resource_groups: [all]
    consumers: {/bank: {deserved: {gpu: 16, cpu: unlimited, memory: unlimited}}}
"""
SLOTS = """
fairhold: 1
resource_groups: {all: {nodes: {}, slot: {cpu: 4, memory: 16Gi}}, here: {slots: 4}}
consumers: {a: {}, b: {}}
policies:
  - {policy: hybrid, resource_groups: [all], consumers: {/a: {owned: 6}}}
  - {policy: hybrid, resource_groups: [here], consumers: {/b: {owned: 4}}}
"""
PLAN, _ = parse_plan(QUEUES, "plan", places=True)
IN_SLOTS, _ = parse_plan(SLOTS, "plan", places=True)


def pod(
    namespace: str = "default",
    account: str = "",
    *,
    annotations: dict[str, str] | None = None,
    labels: dict[str, str] | None = None,
    priority: int = 0,
    disk: str = "0",
    **asked: str,
) -> Pod:
    meta: dict[str, Any] = {"uid": "u", "namespace": namespace, "name": "p", "resourceVersion": "1"}
    meta |= {"annotations": annotations or {}, "labels": labels or {}}
    containers = [{"resources": {"requests": {"ephemeral-storage": disk} | asked}}]
    return pod_of(
        {"metadata": meta, "spec": {"serviceAccountName": account, "containers": containers, "priority": priority}}
    )


def said(word: str) -> dict[str, str]:
    return {names.CONSUMER: word}


@pytest.mark.parametrize(
    ("one", "annotations", "labels", "consumer"),
    [
        (pod(annotations=said("/bank/risk")), {}, {}, "/bank/risk"),
        (pod(annotations=said("risk")), {}, {}, "/bank/risk"),
        (pod(annotations=said("/bank/risk")), said("/bank/trading"), {}, "/bank/risk"),
        (pod(), said("trading"), {}, "/bank/trading"),
        (pod(annotations=said("")), said("trading"), {}, "/bank/trading"),
        (pod("ml-1", labels={"queue": "risk-2"}), {}, {}, "/bank/risk"),
        (pod("ml-1", "trader", labels={"queue": "risk"}), {}, {}, "/bank/risk"),
        (pod("ml-1", "trader", labels={"queue": "other"}), {}, {}, "/bank/trading"),
        (pod("ml-1", "trader", labels={"queue": "risk"}), said("/shop/spare"), {}, "/shop/spare"),
        (pod("x", "trader"), {}, {}, "/bank/trading"),
        (pod("lab", labels={"team": "risk"}), {}, {"team": "trading"}, "/bank/risk"),
        (pod("lab"), {}, {"team": "trading"}, "/bank/trading"),
        (pod("lab", labels={"unit": "risk"}), {}, {}, "/bank/risk"),
        (pod("lab", labels={"team": "trading", "unit": "risk"}), {}, {}, "/bank/trading"),
        (pod("lab", "robot"), {}, {}, "/bank/risk"),
    ],
)
def test_whose_a_pod_is(one: Pod, annotations: dict[str, str], labels: dict[str, str], consumer: str) -> None:
    assert consumer_of(PLAN, one, annotations, labels) == consumer


@pytest.mark.parametrize(
    ("one", "annotations", "labels", "code", "word"),
    [
        (pod("web"), {}, {}, "no-consumer", "`web`"),
        (pod("lab"), {}, {"other": "risk"}, "no-consumer", "`lab`"),
        (pod("ml-1", labels={"queue": "other"}), {}, {}, "no-consumer", "`ml-1`"),
        (pod(annotations=said("/bank")), {}, {}, "unknown-consumer", "no leaf"),
        (pod(annotations=said("bank")), {}, {}, "unknown-consumer", "no leaf"),
        (pod(annotations=said("/bank/nobody")), {}, {}, "unknown-consumer", "annotation"),
        (pod(annotations=said(" ")), {}, {}, "unknown-consumer", "no leaf"),
        (pod(annotations=said("spare")), {}, {}, "unknown-consumer", "2 leaves"),
        (pod(annotations=said("nobody")), said("risk"), {}, "unknown-consumer", "nobody"),
        (pod("lab"), {}, {"team": "nobody", "unit": "risk"}, "unknown-consumer", "label `team`"),
    ],
)
def test_nobody_owns_what_says_nothing_or_too_little(
    one: Pod, annotations: dict[str, str], labels: dict[str, str], code: str, word: str
) -> None:
    with pytest.raises(InputError) as refused:
        consumer_of(PLAN, one, annotations, labels)
    [fault] = refused.value.faults
    assert fault.code == code
    assert word in fault.what


def test_a_pod_asks_for_what_the_plan_shares() -> None:
    one = pod(priority=7, cpu="1500m", memory="1.5Gi", disk="1Gi")
    terms = terms_of(PLAN, one, "/bank/risk", Siting(need=("a",)))
    assert terms.unit == (("cpu", "1.5"), ("memory", "1.5"))
    assert (terms.consumer, terms.resource_group, terms.count, terms.units) == ("/bank/risk", "", 1, 1)
    assert (terms.priority, terms.min_count, terms.siting) == (7, 0, Siting(need=("a",)))


def test_pods_that_start_together_are_one_job() -> None:
    terms = terms_of(PLAN, pod(cpu="1"), "/bank/risk", ANYWHERE, count=4, least=3)
    assert (terms.count, terms.min_count, terms.unit) == (4, 3, (("cpu", "1"),))


def test_who_is_in_no_entry_has_the_nodes_of_all() -> None:
    assert terms_of(PLAN, pod(cpu="1"), "/shop/spare", ANYWHERE).unit == (("cpu", "1"),)


def test_a_pod_takes_whole_slots() -> None:
    for cpu, memory, units in [("1", "1Gi", 1), ("4", "16Gi", 1), ("4001m", "1Gi", 2), ("1", "33Gi", 3)]:
        terms = terms_of(IN_SLOTS, pod(cpu=cpu, memory=memory), "/a", ANYWHERE)
        assert (terms.resource_group, terms.units, terms.unit) == ("all", units, ())
    assert terms_of(IN_SLOTS, pod(), "/a", ANYWHERE).units == 1


@pytest.mark.parametrize(
    ("text", "one", "consumer", "count", "code"),
    [
        (QUEUES, pod(), "/bank/risk", 1, "missing-unit"),
        (QUEUES, pod(cpu="0"), "/bank/risk", 1, "missing-unit"),
        (QUEUES, pod(disk="1Gi"), "/bank/risk", 1, "missing-unit"),
        (SLOTS, pod(cpu="1"), "/b", 1, "group-without-nodes"),
        (SLOTS, pod(cpu="5"), "/a", 2, "gang-of-slots"),
    ],
)
def test_what_cannot_be_asked_for(text: str, one: Pod, consumer: str, count: int, code: str) -> None:
    plan, _ = parse_plan(text, "plan", places=True)
    with pytest.raises(InputError) as refused:
        terms_of(plan, one, consumer, ANYWHERE, count=count, least=count if count > 1 else 0)
    assert [fault.code for fault in refused.value.faults] == [code]
