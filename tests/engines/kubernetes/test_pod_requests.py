"""What a pod asks for, against the instants of its life written out one by one."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.engines.kubernetes.requests import amounts_of, less, quantities

GIB = Fraction(2**30)
VALUES = {
    "0": Fraction(0),
    "0.1": Fraction(1, 10),
    "100m": Fraction(1, 10),
    "1": Fraction(1),
    "1500m": Fraction(3, 2),
    "1e3": Fraction(1000),
    "2": Fraction(2),
    "1Gi": GIB,
    "1.5Gi": GIB * 3 / 2,
    "1G": Fraction(10**9),
}
NAMES = ("cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "nvidia.com/gpu")
AS_A_WHOLE = ("cpu", "memory", "hugepages-2Mi")

resource_lists = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(sorted(VALUES)), max_size=4)
resources = st.fixed_dictionaries({}, optional={"requests": resource_lists, "limits": resource_lists})
containers = st.fixed_dictionaries({"name": st.just("c")}, optional={"resources": resources})
inits = st.tuples(containers, st.sampled_from([None, "Always", "Never", "OnFailure"])).map(
    lambda pair: pair[0] if pair[1] is None else pair[0] | {"restartPolicy": pair[1]}
)
specs = st.fixed_dictionaries(
    {"containers": st.lists(containers, max_size=3)},
    optional={"initContainers": st.lists(inits, max_size=4), "overhead": resource_lists, "resources": resources},
)


def one(holder: dict[str, Any], name: str) -> Fraction:
    """What a container asks for of one resource: its request, else its limit."""
    stated = holder.get("resources", {})
    return VALUES[stated.get("requests", {}).get(name) or stated.get("limits", {}).get(name) or "0"]


def is_stated(spec: dict[str, Any], name: str) -> bool:
    """Whether any container says something of a resource."""
    of_all = [*spec["containers"], *spec.get("initContainers", [])]
    said = [stated for each in of_all for stated in each.get("resources", {}).values()]
    return any(name in stated for stated in said)


def at_most(spec: dict[str, Any], name: str) -> Fraction:
    """The most that runs at once, over all instants at which something has just started."""
    first = spec.get("initContainers", [])
    instants = []
    for at in range(len(first)):
        beside = [each for each in first[:at] if each.get("restartPolicy") == "Always"]
        instants.append(sum((one(each, name) for each in (*beside, first[at])), Fraction(0)))
    sidecars = [each for each in first if each.get("restartPolicy") == "Always"]
    instants.append(sum((one(each, name) for each in (*sidecars, *spec["containers"])), Fraction(0)))
    return max(instants)


def twin(spec: dict[str, Any]) -> dict[str, Fraction]:
    found = {}
    whole = spec.get("resources", {})
    for name in NAMES:
        amount = at_most(spec, name)
        if name in AS_A_WHOLE:
            asked, limit = whole.get("requests", {}).get(name), whole.get("limits", {}).get(name)
            if asked is not None:
                amount = VALUES[asked]
            elif limit is not None and (name.startswith("hugepages-") or not is_stated(spec, name)):
                amount = VALUES[limit]
        found[name] = amount + VALUES[spec.get("overhead", {}).get(name, "0")]
    return {name: amount for name, amount in found.items() if amount} | {"pods": Fraction(1)}


@given(specs)
def test_a_pod_asks_for_the_most_that_runs_at_once(spec: dict[str, Any]) -> None:
    found = amounts_of(spec)
    assert dict(found) == twin(spec)
    assert list(found) == sorted(found)


def container(policy: str = "", limits: dict[str, str] | None = None, **asked: str) -> dict[str, Any]:
    return {"restartPolicy": policy} | {"resources": {"requests": asked, "limits": limits or {}}}


@pytest.mark.parametrize(
    ("spec", "cpu"),
    [
        ({}, "0"),
        ({"containers": None, "initContainers": None, "overhead": None, "resources": None}, "0"),
        ({"containers": [{}, {"resources": None}, {"resources": {"requests": None, "limits": None}}]}, "0"),
        ({"containers": [container(cpu="0.1"), container(cpu="100m")]}, "0.2"),
        ({"containers": [container(limits={"cpu": "2"})]}, "2"),
        ({"containers": [container(limits={"cpu": "2"}, cpu="0")]}, "0"),
        ({"containers": [container(cpu="1e3")]}, "1000"),
        ({"containers": [container(cpu="-1"), container(cpu="much")]}, "0"),
        ({"containers": [container(cpu="1")], "initContainers": [container(cpu="3"), container(cpu="2")]}, "3"),
        ({"containers": [container(cpu="1")], "initContainers": [container("Always", cpu="1")]}, "2"),
        (
            {
                "containers": [container(cpu="1")],
                "initContainers": [container(cpu="2"), container("Always", cpu="1"), container(cpu="4")],
            },
            "5",
        ),
        (
            {
                "containers": [container(cpu="1")],
                "initContainers": [container(cpu="4"), container("Always", cpu="2"), container(cpu="1")],
            },
            "4",
        ),
        ({"containers": [container(cpu="1")], "overhead": {"cpu": "250m"}}, "1.25"),
        ({"containers": [container(cpu="1")], "resources": {"requests": {"cpu": "3"}}}, "3"),
        ({"containers": [container(cpu="1")], "resources": {"limits": {"cpu": "3"}}}, "1"),
        ({"containers": [container()], "resources": {"limits": {"cpu": "3"}}, "overhead": {"cpu": "1"}}, "4"),
    ],
)
def test_cores(spec: dict[str, Any], cpu: str) -> None:
    assert dict(amounts_of(spec)).get("cpu", 0) == Fraction(cpu)


def test_a_pod_as_a_whole_cannot_state_devices() -> None:
    two = {"resources": {"limits": {"nvidia.com/gpu": "2"}}}
    spec = {"containers": [two], "resources": {"requests": {"nvidia.com/gpu": "1"}}}
    assert dict(amounts_of(spec))["nvidia.com/gpu"] == 2


def test_every_pod_is_one() -> None:
    assert amounts_of({}) == (("pods", Fraction(1)),)


def test_a_number_is_as_good_as_a_text() -> None:
    assert quantities({"cpu": 2, "memory": 1e3, "x": None, "y": True}) == {"cpu": 2, "memory": 1000}
    assert quantities(None) == {}


def test_what_is_left_is_never_negative_and_of_nothing_else() -> None:
    there = (("cpu", Fraction(4)), ("memory", GIB))
    used = [(("cpu", Fraction(1)), ("pods", Fraction(1))), (("memory", 2 * GIB),)]
    assert less(there, used) == (("cpu", Fraction(3)), ("memory", Fraction(0)))
    assert less(there, []) == there
