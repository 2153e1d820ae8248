"""Plans side by side."""

from __future__ import annotations

from typing import Any

from fairhold.lab.comparing import differences


def consumer(**numbers: Any) -> dict[str, Any]:
    wait = {"count": 10, "mean": 0, "p95": 0, "max": 0} | numbers.pop("wait", {})
    same = dict.fromkeys(("deficit", "lost", "use", "longest", "stopped", "left_waiting", "borrowed"), 0)
    return same | numbers | {"wait": wait}


def document(**consumers: Any) -> dict[str, Any]:
    named = {f"/{name}": each for name, each in consumers.items()}
    return {"shared": [{"resource_group": "c", "resource": "slots", "base": 1, "consumers": named}]}


def test_the_weightiest_difference_comes_first() -> None:
    before = document(A=consumer(wait={"mean": 5}), B=consumer(lost=30), C=consumer())
    after = document(A=consumer(wait={"mean": 9}), B=consumer(lost=10), D=consumer())
    found = [(each.consumer, each.what, each.before, each.after) for each in differences(before, after)]
    assert found == [("/A", "wait.mean", 5, 9), ("/B", "lost", 30, 10)]


def test_what_is_borrowed_is_compared_and_comes_last() -> None:
    before = document(A=consumer(borrowed=5), B=consumer(lost=1))
    after = document(A=consumer(borrowed=2), B=consumer())
    assert [each.what for each in differences(before, after)] == ["lost", "borrowed"]


def test_equal_documents_differ_in_nothing() -> None:
    assert differences(document(A=consumer(use=3)), document(A=consumer(use=3))) == []


def test_other_resources_are_not_compared() -> None:
    other = document(A=consumer(use=3))
    other["shared"].append(other["shared"][0] | {"resource": "gpu"})
    (found,) = differences(document(A=consumer(use=4)), other)
    assert found.resource == "slots"


def test_slots_are_compared_with_what_stands_for_one() -> None:
    """A plan of slots and one of GPUs, counted in thousandths, on the same workload."""
    other = document(A=consumer(use=4_999, stopped=2, wait={"mean": 7_000}))
    other["shared"][0] |= {"resource_group": "", "resource": "gpu", "base": 1_000}
    found = differences(document(A=consumer(use=3, stopped=2, wait={"mean": 7_000})), other)
    assert [(each.resource, each.consumer, each.what, each.before, each.after) for each in found] == [
        ("slots", "/A", "use", 3, 4)
    ]
