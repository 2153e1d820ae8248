"""Resource groups whose hosts are nodes of a Kubernetes cluster, and whose a pod is."""

from fractions import Fraction

import pytest

from fairhold.errors import InputError
from fairhold.model.kubernetes import Node, slots_for, slots_of, told_of_pod
from fairhold.planio.plan import parse_plan
from fairhold.units import SECOND, parse_quantity

GIB = Fraction(2**30)
QUEUES = """
fairhold: 1
resources: {gpu: {base: 1}, cpu: {}, memory: {unit: GiB}}
resource_groups:
  big: {nodes: {pool: gpu, zone: }}
  rest: {nodes: {}}
kubernetes:
  pods:
    - {namespace: "ml-*", labels: {queue: risk}, consumer: /bank/risk}
    - {service_account: trader, consumer: /bank/trading}
    - {consumer_label: kai.scheduler/queue}
consumers: {bank: {consumers: {risk: {}, trading: {}}}}
policies:
  - policy: fair_share
    resource_groups: [big, rest]
    consumers: {/bank: {deserved: {gpu: 16, cpu: unlimited, memory: unlimited}}}
"""
SLOTS = """
fairhold: 1
resource_groups: {all: {nodes: {}, slot: {cpu: 4, memory: 16Gi}}}
consumers: {a: {}, b: {}}
policies: [{policy: hybrid, resource_groups: [all], consumers: {/a: {owned: 6}}}]
"""


def node(name: str, cpu: str, memory: str, gpu: int = 0, **labels: str) -> Node:
    sizes = (("cpu", parse_quantity(cpu)), ("memory", parse_quantity(memory)), ("nvidia.com/gpu", Fraction(gpu)))
    return Node(name, tuple(sorted(labels.items())), tuple((key, value or Fraction(0)) for key, value in sizes))


NODES = [
    node("n2", "7910m", "31.5Gi", pool="cpu"),
    node("n1", "16", "65000000Ki", 8, pool="gpu", zone="a"),
    node("n0", "16", "64Gi", 8, pool="gpu"),
]


def test_each_node_is_a_host_of_the_first_group_that_takes_it() -> None:
    plan, _ = parse_plan(QUEUES, "plan", places=True, nodes=NODES)
    big, rest = plan.resource_groups.values()
    assert [host.name for host in big.hosts] == ["n1"]  # an empty value stands for any, but there must be one
    assert [host.name for host in rest.hosts] == ["n0", "n2"]
    assert big.hosts[0].labels == (("pool", "gpu"), ("zone", "a"))


def test_what_is_no_whole_base_unit_does_not_count() -> None:
    plan, _ = parse_plan(QUEUES, "plan", places=True, nodes=NODES)
    big, rest = plan.resource_groups.values()
    assert big.hosts[0].amounts == (8, 16_000, 63_476)  # MiB
    assert rest.hosts[1].amounts == (0, 7_910, 32_256)


def test_a_node_has_the_slots_that_fit_whole() -> None:
    plan, _ = parse_plan(SLOTS, "plan", places=True, nodes=NODES)
    group = plan.resource_groups["all"]
    assert [(host.name, host.slots) for host in group.hosts] == [("n0", 4), ("n1", 3), ("n2", 1)]
    assert group.slots == 8


def test_a_plan_is_good_without_a_cluster_and_with_an_empty_one() -> None:
    for text in (QUEUES, SLOTS):
        plan, warnings = parse_plan(text, "plan", places=True)
        assert [host for group in plan.resource_groups.values() for host in group.hosts] == []
        assert not [fault for fault in warnings if fault.code in {"oversubscribed", "overcommitted"}]


def test_the_first_rule_that_fits_says_whose_a_pod_is() -> None:
    rules = parse_plan(QUEUES, "plan")[0].kubernetes.pods
    assert [rule.fits("ml-x", "default", {"queue": "risk"}) for rule in rules] == [True, False, True]
    assert [rule.fits("web", "trader", {"queue": "risk"}) for rule in rules] == [False, True, True]
    assert rules[2].consumer_label == "kai.scheduler/queue"


def test_a_pod_asks_in_the_words_of_the_plan_rounded_up() -> None:
    plan = parse_plan(QUEUES, "plan")[0]
    wanted = (("cpu", Fraction(1, 3)), ("memory", GIB / 1000), ("nvidia.com/gpu", Fraction(1)), ("ephemeral", GIB))
    told = told_of_pod(plan.kubernetes, plan.resources, wanted)
    assert told == (("gpu", "1"), ("cpu", "0.334"), ("memory", "0.001953125"))


def test_a_pod_takes_the_slots_that_hold_it() -> None:
    slot = (("cpu", Fraction(4)), ("memory", 16 * GIB))
    assert slots_for(slot, (("cpu", Fraction(9)),)) == 3
    assert slots_for(slot, (("memory", 33 * GIB), ("cpu", Fraction(1)))) == 3
    assert slots_for(slot, ()) == 1
    assert slots_of(slot, (("cpu", Fraction(100)),)) == 0


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", Fraction(1)),
        ("500m", Fraction(1, 2)),
        ("1.5Gi", GIB * 3 / 2),
        ("2e3", Fraction(2000)),
        ("1E", Fraction(10**18)),
        ("3E2", Fraction(300)),
        (".5", Fraction(1, 2)),
        ("-1k", Fraction(-1000)),
        ("100n", Fraction(1, 10**7)),
    ],
)
def test_quantities_are_exact(text: str, value: Fraction) -> None:
    assert parse_quantity(text) == value


@pytest.mark.parametrize("text", ["", ".", "x", "1 Gi", "1gi", "1e", "1GiB", "--1", "1_000", "\u0661"])
def test_what_is_no_quantity_is_none(text: str) -> None:
    assert parse_quantity(text) is None


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (("{nodes: {}}", "{nodes: {}, hosts: []}"), "slots-and-hosts"),
        (("{nodes: {}}", "{nodes: [a]}"), "wrong-type"),
        (("{nodes: {}}", "{nodes: {a b: c}}"), "label"),
        (("{nodes: {}}", "{nodes: {}, slot: {}}"), "missing-key"),
        (("{nodes: {}}", "{nodes: {}, slot: {cpu: 0}}"), "not-a-quantity"),
        (("{nodes: {}}", "{nodes: {}, slot: {cpu: four}}"), "not-a-quantity"),
        (("consumer: /bank/trading", "consumer: /bank/treding"), "unknown-consumer"),
        (("consumer: /bank/trading", "consumer: /bank"), "not-a-leaf"),
        ((", consumer: /bank/trading", ""), "missing-key"),
        (("consumer: /bank/trading", "consumer: /bank/trading, consumer_label: x"), "missing-key"),
        (("  pods:", "  resources: {gpus: nvidia.com/gpu}\n  pods:"), "unknown-resource"),
        (("  pods:", "  resources: {gpu: 'a b'}\n  pods:"), "name"),
        (("  pods:", "  pod:"), "unknown-key"),
        (("service_account", "account"), "unknown-key"),
    ],
)
def test_what_is_wrong_is_told(change: tuple[str, str], code: str) -> None:
    assert change[0] in QUEUES
    with pytest.raises(InputError) as refused:
        parse_plan(QUEUES.replace(*change), "plan")
    assert [fault.code for fault in refused.value.faults] == [code]


def test_hosts_that_come_and_go_are_not_owned_by_name() -> None:
    text = QUEUES.replace("fair_share", "multidimensional").replace(
        "{deserved: {gpu: 16, cpu: unlimited, memory: unlimited}}", "{own: [{resource_group: rest, hosts: [n0]}]}"
    )
    with pytest.raises(InputError) as refused:
        parse_plan(text, "plan", nodes=NODES)
    assert [fault.code for fault in refused.value.faults] == ["unknown-host"]


def test_a_slot_needs_nodes() -> None:
    with pytest.raises(InputError) as refused:
        parse_plan(SLOTS.replace("nodes: {}", "slots: 3"), "plan")
    assert [fault.code for fault in refused.value.faults] == ["missing-key"]


def test_a_smaller_cluster_makes_no_plan_wrong() -> None:
    text = QUEUES.replace("fair_share", "multidimensional").replace(
        "{/bank: {deserved: {gpu: 16, cpu: unlimited, memory: unlimited}}}",
        "{/bank: {own: [{resource_group: rest, hosts: 50%}]}, /bank/risk: {own: [{resource_group: rest, hosts: 2}]}}",
    )
    for count in range(6):
        parse_plan(text, "plan", nodes=[node(f"m{each}", "4", "8Gi") for each in range(count)])


@pytest.mark.parametrize(
    ("said", "start_within", "lost_after"),
    [("", 600, 0), ("start_within: 90s", 90, 0), ("start_within: 0\n  deleted_nodes_lost_after: 1h", 0, 3600)],
)
def test_how_long_pods_and_nodes_are_waited_for(said: str, start_within: int, lost_after: int) -> None:
    settings = parse_plan(QUEUES.replace("kubernetes:", f"kubernetes:\n  {said}"), "plan")[0].kubernetes
    assert settings.start_within == start_within * SECOND
    assert settings.deleted_nodes_lost_after == lost_after * SECOND
    assert len(settings.pods) == 3


@pytest.mark.parametrize("key", ["start_within", "deleted_nodes_lost_after"])
def test_a_time_without_a_unit_is_a_fault_at_its_place(key: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_plan(QUEUES.replace("kubernetes:", f"kubernetes:\n  {key}: 5"), "plan")
    (fault,) = caught.value.faults
    assert (fault.code, fault.place) == ("duration", ("kubernetes", key))
