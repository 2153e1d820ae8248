"""Random queues of KAI and Kueue: the plan is good, sums are preserved, what is wrong is a fault and no traceback."""

from __future__ import annotations

import json
from contextlib import suppress
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from fairhold.errors import InputError
from fairhold.planio.plan import parse_plan
from fairhold.units import UNLIMITED, parse_quantity
from tests.planio.importing import Json, bounds, cluster_queue, imported, kueue_object, plan_of, queue, stream
from tests.planio.test_import_nodes import node

if TYPE_CHECKING:
    from collections.abc import Callable

SCALE = {"cpu": 1, "memory": 1, "gpu": 1000}
amount = st.one_of(st.just(-1), st.integers(0, 10**6), st.integers(0, 4000).map(lambda quarters: quarters / 4))
numbers = st.fixed_dictionaries({}, optional={"quota": amount, "limit": amount, "overQuotaWeight": st.integers(0, 9)})
name = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z"), exclude_characters="/"), min_size=1)


@st.composite
def forests(draw: Callable[..., Any]) -> list[Json]:
    """Queues whose parents come before or after them."""
    names = draw(st.lists(name, min_size=1, max_size=12, unique=True))
    made = []
    for at, each in enumerate(names):
        parent = draw(st.sampled_from(["", *names[:at]]))
        spec: Json = {"resources": draw(st.fixed_dictionaries(dict.fromkeys(SCALE, numbers)))}
        if draw(st.booleans()):
            spec["priority"] = draw(st.integers(0, 1000))
        made.append(queue(each, parent) | {"spec": ({"parentQueue": parent} if parent else {}) | spec})
    shuffled: list[Json] = draw(st.permutations(made))
    return shuffled


def units(resource: str, value: float) -> int:
    return UNLIMITED if value == -1 else floor(Fraction(value) * SCALE[resource])


@given(forests(), st.booleans())
def test_queues_of_kai_are_a_good_plan_with_their_numbers(queues: list[Json], is_list: bool) -> None:  # noqa: FBT001
    text = json.dumps({"kind": "List", "apiVersion": "v1", "items": queues}) if is_list else stream(*queues)
    result = imported("kai", text)
    plan = plan_of(result)
    assert len(plan.tree) - 1 == len(queues)
    by_name = {each["metadata"]["name"]: each for each in queues}
    for path in plan.tree.paths[1:]:
        above, _, own = path.rpartition("/")
        spec = by_name[own]["spec"]
        assert above.rpartition("/")[2] == spec.get("parentQueue", "")
        deserved, limit = bounds(plan, path, "deserved"), bounds(plan, path, "limit")
        for resource, stated in spec["resources"].items():
            assert deserved.get(resource, 0) == units(resource, stated.get("quota", 0))
            assert limit.get(resource, UNLIMITED) == units(resource, stated.get("limit", 0))
    total = {each: sum(bounds(plan, path, "deserved").get(each, 0) for path in plan.tree.paths[1:]) for each in SCALE}
    assert total == {
        each: sum(units(each, queue["spec"]["resources"][each].get("quota", 0)) for queue in queues) for each in SCALE
    }


quantity = st.from_regex(r"[0-9]{1,4}(\.[0-9]{1,3})?(m|k|Ki)?", fullmatch=True)


@st.composite
def cohorts(draw: Callable[..., Any]) -> list[Json]:
    """Cohorts in trees and ClusterQueues below them, with quotas in two flavors."""
    made = []
    names = [f"c{at}" for at in range(draw(st.integers(0, 5)))]
    for at, each in enumerate(names):
        parent = draw(st.sampled_from(["", *names[:at]]))
        spec = {"resourceGroups": draw(groups(has_parent=bool(parent)))} | ({"parentName": parent} if parent else {})
        made.append(kueue_object("Cohort", each, **spec))
    for at in range(draw(st.integers(1, 5))):
        cohort = draw(st.sampled_from(["", "implied", *names]))
        made.append(cluster_queue(f"q{at}", cohort, resourceGroups=draw(groups(has_parent=bool(cohort)))))
    shuffled: list[Json] = draw(st.permutations(made))
    return shuffled


@st.composite
def groups(draw: Callable[..., Any], *, has_parent: bool) -> list[Json]:
    flavors = draw(st.lists(st.sampled_from(["f", "g"]), min_size=1, unique=True))
    optional = {"borrowingLimit": quantity} if has_parent else {}
    made = [
        {
            "name": flavor,
            "resources": [
                {"name": resource, "nominalQuota": draw(quantity)} | draw(st.fixed_dictionaries({}, optional=optional))
                for resource in ("cpu", "memory", "x.org/gpu")
            ],
        }
        for flavor in flavors
    ]
    return [{"coveredResources": ["cpu", "memory", "x.org/gpu"], "flavors": made}]


@given(cohorts())
def test_a_cohort_deserves_what_it_has_and_those_below_it_have(objects: list[Json]) -> None:
    result = imported("kueue", stream(*objects))
    assert {each.code for each in result.warnings} == set()
    plan, tree = plan_of(result), plan_of(result).tree
    by_name = {each["metadata"]["name"]: each["spec"] for each in objects}
    for row, path in enumerate(tree.paths[1:], 1):
        deserved = bounds(plan, path, "deserved")
        below = [bounds(plan, tree.paths[child], "deserved") for child in tree.children[row]]
        own = own_cpus(by_name.get(path.rpartition("/")[2], {}))
        total = sum(units for each in (deserved,) for key, units in each.items() if key.endswith("cpu"))
        children = sum(units for each in below for key, units in each.items() if key.endswith("cpu"))
        assert total == own + children


def own_cpus(spec: Json) -> int:
    """Thousandths of CPUs, rounded down quota by quota."""
    found = 0
    for group in spec.get("resourceGroups", []):
        for flavor in group["flavors"]:
            number = parse_quantity(flavor["resources"][0]["nominalQuota"])
            assert number is not None
            found += floor(number * 1000)
    return found


junk = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(), inner, max_size=3)),
    max_leaves=6,
)


def places(value: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [above, *(place for step, each in steps for place in places(each, (*above, step)))]


def replaced(value: Any, place: tuple[Any, ...], by: object) -> Any:
    if not place:
        return by
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[place[0]] = replaced(value[place[0]], place[1:], by)
    return copy


@given(st.data())
def test_whatever_stands_anywhere_is_a_plan_or_a_fault(data: st.DataObject) -> None:
    system = data.draw(st.sampled_from(["kai", "kueue"]))
    objects = data.draw(forests() if system == "kai" else cohorts())
    objects += [node("g1", {"kind": "a100"}), kueue_object("ResourceFlavor", "f", nodeLabels={"kind": "a100"})]
    objects = objects[:-1] if system == "kai" else objects
    at = data.draw(st.integers(0, len(objects) - 1))
    objects[at] = replaced(objects[at], data.draw(st.sampled_from(places(objects[at]))), data.draw(junk))
    given_text = stream(*objects)
    with suppress(InputError):
        parse_plan(imported(system, given_text).text, "plan.yaml")


@given(st.text())
def test_any_text_is_a_plan_or_a_fault(text: str) -> None:
    for system in ("kai", "kueue"):
        with suppress(InputError):
            imported(system, text)
