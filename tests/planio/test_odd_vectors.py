"""Plans of vectors in which more is owned than there is, or that say what comes to nothing (SPEC §6.1, §6.3)."""

from __future__ import annotations

import pytest

from fairhold.errors import InputError
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from fairhold.planio.units import told_unit
from tests.planio.support import VECTORS, faults_of, swapped
from tests.planio.test_read_vectors import PLAN, owning, warnings_of
from tests.planio.test_vector_states import STATE


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
    "said",
    ["own: [{resource_group: main, hosts: 1, reserved: true, lend_grace: 5s}]", "share_limit: {}"],
)
def test_what_changes_nothing_is_told(said: str) -> None:
    text = swapped(owning("[]"), "/Trading/FX: {own: []}", f"/Research: {{{said}}}")
    assert [code for code, _ in warnings_of(text)] == ["no-effect"]


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


@pytest.mark.parametrize(
    ("old", "new", "code", "place", "mend"),
    [
        ("name: r1", 'name: "r\\01"', "name", "hosts.0.name", "use letters"),
        ("name: r1", 'name: "r[1-2]\\0"', "name", "hosts.0.name", "use letters"),
        (
            "own: [{resource_group: main, hosts: 1}]",
            'own: [{resource_group: main, hosts: ["g\\0"]}]',
            "unknown-host",
            "own.0.hosts",
            "name a host",
        ),
        ("reclaim_grace: 30s", 'reclaim_grace: "0"', "duration", "/Trading/Risk.reclaim_grace", "write `0s`"),
        (
            "share_limit: {gpu: 6}",
            "share_limit: {slots: 6}",
            "unknown-resource",
            "share_limit.slots",
            "some of `cpu`, `memory`",
        ),
        ("share_limit: {gpu: 6}", 'share_limit: {gpu: "-6"}', "negative", "share_limit.gpu", "0 or more"),
        ("memory: 512", 'memory: "1.5 cpu"', "amount-unit", "hosts.0.memory", "as 1.5GiB, or in a unit of bytes"),
        ("memory: 512", 'memory: "-2GiB"', "negative", "hosts.0.memory", "0 or more"),
        ("memory: 512", 'memory: "1B"', "no-multiple", "hosts.0.memory", "write 1MiB"),
        ("memory: 512", 'memory: "5 "', "not-a-number", "hosts.0.memory", "a number in GiB"),
        ("cpu: 64", 'cpu: "0.3 cpu"', "amount-unit", "hosts.0.cpu", "write a bare number such as 1 or 0.5"),
        ("cpu: 64", 'cpu: "1e99"', "out-of-range", "hosts.0.cpu", "a smaller amount"),
        ("cpu: 64", "cpu: 0.0003", "no-multiple", "hosts.0.cpu", "write 0.001"),
        ("cpu: 64", "cpu: .nan", "bad-number", "", "write a number"),
        ("Research: {}}", "Research: {}, Research: {}}", "duplicate-key", "consumers.Research", "keep one"),
    ],
)
def test_odd_values_are_one_fault_with_place_and_mend(old: str, new: str, code: str, place: str, mend: str) -> None:
    (fault,) = faults_of(swapped(VECTORS, old, new))
    assert (fault.code, ".".join(map(str, fault.place)).endswith(place), fault.line > 0) == (code, True, True), fault
    assert mend in fault.mend, fault


def test_a_notice_without_its_host_is_one_fault() -> None:
    with pytest.raises(InputError) as caught:
        parse_state(swapped(STATE, "host: g2, units: 1, for", "units: 1, for"), PLAN, "state.yaml")
    assert [fault.code for fault in caught.value.faults] == ["missing-key"]


@pytest.mark.parametrize(
    ("said", "code", "mend"),
    [
        ({"cpu": "-1"}, "negative", "write 0 or more"),
        ({"cpu": "1.5 GiB"}, "amount-unit", "write a bare number such as 1 or 0.5"),
        ({"memory": "2min"}, "amount-unit", "write it in GiB, as 2GiB"),
        ({"cpu": 0.0003}, "no-multiple", "write 0.001"),
        ({"cpu": 0}, "out-of-range", "write an amount above 0 of one resource at least"),
        ({"cpus": 1}, "unknown-resource", "did you mean `cpu`?"),
        ({"CPU": 1}, "unknown-resource", "did you mean `cpu`?"),
        ({"slots": 1}, "unknown-resource", "name some of `cpu`, `memory`, `gpu`"),
    ],
)
def test_a_unit_of_a_submit_is_refused_with_its_mend(said: dict[str, int | float | str], code: str, mend: str) -> None:
    with pytest.raises(InputError) as caught:
        told_unit(PLAN, said)
    (fault,) = caught.value.faults
    assert (fault.code, fault.place[0]) == (code, "unit")
    assert mend in fault.mend
