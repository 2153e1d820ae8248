"""Plans of `multidimensional`: resources, hosts, and what is owned of them (SPEC §6.1, §6.3, §11)."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fairhold.model.budget import counted
from fairhold.model.plan import ConsumerSettings
from fairhold.model.vector import Owning, Resource, amounts_document
from fairhold.planio.document import parse_document
from fairhold.planio.plan import parse_plan
from fairhold.planio.report import Report
from fairhold.planio.resources import read_amount
from fairhold.units import LARGEST
from tests.planio.support import VECTORS, faults_of, swapped, told

PLAN = parse_plan(VECTORS, "plan.yaml")[0]
TRADING = "[{resource_group: main, hosts: 3}]"
BASES = (1, 4, 1000, 1024, 1000**2, 1024**2, 2**30)


def owning(trading: str, risk: str = "[]", fx: str = "[]") -> str:
    both = f"/Trading: {{own: {trading}}}\n      /Trading/Risk: {{own: {risk}}}\n      /Trading/FX: {{own: {fx}}}\n"
    return VECTORS[: VECTORS.index("/Trading: {own")] + both


def owned(text: str, path: str = "/Trading") -> Owning:
    found, _ = parse_plan(text, "plan.yaml")
    (own,) = found.policies[0].consumers[found.tree.rows[path]].own
    return own


def test_resources_have_base_units() -> None:
    assert PLAN.resources == (
        Resource("cpu", "", 1000, 500, Fraction(3, 2)),
        Resource("memory", "GiB", 1024, 1024, Fraction(1)),
        Resource("gpu", "", 1, 1, Fraction(1)),
    )


@pytest.mark.parametrize(
    ("said", "base"),
    [
        ("{}", 1000),
        ("{unit: GiB}", 1024),
        ("{unit: MiB}", 1024),
        ("{unit: B}", 1),
        ("{unit: GB}", 1000),
        ("{unit: licences}", 1000),
        ("{unit: GiB, base: KiB}", 1024**2),
        ("{unit: GiB, base: GiB}", 1),
        ("{unit: GB, base: kB}", 1000**2),
        ("{base: 0.25}", 4),
        ("{base: 1e-6}", 10**6),
        ('{base: "0.001"}', 1000),
        (None, 1000),
    ],
)
def test_a_base_unit_is_a_part_of_the_declared_unit(said: str, base: int) -> None:
    text = swapped(VECTORS, "gpu: {base: 1}", f"gpu: {said or ''}")
    assert parse_plan(text, "plan.yaml")[0].resources[2].base == base


@given(base=st.sampled_from(BASES), units=st.integers(1, LARGEST), is_json=st.booleans())
@example(base=2**30, units=2**30 + 1, is_json=True)
@example(base=1024**2, units=LARGEST - 1, is_json=True)
def test_amounts_are_written_exactly(base: int, units: int, *, is_json: bool) -> None:
    resource = Resource("x", "", base, base)
    said = amounts_document((resource,), (units,))["x"]
    text = json.dumps(said) if is_json else f"x: {json.dumps(said)}"
    value = json.loads(text) if is_json else parse_document(text, "f").value["x"]  # type: ignore[index, call-overload]
    report = Report(parse_document("x: 1", "f"))
    assert read_amount(report, value, ("x",), resource) == units
    assert report.faults == []


def test_hosts_have_amounts_in_the_order_of_the_resources() -> None:
    groups = PLAN.resource_groups
    g1, *_, big = groups["main"].hosts
    assert (g1.name, g1.slots, g1.amounts) == ("g1", 0, (64_000, 512 * 1024, 8))
    assert (big.amounts, big.labels) == ((128_000, 0, 0), (("large", ""),))
    assert groups["main"].slots == 0


def test_settings_are_read() -> None:
    (entry,) = PLAN.policies
    assert entry.settings.public_pool_grace == 60_000_000
    own = Owning("main", hosts=3)
    assert entry.consumers == {
        1: ConsumerSettings(own=(own,), share_limit=((2, 6),)),
        2: ConsumerSettings(own=(Owning("main", hosts=1),), grace=30_000_000),
        4: ConsumerSettings(share_priority=2, share_ratio=3),
    }


@pytest.mark.parametrize(
    ("said", "noun"),
    [
        ("hosts: 2", Owning("main", hosts=2)),
        ('hosts: "40%"', Owning("main", percent=Fraction(2, 5))),
        ('hosts: "12.5 %"', Owning("main", percent=Fraction(1, 8))),
        ("hosts: remaining", Owning("main", remaining=True)),
        ('hosts: ["g[2-3]", big]', Owning("main", names=("g2", "g3", "big"))),
        ('per_host: {gpu: 2, cpu: "50%"}', Owning("main", per_host=((0, Fraction(1, 2)), (2, 2)))),
        ('per_host: {gpu: "100%", cpu: 1}', Owning("main", per_host=((0, 1000), (2, Fraction(1))))),
        ("total: {memory: 0.5}", Owning("main", total=((1, 512),))),
        ("total: {memory: 0.5GiB}", Owning("main", total=((1, 512),))),
        ("total: {memory: 512 MiB}", Owning("main", total=((1, 512),))),
        ("total: {memory: 512Mi}", Owning("main", total=((1, 512),))),
        ("total: {memory: 524288K}", Owning("main", total=((1, 512),))),
        ('total: {memory: "5e-1"}', Owning("main", total=((1, 512),))),
        ("hosts: 1, preference: 10, reserved: true", Owning("main", hosts=1, preference=10, reserved=True)),
        ("hosts: 1, lend_grace: 0s", Owning("main", hosts=1, lend_grace=0)),
        ("hosts: 1, lend_grace: none", Owning("main", hosts=1)),
        (
            "hosts: 1, reclaim_before_next_level: true, preference: 1",
            Owning("main", hosts=1, reclaim_before_next_level=True, preference=1),
        ),
    ],
)
def test_what_is_owned_can_be_said_in_every_way(said: str, noun: Owning) -> None:
    assert owned(owning(f"[{{resource_group: main, {said}}}]")) == noun


@pytest.mark.parametrize(
    ("old", "new", "code", "place", "mend"),
    [
        ("step: 0.5", "step: 0.0005", "no-multiple", "resources.cpu.step", "write 0.001"),
        ("step: 0.5", "step: 0", "out-of-range", "resources.cpu.step", "write an amount above 0, or leave it out"),
        ("step: 0.5", "step: -1", "negative", "resources.cpu.step", "write an amount above 0"),
        ("overcommit: 1.5", "overcommit: 0", "out-of-range", "resources.cpu.overcommit", "exactly what there is"),
        ("overcommit: 1.5", "overcommit: -2", "negative", "resources.cpu.overcommit", "exactly what there is"),
        ("overcommit: 1.5", "overcommit: a lot", "not-a-number", "resources.cpu.overcommit", "such as 1.5"),
        ("unit: GiB", "unit: 5", "not-a-string", "resources.memory.unit", "quote it"),
        ("unit: GiB", "unt: GiB", "unknown-key", "resources.memory.unt", "did you mean `unit`?"),
        ("base: 1", "base: 0.3", "base-unit", "resources.gpu.base", "0.001, 0.5 or 1"),
        ("base: 1", "base: 2", "base-unit", "resources.gpu.base", "0.001, 0.5 or 1"),
        ("base: 1", "base: MiB", "base-unit", "resources.gpu.base", "0.001, 0.5 or 1"),
        ("base: 1", "base: 1e-12", "base-unit", "resources.gpu.base", "a larger base unit"),
        ("gpu: {base", "slots: {base", "name", "resources.slots", "another name"),
        ("gpu: 8}", "gpu: 8.25}", "no-multiple", "resource_groups.main.hosts.0.gpu", "write 8"),
        ("gpu: 8}", "gpu: 8.5}", "no-multiple", "resource_groups.main.hosts.0.gpu", "write 8"),
        ("gpu: 8}", "gpu: 0.1}", "no-multiple", "resource_groups.main.hosts.0.gpu", "write 1"),
        (
            "memory: 512",
            "memory: 0.1",
            "no-multiple",
            "resource_groups.main.hosts.0.memory",
            "write 102MiB, or a smaller `base` of `memory` in the plan",
        ),
        ("memory: 512", "memory: 1e-999", "no-multiple", "resource_groups.main.hosts.0.memory", "write 1MiB"),
        ("memory: 512", "memory: 1e300", "out-of-range", "resource_groups.main.hosts.0.memory", "a smaller amount"),
        ("memory: 512", "memory: -1e300", "negative", "resource_groups.main.hosts.0.memory", "0 or more"),
        ("memory: 512", "memory: 512m", "amount-unit", "resource_groups.main.hosts.0.memory", "as 512GiB"),
        ("memory: 512", "memory: true", "not-a-number", "resource_groups.main.hosts.0.memory", "a number in GiB"),
        ("memory: 512", "memry: 512", "unknown-resource", "resource_groups.main.hosts.0.memry", "mean `memory`?"),
        ("memory: 512", "slots: 4", "slots-and-vectors", "resource_groups.main.hosts.0.slots", "leave one out"),
        ("cpu: 128", "slots: 4", "slots-and-vectors", "resource_groups.main.hosts", "two resource groups"),
        ("{name: r1, cpu: 8}", "{name: r1}", "missing-key", "resource_groups.rest.hosts.0", "an amount, as `cpu: 8`"),
        ("{name: r1, cpu: 8}", "null", "missing-key", "resource_groups.rest.hosts.0", "`name:`"),
        ("r1, cpu: 8}", "'r[1-1234567890]', cpu: 8}", "host-range", "hosts.0.name", "`g[01-20]`"),
        ("{name: r1, cpu: 8}", "{name: r1, cpu: 0}", "out-of-range", "resource_groups.rest.hosts.0", "above 0"),
        ("rest: {", "rest: {configured_slots: 5, ", "slots-and-vectors", "rest.configured_slots", "leave it out"),
        ("policy: multidimensional", "policy: ownership", "slots-and-vectors", "0.resource_groups", "multidimensional"),
        ("cpu: 64", "cpu: 1e9", "", "", ""),
        ("share_limit: {gpu: 6}", "share_limit: {gpu: -1}", "negative", "/Trading.share_limit.gpu", "0 or more"),
        ("share_limit: {gpu: 6}", "share_limit: {gup: 1}", "unknown-resource", "share_limit.gup", "mean `gpu`?"),
        ("share_priority: 2", "share_priority: -2", "negative", "/Research.share_priority", "from 0"),
        ("share_ratio: 3", "share_ratio: -3", "negative", "/Research.share_ratio", "from 0"),
        ("share_ratio: 3", "limit: 3", "other-policy", "/Research.limit", "leave it out"),
        ("share_ratio: 3", "lend_grace: 3s", "wrong-place", "/Research.lend_grace", "in an entry of `own`"),
        ("balanced", "balance", "unknown-word", "settings.packing", "did you mean `balanced`?"),
        ("Research: {}", "Research: {share_priority: 1}", "wrong-place", "Research.share_priority", "`policies:`"),
    ],
)
def test_a_bad_plan_is_refused_with_place_and_mend(old: str, new: str, code: str, place: str, mend: str) -> None:
    text = swapped(VECTORS, old, new)
    if not code:
        assert parse_plan(text, "plan.yaml")[0].resource_groups["main"].hosts[0].amounts[0] == 10**12
        return
    faults = faults_of(text)
    assert code in {fault.code for fault in faults}, told(faults)
    fault = next(fault for fault in faults if fault.code == code)
    assert ".".join(map(str, fault.place)).endswith(place), fault
    assert mend in fault.mend, fault


@pytest.mark.parametrize(
    ("trading", "risk", "fx", "code", "place", "mend"),
    [
        ("hosts: 0", "", "", "out-of-range", "/Trading.own.0.hosts", "write 1 or more"),
        ("hosts: -1", "", "", "negative", "/Trading.own.0.hosts", "from 1"),
        ("hosts: 1.5", "", "", "not-whole", "/Trading.own.0.hosts", "write 1 or 2"),
        ('hosts: "0%"', "", "", "out-of-range", "/Trading.own.0.hosts", "percentage such as `40%`"),
        ('hosts: "101%"', "", "", "out-of-range", "/Trading.own.0.hosts", "percentage such as `40%`"),
        ("hosts: all", "", "", "unknown-word", "/Trading.own.0.hosts", "`remaining`"),
        ("hosts: {g1: 1}", "", "", "wrong-type", "/Trading.own.0.hosts", "`remaining`"),
        ("hosts: []", "", "", "missing-key", "/Trading.own.0.hosts", "name one"),
        ("hosts: [g1, g1]", "", "", "duplicate-host", "/Trading.own.0.hosts.1", "leave one out"),
        ('hosts: ["g[2-1]"]', "", "", "host-range", "/Trading.own.0.hosts.0", "write `g[01-20]`"),
        ("hosts: [g5]", "", "", "unknown-host", "/Trading.own.0.hosts", "name a host"),
        ("hosts: [r1]", "", "", "wrong-host", "/Trading.own.0.hosts", "name a host of `main`"),
        ("hosts: 1, total: {cpu: 1}", "", "", "owned-in-one-way", "/Trading.own.0.total", "write one of"),
        ("reserved: true", "", "", "owned-in-one-way", "/Trading.own.0", "write one of"),
        ("per_host: {}", "", "", "missing-key", "/Trading.own.0.per_host", "`{cpu: 4}`"),
        ("per_host: {cpu: 0}", "", "", "out-of-range", "/Trading.own.0.per_host.cpu", "above 0"),
        ('per_host: {cpu: "0%"}', "", "", "out-of-range", "/Trading.own.0.per_host.cpu", "percentage such as `40%`"),
        ("per_host: {cpus: 1}", "", "", "unknown-resource", "/Trading.own.0.per_host.cpus", "mean `cpu`?"),
        ("total: {cpu: 0}", "", "", "out-of-range", "/Trading.own.0.total.cpu", "above 0"),
        ("total: {cpu: 0.0001}", "", "", "no-multiple", "/Trading.own.0.total.cpu", "write 0.001"),
        ("hosts: 1, preference: 0", "", "", "out-of-range", "/Trading.own.0.preference", "from 1 to 10"),
        ("hosts: 1, preference: 11", "", "", "out-of-range", "/Trading.own.0.preference", "from 1 to 10"),
        ("hosts: 1, lend_grace: 30", "", "", "duration", "/Trading.own.0.lend_grace", "write `30s`"),
        ("hosts: 1, lend_grace: -1", "", "", "duration", "/Trading.own.0.lend_grace", "write `30s`, `1m30s`"),
        # A child's lies inside its parent's (S2.14).
        ("hosts: 2", "hosts: 1", "total: {gpu: 9}", "children-own-more", "/Trading/FX.own.0", "lower what they own"),
        ('per_host: {gpu: "50%"}', "total: {gpu: 17}", "", "children-own-more", "/Trading/Risk.own.0", "lower what"),
        ('per_host: {gpu: "50%"}', "hosts: 9", "", "children-own-more", "/Trading/Risk.own.0", "lower what they own"),
        (
            "per_host: {gpu: 4}",
            "per_host: {gpu: 2}",
            "total: {gpu: 9}",
            "children-own-more",
            "/Trading/FX.own.0",
            "lower",
        ),
        ("", "hosts: 1", "", "children-own-more", "/Trading/Risk.own.0", "let `/Trading` own"),
        ("hosts: 2", "hosts: 2", "hosts: 1", "children-own-more", "/Trading/FX.own.0", "lower what they own"),
        ("hosts: 2", 'hosts: "60%"', 'hosts: "50%"', "children-own-more", "/Trading/FX.own.0", "lower what they own"),
        ("hosts: 2", 'hosts: "50%"', "hosts: 2", "children-own-more", "/Trading/FX.own.0", "lower what they own"),
        ('hosts: "40%"', "hosts: 2", "hosts: 1", "children-own-more", "/Trading/FX.own.0", "lower what they own"),
        ("hosts: [g1, g2]", "hosts: [g1, g3]", "", "children-own-more", "/Trading/Risk.own.0.hosts", "name one that"),
        ("hosts: [g1, g2]", "hosts: 3", "", "children-own-more", "/Trading/Risk.own.0", "lower what they own"),
        ("total: {cpu: 9}", "total: {cpu: 5}", "total: {cpu: 5}", "children-own-more", "/Trading/FX.own.0", "lower"),
        ("hosts: [g1]", "total: {cpu: 65}", "", "children-own-more", "/Trading/Risk.own.0", "lower"),
        ("per_host: {gpu: 4}", "per_host: {gpu: 5}", "", "children-own-more", "/Trading/Risk.own.0", "lower"),
        ('per_host: {gpu: "50%"}', "per_host: {gpu: 5}", "", "children-own-more", "/Trading/Risk.own.0", "lower"),
        (
            *("hosts: 2", 'per_host: {gpu: "60%"}', 'per_host: {gpu: "50%"}'),
            *("children-own-more", "/Trading/FX.own.0", "lower"),
        ),
        ("hosts: 2", "hosts: remaining", "hosts: remaining", "remaining-twice", "/Trading/FX.own.0.hosts", "a number"),
        ("hosts: 2", "hosts: [g1]", "hosts: [g1]", "duplicate-host", "/Trading/FX.own.0.hosts", "name it once"),
    ],
)
def test_bad_ownership_is_refused_with_place_and_mend(
    *, trading: str, risk: str, fx: str, code: str, place: str, mend: str
) -> None:
    entries = [f"[{{resource_group: main, {said}}}]" if said else "[]" for said in (trading, risk, fx)]
    (fault,) = faults_of(owning(*entries))
    assert (fault.code, fault.line > 0) == (code, True), fault
    assert ".".join(map(str, fault.place)).endswith(place), fault
    assert mend in fault.mend, fault


@pytest.mark.parametrize(
    ("trading", "risk", "fx"),
    [
        ("hosts: 3", "hosts: 2", "hosts: 1"),
        ("hosts: 2", "hosts: [g1, g3]", "hosts: remaining"),
        ('hosts: "60%"', 'hosts: "50%"', 'hosts: "50%"'),
        ("hosts: remaining", "hosts: 5", ""),
        ("total: {cpu: 9}", "total: {cpu: 4}", "total: {cpu: 5, gpu: 3}"),
        ('per_host: {gpu: "50%"}', "per_host: {gpu: 1}", "per_host: {gpu: 3}"),
        ("hosts: [g1, big]", "total: {cpu: 192}", "total: {gpu: 8}"),
        ("total: {cpu: 9}", "hosts: 1", "hosts: [g1]"),
        ('per_host: {gpu: "50%"}', 'hosts: "50%"', "hosts: 2"),
    ],
)
def test_what_fits_into_the_parent_is_taken(trading: str, risk: str, fx: str) -> None:
    entries = [f"[{{resource_group: main, {said}}}]" if said else "[]" for said in (trading, risk, fx)]
    parse_plan(owning(*entries), "plan.yaml")


def test_ownership_of_a_group_of_another_entry_is_refused() -> None:
    more = '{name: "g[1-4]", cpu: 64, memory: 512, gpu: 8}'
    text = swapped(VECTORS, "resource_groups: [main, rest]", "resource_groups: [main]")
    text = swapped(text, TRADING, "[{resource_group: rest, hosts: 1}]")
    text += "  - {resource_groups: [rest], policy: multidimensional}\n"
    assert more in text
    (fault,) = faults_of(text)
    assert (fault.code, fault.mend) == ("group-of-another-entry", "name one of `main`")
    assert fault.place[-3:] == ("own", 0, "resource_group")
    (fault,) = faults_of(swapped(VECTORS, TRADING, "[{resource_group: mian, hosts: 1}]"))
    assert (fault.code, fault.mend) == ("unknown-resource-group", "did you mean `main`?")


def test_slots_and_vectors_are_not_shared_by_one_entry() -> None:
    text = swapped(VECTORS, "rest: {hosts: [{name: r1, cpu: 8}]}", "rest: {slots: 8}").replace("balanced", "stacked")
    (fault,) = faults_of(text)
    assert (fault.code, fault.place) == ("slots-and-vectors", ("policies", 0, "resource_groups"))
    text = swapped(text, "[main, rest]", "[main]") + "  - {resource_groups: [rest], policy: hybrid}\n"
    assert [entry.policy.name for entry in parse_plan(text, "p")[0].policies] == ["multidimensional", "hybrid"]


def test_a_group_has_one_entry_of_vectors_at_a_time() -> None:
    second = "  - {resource_groups: [main, rest], policy: multidimensional, consumers: {%s: {}}}\n"
    (fault, _) = faults_of(
        VECTORS.replace("      /Research: {share_priority: 2, share_ratio: 3}\n", second % "/Research")
    )
    assert (fault.code, fault.place) == ("group-shared-twice", ("policies", 1, "resource_groups"))
    night = (second % "/Research").replace("policy:", 'window: "Mon-Sun 20:00-06:00", policy:')
    assert len(parse_plan(VECTORS + night, "p")[0].policies) == 2


def test_a_consumer_has_pools_of_one_entry() -> None:
    text = swapped(VECTORS, "resource_groups: [main, rest]", "resource_groups: [main]")
    text += "  - {resource_groups: [rest], policy: multidimensional, consumers: {/Trading/FX: {share_ratio: 2}}}\n"
    (fault,) = faults_of(text)
    assert (fault.code, fault.place) == ("consumer-under-two", ("policies", 1, "consumers", "/Trading/FX"))


def warnings_of(text: str) -> list[tuple[str, str]]:
    return told(parse_plan(text, "plan.yaml")[1])


def test_more_than_there_is_may_be_owned_and_is_told() -> None:
    for said in ("hosts: 6", "total: {cpu: 385}", "per_host: {gpu: 9}"):
        text = owning(f"[{{resource_group: main, {said}}}]")
        assert warnings_of(text) == [("overcommitted", "policies.0.consumers./Trading.own.0")], said


@pytest.mark.parametrize("group", ["{hosts: []}", "{slots: 0}"])
def test_a_group_without_hosts_has_nothing_to_share(group: str) -> None:
    text = swapped(VECTORS, "{hosts: [{name: r1, cpu: 8}]}", group).replace("balanced", "stacked")
    (fault,) = faults_of(text)
    assert (fault.code, fault.place, fault.line) == ("slots-and-vectors", ("policies", 0, "resource_groups"), 8)


def test_a_misspelt_resource_is_told_once() -> None:
    (fault,) = faults_of(swapped(VECTORS, "{name: r1, cpu: 8}", "{name: r1, cpus: 8}"))
    assert (fault.code, fault.place[-1]) == ("unknown-resource", "cpus")


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("distribute_evenly: true", "other-policy"),
        ("hold_after: 5m", "other-policy"),
        ("within: fifo", "other-policy"),
        ("lead: 5m", "other-policy"),
    ],
)
def test_settings_that_have_no_effect_are_refused(said: str, code: str) -> None:
    text = swapped(VECTORS, "packing: balanced", f"packing: balanced, {said}")
    assert [fault.code for fault in faults_of(text)] == [code]


@pytest.mark.parametrize("said", ["hold_after: 5m", "lead: 5m", "within: users"])
def test_a_refused_setting_says_why_and_what_to_do_instead(said: str) -> None:
    (fault,) = faults_of(swapped(VECTORS, "packing: balanced", f"packing: balanced, {said}"))
    assert "is not available under `multidimensional`: " in fault.what
    assert fault.mend.startswith("leave it out")


def test_a_budget_of_units_is_refused_with_the_reason() -> None:
    (fault,) = faults_of(swapped(VECTORS, "reclaim_grace: 30s", "budget: {unit_hours: 3, period: day}"))
    assert fault.code == "other-policy"
    assert "a unit of eight GPUs would cost the same" in fault.what
    assert "hours: {gpu: 100}" in fault.mend


def test_a_budget_of_resources_is_read_exactly() -> None:
    """R-BUDGET-5, R-BUDGET-6."""
    text = swapped(VECTORS, "reclaim_grace: 30s", "budget: {hours: {gpu: 2, dominant_share: 0.25}, period: week}")
    plan, _ = parse_plan(text, "plan.yaml")
    (budget,) = [each.budget for each in plan.policies[0].consumers.values() if each.budget]
    names = [each.name for each in counted(plan.resources)]
    assert dict(budget.hours) == {names.index("gpu"): 2, names.index("dominant_share"): 250_000_000}


@pytest.mark.parametrize(
    ("hours", "code", "mend"),
    [
        ("{gqu: 1}", "unknown-resource", "did you mean `gpu`?"),
        ("{gpu: 0}", "out-of-range", "write an amount above 0"),
        ("{gpu: -1}", "negative", "write an amount above 0"),
        ("{gpu: 0.0001}", "no-multiple", "write 1, or"),
        ("{dominant_share: much}", "not-a-number", "write a number"),
        ("{}", "missing-key", "write the hours of a resource"),
        ("5", "wrong-type", ""),
    ],
)
def test_hours_that_are_wrong_are_refused(hours: str, code: str, mend: str) -> None:
    text = swapped(VECTORS, "reclaim_grace: 30s", f"budget: {{hours: {hours}, period: week}}")
    fault = faults_of(text)[0]
    assert (fault.code, fault.mend[: len(mend)]) == (code, mend)
