"""Which nodes a pod accepts, against the documented rules written out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.engines.kubernetes.constraints import Taint, constraint_of, taints_of

KEYS = ("zone", "cards")
VALUES = ("a", "b", "2", "10", "-3", "")
EFFECTS = ("NoSchedule", "NoExecute", "PreferNoSchedule")

some_labels = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES))
expressions = st.one_of(
    st.fixed_dictionaries(
        {
            "key": st.sampled_from(KEYS),
            "operator": st.sampled_from(["In", "NotIn"]),
            "values": st.lists(st.sampled_from(VALUES), min_size=1, max_size=3),
        }
    ),
    st.fixed_dictionaries({"key": st.sampled_from(KEYS), "operator": st.sampled_from(["Exists", "DoesNotExist"])}),
    st.fixed_dictionaries(
        {
            "key": st.sampled_from(KEYS),
            "operator": st.sampled_from(["Gt", "Lt"]),
            "values": st.lists(st.sampled_from(["2", "5", "-3"]), min_size=1, max_size=1),
        }
    ),
)
fields = st.fixed_dictionaries(
    {
        "key": st.just("metadata.name"),
        "operator": st.sampled_from(["In", "NotIn"]),
        "values": st.lists(st.sampled_from(["n1", "n2"]), min_size=1, max_size=1),
    }
)
terms = st.fixed_dictionaries(
    {}, optional={"matchExpressions": st.lists(expressions, max_size=3), "matchFields": st.lists(fields, max_size=2)}
)
tolerations = st.one_of(
    st.fixed_dictionaries(
        {"operator": st.just("Exists")},
        optional={"key": st.sampled_from(KEYS), "effect": st.sampled_from(EFFECTS)},
    ),
    st.fixed_dictionaries(
        {"key": st.sampled_from(KEYS)},
        optional={
            "operator": st.sampled_from(["Equal", "Gt", "Lt"]),
            "value": st.sampled_from(VALUES),
            "effect": st.sampled_from(EFFECTS),
        },
    ),
)
taints = st.fixed_dictionaries(
    {"key": st.sampled_from(KEYS), "effect": st.sampled_from(EFFECTS)}, optional={"value": st.sampled_from(VALUES)}
)


def affinity(*stated: dict[str, Any]) -> dict[str, Any]:
    needed = {"nodeSelectorTerms": list(stated)}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": needed}}


def is_met(expression: dict[str, Any], labels: dict[str, str]) -> bool:
    key, there = expression["key"], expression["key"] in labels
    match expression["operator"]:
        case "In":
            return there and labels[key] in expression["values"]
        case "NotIn":
            return not there or labels[key] not in expression["values"]
        case "Exists":
            return there
        case "DoesNotExist":
            return not there
        case operator:
            [limit] = expression["values"]
            if not there or not {labels[key], limit} <= {"2", "5", "10"}:  # labels have no signs
                return False
            value, bound = int(labels[key]), int(limit)
            return value > bound if operator == "Gt" else value < bound


def is_tolerated(taint: dict[str, str], toleration: dict[str, str]) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    mine, its = toleration.get("value", ""), taint.get("value", "")
    match toleration.get("operator", "Equal"):
        case "Exists":
            return True
        case "Equal":
            return mine == its
        case operator:
            if not {mine, its} <= {"2", "10", "-3"}:
                return False
            return int(its) > int(mine) if operator == "Gt" else int(its) < int(mine)


@given(some_labels, st.lists(terms, max_size=3), some_labels, st.sampled_from(["n1", "n2", "n3"]))
def test_required_affinity_is_met_by_one_of_its_terms(
    selector: dict[str, str], stated: list[dict[str, Any]], labels: dict[str, str], name: str
) -> None:
    constraint = constraint_of({"nodeSelector": selector, "affinity": affinity(*stated)})
    is_one_met = any(
        (term.get("matchExpressions") or term.get("matchFields"))
        and all(is_met(each, labels) for each in term.get("matchExpressions", []))
        and all(is_met(each, {"metadata.name": name}) for each in term.get("matchFields", []))
        for term in stated
    )
    is_selected = all(labels.get(key) == value for key, value in selector.items())
    assert constraint.suits(name, labels, ()) is (is_one_met and is_selected)
    assert isinstance(str(constraint), str)


@given(st.lists(tolerations, max_size=3), st.lists(taints, max_size=3))
def test_each_taint_that_keeps_out_is_tolerated(stated: list[dict[str, str]], there: list[dict[str, str]]) -> None:
    constraint = constraint_of({"tolerations": stated})
    expected = all(
        any(is_tolerated(taint, each) for each in stated)
        for taint in there
        if taint["effect"] in {"NoSchedule", "NoExecute"}
    )
    assert constraint.suits("n1", {}, taints_of({"taints": there})) is expected


@pytest.mark.parametrize(
    ("value", "operator", "bound", "is_good"),
    [
        ("10", "Gt", "9", True),
        ("10", "Gt", "10", False),
        ("5", "Gt", "-4", False),
        ("5", "Gt", "+4", False),
        ("007", "Lt", "8", True),
        ("1_000", "Gt", "9", False),
        ("\u0661\u0660", "Gt", "9", False),
        ("9223372036854775807", "Gt", "9", True),
        ("9223372036854775808", "Gt", "9", False),
        ("10", "Ge", "9", False),
        ("8", "Ge", "9", False),
        ("10", "", "10", False),
        ("10", "Gt", "x", False),
    ],
)
def test_numbers_of_labels(value: str, operator: str, bound: str, *, is_good: bool) -> None:
    term = {"matchExpressions": [{"key": "k", "operator": operator, "values": [bound]}]}
    assert constraint_of({"affinity": affinity(term)}).suits("n", {"k": value}, ()) is is_good


@pytest.mark.parametrize(
    ("toleration", "is_good"),
    [
        ({"key": "k", "operator": "Gt", "value": "5"}, True),
        ({"key": "k", "operator": "Gt", "value": "05"}, False),
        ({"key": "k", "operator": "Lt", "value": "5"}, False),
        ({"key": "k", "operator": "Other", "value": "7"}, False),
        ({"key": "k", "value": "7"}, True),
        ({"key": "k", "operator": "", "value": "7"}, True),
        ({"operator": "Exists"}, True),
        ({"operator": "Exists", "effect": "NoExecute"}, False),
        ({}, False),
    ],
)
def test_tolerations(toleration: dict[str, str], *, is_good: bool) -> None:
    taint = Taint("k", "7", "NoSchedule")
    assert constraint_of({"tolerations": [toleration]}).tolerates(taint) is is_good


def test_affinity_without_terms_takes_no_node() -> None:
    assert constraint_of({}).suits("n", {}, ())
    assert constraint_of({"affinity": None, "nodeSelector": None, "tolerations": None}).suits("n", {}, ())
    assert not constraint_of({"affinity": affinity()}).suits("n", {}, ())
    assert not constraint_of({"affinity": affinity({})}).suits("n", {}, ())
    assert constraint_of({"affinity": {"nodeAffinity": {"preferredDuring": [{}]}}}).suits("n", {}, ())


def test_what_is_missing_is_met_by_no_node() -> None:
    for expression in ({}, {"key": "k"}, {"operator": "In"}, {"key": "k", "operator": "Gt"}):
        term: dict[str, Any] = {"matchExpressions": [expression]}
        assert not constraint_of({"affinity": affinity(term)}).suits("n", {"k": "1"}, ())
    assert taints_of({"taints": [{}, {"key": "k"}, {"effect": "NoSchedule"}]}) == (Taint("", "", "NoSchedule"),)


def test_pods_that_say_the_same_are_one() -> None:
    first = {"nodeSelector": {"a": "1", "b": "2"}, "tolerations": [{"key": "x"}, {"key": "y"}]}
    second = {"nodeSelector": {"b": "2", "a": "1"}, "tolerations": [{"key": "y"}, {"key": "x", "operator": "Equal"}]}
    assert constraint_of(first) == constraint_of(second)


def test_words() -> None:
    term = {
        "matchExpressions": [
            {"key": "zone", "operator": "NotIn", "values": ["a", "b"]},
            {"key": "cards", "operator": "Gt", "values": ["2"]},
            {"key": "disk", "operator": "Exists"},
        ],
        "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}],
    }
    constraint = constraint_of({"nodeSelector": {"pool": "x"}, "affinity": affinity(term, {}, {})})
    assert str(constraint) == (
        "pool=x, zone not in (a, b), cards > 2, disk is there, metadata.name in (n1), or one of 2 other terms"
    )
    assert not str(constraint_of({}))
