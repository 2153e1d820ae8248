"""Plans of vectors in which more is owned than there is, or that say what comes to nothing (SPEC §6.1, §6.3)."""

from __future__ import annotations

import pytest

from fairhold.planio.plan import parse_plan
from tests.planio.support import VECTORS, faults_of, swapped
from tests.planio.test_read_vectors import owning, warnings_of


@pytest.mark.parametrize(
    ("trading", "research", "codes"),
    [
        ("hosts: 3", "total: {gpu: 17}", ["overcommitted"]),  # 8 of each of the other hosts
        ("hosts: 3", "total: {gpu: 8}", []),
        ('hosts: "60%"', "total: {gpu: 17}", ["overcommitted"]),
        ("per_host: {gpu: 4}", "total: {gpu: 17}", ["overcommitted"]),
        ("per_host: {gpu: 4}", "total: {gpu: 16}", []),
        ('per_host: {gpu: "60%"}', 'per_host: {cpu: "60%"}', ["overcommitted"]),  # those left out follow
        ("hosts: 3", 'per_host: {cpu: "50%"}', ["overcommitted"]),
        ("hosts: 5", "hosts: remaining", ["owns-nothing"]),
        ("hosts: 1", 'hosts: "10%"', ["owns-nothing"]),
        ("total: {cpu: 9}", 'per_host: {gpu: "5%"}', ["owns-nothing"]),
        ("total: {cpu: 9}", "total: {cpu: 0.4}", ["owns-nothing"]),
    ],
)
def test_what_goes_beyond_a_group_or_comes_to_nothing_is_told(trading: str, research: str, codes: list[str]) -> None:
    said = f"/Research: {{own: [{{resource_group: main, {research}}}]}}"
    text = swapped(owning(f"[{{resource_group: main, {trading}}}]"), "/Trading/FX: {own: []}", said)
    assert [code for code, _ in warnings_of(text)] == codes


def test_a_private_pool_grace_needs_a_private_pool() -> None:
    (fault,) = faults_of(swapped(VECTORS, "share_ratio: 3", "share_ratio: 3, private_pool_grace: 5s"))
    assert (fault.code, fault.place[-1]) == ("no-private-pool", "private_pool_grace")
    nothing = swapped(owning("[]"), "/Trading: {own: []}", "/Trading: {private_pool_grace: 5s}")
    assert [code for code, _ in warnings_of(nothing)] == ["private-pool-empty"]


@pytest.mark.parametrize(
    ("said", "words"), [("0.5", "stays idle"), ("1e-9", "to nothing"), ("1.000001", "what it has")]
)
def test_an_overcommit_that_is_odd_is_told(said: str, words: str) -> None:
    text = VECTORS.replace("overcommit: 1.5", f"overcommit: {said}")
    (warning,) = parse_plan(text, "plan.yaml")[1]
    assert (warning.code, warning.place) == ("odd-overcommit", ("resources", "cpu", "overcommit"))
    assert words in warning.what


def test_a_host_without_amounts_is_one_fault() -> None:
    for old, new in (("{name: r1, cpu: 8}", "{name: r1}"), ("{name: big, cpu: 128", "{name: big")):
        assert [fault.code for fault in faults_of(swapped(VECTORS, old, new))] == ["missing-key"]
