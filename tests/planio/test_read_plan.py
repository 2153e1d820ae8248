"""Plan files: what a plan means, and every way to be at fault."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fairhold.errors import InputError
from fairhold.model.plan import ConsumerSettings, Host, PolicySettings
from fairhold.planio.plan import parse_plan, read_plan
from fairhold.units import SECOND, UNLIMITED
from tests.planio.support import HOSTS, SMALL, cases, codes_and_lines, faults_of


def edited(old: str, new: str, text: str = SMALL) -> str:
    assert text.count(old) >= 1
    return text.replace(old, new, 1)


def test_a_plan_is_read_whole() -> None:
    text = SMALL.replace("fairhold: 1\n", "fairhold: 1\ncluster: acme\ntime_zone: Europe/Zurich\ndefault_rank: 3\n")
    text = text.replace("{slots: 100}", "{slots: 100, configured_slots: 120}")
    text = text.replace("  Research: {}\n", "  Research: {rank: 2, reclaim_grace: 1m30s}\n")
    text = text.replace("limit: 80}", "limit: none, rank: 4, reclaim_grace: 0}")
    text = text.replace(
        "    policy: hybrid\n",
        "    policy: hybrid\n    settings: {distribute_evenly: true, disable_reclaim_own: true, victims: oldest}\n",
    )
    plan, warnings = parse_plan(text, "plan.yaml")
    assert warnings == ()
    assert (plan.cluster, plan.time_zone, plan.default_rank) == ("acme", "Europe/Zurich", 3)
    assert plan.tree.paths == ("/", "/Trading", "/Trading/Risk", "/Trading/FX", "/Research")
    assert list(plan.tree.rank) == [None, None, None, None, 2]
    assert list(plan.tree.grace) == [None, None, None, None, 90 * SECOND]
    group = plan.resource_groups["compute"]
    assert (group.slots, group.configured_slots, group.hosts) == (100, 120, ())
    (entry,) = plan.policies
    assert entry.settings == PolicySettings(distribute_evenly=True, disable_reclaim_own=True, victims="oldest")
    assert entry.consumers == {
        1: ConsumerSettings(60, 10, UNLIMITED, 4, 0),
        2: ConsumerSettings(40),
        4: ConsumerSettings(40),
    }


def test_a_tree_by_path_is_the_same_as_a_nested_one() -> None:
    nested = "{A: {rank: 1, consumers: {x: {}, y: {consumers: {z: {reclaim_grace: 5s}}}}}, B: {}}"
    by_path = "{/A: {rank: 1}, /A/x: {}, /A/y/z: {reclaim_grace: 5s}, /B: }"
    trees = [parse_plan(with_consumers(text), "f")[0].tree for text in (nested, by_path)]
    assert trees[0] == trees[1]
    assert trees[0].paths == ("/", "/A", "/A/x", "/A/y", "/A/y/z", "/B")


def with_consumers(text: str) -> str:
    return (
        f"fairhold: 1\nresource_groups: {{g: {{slots: 1}}}}\nconsumers: {text}\n"
        "policies: [{resource_groups: [g], policy: hybrid}]\n"
    )


def test_hosts_are_expanded_and_counted() -> None:
    plan, _ = parse_plan(HOSTS, "f")
    group = plan.resource_groups["gpu"]
    assert group.hosts == (*[Host(f"g0{at}", 8) for at in range(1, 5)], Host("big", 16))
    assert group.slots == 48


@pytest.mark.parametrize(
    ("consumers", "code", "place"),
    [
        ("{/A/x: {}, /A: {}}", "parent-after-child", "/A"),
        ("{/A: {}, B: {}}", "mixed-consumers", "B"),
        ("{/A: {consumers: {x: {}}}}", "mixed-consumers", "/A"),
        ("{/: {}}", "name", "/"),
        ("{/A//x: {}}", "name", "/A//x"),
        ("{/A/: {}}", "name", "/A/"),
        ("{/A/ x: {}}", "name", "/A/ x"),
        ("{A/x: {}}", "name", "A/x"),
        ('{"": {}}', "name", ""),
        ('{" A": {}}', "name", " A"),
        ('{"A\\n": {}}', "name", "A\n"),
        ("{A: 3}", "wrong-type", "A"),
        ("{/A: []}", "wrong-type", "/A"),
        ("{A: {rank: 1.0}}", "not-whole", "A"),
        ("{A: {rank: true}}", "not-whole", "A"),
        ("{A: {reclaim_grace: 30}}", "duration", "A"),
        ("{A: {reclaim_grace: soon}}", "duration", "A"),
        ("{A: {reclaim_grace: 400d}}", "duration", "A"),
        ("{A: {owned: 3}}", "wrong-place", "A"),
        ("{A: {min_runtime: 3s}}", "not-supported-yet", "A"),
        ("{A: {rnk: 3}}", "unknown-key", "A"),
        ("{A: {consumers: [x]}}", "wrong-type", "A"),
        ("{}", "missing-key", None),
        ("[A]", "wrong-type", None),
    ],
)
def test_a_bad_tree_is_refused(consumers: str, code: str, place: str | None) -> None:
    fault = faults_of(with_consumers(consumers))[0]
    assert (fault.code, fault.line) == (code, 3)
    assert fault.place[:2] == (("consumers",) if place is None else ("consumers", place))


@pytest.mark.parametrize(
    ("old", "new", "code", "line"),
    [
        ("fairhold: 1", "fairhold: 2", "version", 1),
        ("fairhold: 1", "fairhold: true", "version", 1),
        ("fairhold: 1", "cluster: x", "version", 1),
        ("fairhold: 1", "fairhold: 1\nclustr: x", "unknown-key", 2),
        ("fairhold: 1", "fairhold: 1\ncluster: 7", "not-a-string", 2),
        ("fairhold: 1", "fairhold: 1\nresources: {cpu: 5}", "wrong-type", 2),
        ("fairhold: 1", "fairhold: 1\ntime_zone: Mars/Olympus", "time-zone", 2),
        ("fairhold: 1", "fairhold: 1\ntime_zone: ../../etc/passwd", "time-zone", 2),
        ("fairhold: 1", "fairhold: 1\ndefault_rank: -1", "negative", 2),
        ("slots: 100", "slots: 100.0", "not-whole", 3),
        ("slots: 100", 'slots: "100"', "not-whole", 3),
        ("slots: 100", "slots: -1", "negative", 3),
        ("slots: 100", "slots: 1000000000001", "out-of-range", 3),
        ("slots: 100", "slots: 100, slotz: 100", "unknown-key", 3),
        ("{slots: 100}", "{labels: {kind: gpu}, slots: 1}", "not-supported-yet", 3),
        ("{slots: 100}", "{}", "missing-key", 3),
        ("{slots: 100}", "{slots: 3, hosts: []}", "slots-and-hosts", 3),
        ("{slots: 100}", "{slots: 100, configured_slots: 99}", "owned-above-configured", 3),
        ("compute: {", "com/pute: {", "name", 3),
        ("[compute]", "[compte]", "unknown-resource-group", 9),
        ("[compute]", "compute", "wrong-type", 9),
        ("[compute]", "[]", "missing-key", 9),
        ("resource_groups: [compute]", "settings: {}", "missing-key", 9),
        ("policy: hybrid", "policy: hybird", "unknown-policy", 10),
        ("policy: hybrid", "policy: share_ratio", "other-policy", 12),
        ("policy: hybrid", "policy: multidimensional", "slots-and-vectors", 9),
        ("policy: hybrid", "policy: [hybrid]", "not-a-string", 10),
        ("policy: hybrid", "policy: hybrid\n    window: Mon 08:00-09:00", "window-gap", 11),
        ("policy: hybrid", "policy: hybrid\n    settings: {packing: exclusive}", "packing-needs-hosts", 11),
        ("policy: hybrid", "policy: hybrid\n    settings: {packing: balanced}", "packing-needs-hosts", 11),
        ("policy: hybrid", "policy: hybrid\n    settings: {packing: tight}", "unknown-word", 11),
        ("policy: hybrid", "policy: hybrid\n    settings: {victims: yungest}", "unknown-word", 11),
        ("policy: hybrid", "policy: hybrid\n    settings: {distribute_evenly: 1}", "wrong-type", 11),
        ("policy: hybrid", "policy: hybrid\n    settings: {enforce: leaf}", "other-policy", 11),
        ("policy: hybrid", "policy: hybrid\n    settings: {evenly: true}", "unknown-key", 11),
        ("/Research:", "/Reserch:", "unknown-consumer", 14),
        ("/Research:", "Research:", "unknown-consumer", 14),
        ("/Research:", "/:", "name", 14),
        ("/Research: {owned: 40}", "/Research: {resrved: 40}", "unknown-key", 14),
        ("/Research: {owned: 40}", "/Research: {lend_to: []}", "other-policy", 14),
        ("/Research: {owned: 40}", "/Research: {share_ratio: 1}", "other-policy", 14),
        ("policy: hybrid", "policy: share_ratio\n    settings: {enforce: branch}", "unknown-word", 11),
        ("/Research: {owned: 40}", "/Research: {deserved: {gpu: 1}}", "other-policy", 14),
        ("/Research: {owned: 40}", "/Research: {owned: -40}", "negative", 14),
        ("/Research: {owned: 40}", "/Research: {owned: 40.5}", "not-whole", 14),
        ("/Research: {owned: 40}", "/Research: {owned: yes}", "not-whole", 14),
        ("/Research: {owned: 40}", "/Research: {limit: no}", "not-whole", 14),
        ("/Research: {owned: 40}", "/Research: 40", "wrong-type", 14),
        ("/Research: {owned: 40}", "/Research: {reserved: 41, owned: 40}", "reserved-above-owned", 14),
        ("/Research: {owned: 40}", "/Research: {limit: 39, owned: 40}", "owned-above-limit", 14),
        ("/Trading/Risk: {owned: 40}", "/Trading/Risk: {owned: 61}", "children-own-more", 12),
        ("/Trading/Risk: {owned: 40}", "/Trading/Risk: {owned: 81, reserved: 81}", "children-own-more", 12),
    ],
)
def test_a_bad_plan_is_refused_with_its_line(old: str, new: str, code: str, line: int) -> None:
    fault = faults_of(edited(old, new))[0]
    assert (fault.code, fault.line, fault.file) == (code, line, "plan.yaml")


@pytest.mark.parametrize(
    ("hosts", "code"),
    [
        ('[{name: "g[1-2]", slots: 1}, {name: g2, slots: 1}]', "duplicate-host"),
        ('[{name: "g[2-1]", slots: 1}]', "host-range"),
        ('[{name: "g[1-2", slots: 1}]', "host-range"),
        ('[{name: "g[]", slots: 1}]', "host-range"),
        ('[{name: "g[a-b]", slots: 1}]', "host-range"),
        ('[{name: "g[0-999999999]", slots: 1}]', "host-range"),
        ('[{name: "g[0-999]h[0-999]i[0-1]", slots: 1}]', "host-range"),
        ("[{name: a b/c, slots: 1}]", "name"),
        ("[{name: a, slots: 1, gpu: 8}]", "unknown-resource"),
        ("[{name: a, slot: 1, slots: 1}]", "unknown-key"),
        ("[{slots: 1}]", "missing-key"),
        ("[{name: a}]", "missing-key"),
        ("[{name: 7, slots: 1}]", "not-a-string"),
        ('[{name: "g[1-9]", slots: 1000000000000}]', "out-of-range"),
        ("{name: a, slots: 1}", "wrong-type"),
    ],
)
def test_bad_hosts_are_refused(hosts: str, code: str) -> None:
    (fault,) = faults_of(edited("{slots: 100}", f"{{hosts: {hosts}}}"))
    assert (fault.code, fault.line) == (code, 3)


def test_hosts_of_all_groups_have_different_names() -> None:
    (fault,) = faults_of(edited("cpu: {slots: 50}", "cpu: {hosts: [{name: g03, slots: 1}]}", HOSTS))
    assert (fault.code, fault.line) == ("duplicate-host", 4)


@pytest.mark.parametrize(
    ("old", "new", "meant"),
    [
        ("reserved: 10", "reservd: 10", "`reserved`"),
        ("/Trading/Risk:", "/Trading/Rsk:", "`/Trading/Risk`"),
        ("/Trading/Risk:", "/Tradng/Risk:", "`/Trading/Risk`"),
        ("/Research:", "Research:", "`/Research`"),
        ("/Research:", "/Research/:", "`/Research`"),
        ("[compute]", "[compuet]", "`compute`"),
        ("policy: hybrid", "policy: hibrid", "`hybrid`"),
    ],
)
def test_a_slip_is_mended_by_name(old: str, new: str, meant: str) -> None:
    assert faults_of(edited(old, new))[0].mend == f"did you mean {meant}?"


@pytest.mark.parametrize(
    ("old", "new", "mend"),
    [
        ("slots: 100", "slots: 1000000000001", "write a number from 0 to 1000000000000"),
        ("slots: 100", "slots: -1", "write a number from 0 to 1000000000000"),
        ("{slots: 100}", "{labels: [gpu], slots: 1}", "list the hosts under `hosts:` instead"),
        ("policy: hybrid", "policy: hybrid\n    settings: {packing: exclusive}", "give it `hosts:`, or use `stacked`"),
        ("policy: hybrid", "policy: hybrid\n    window: Mon 8:00-9:00", "write `08:00-18:00`, two digits each"),
        (
            "policy: hybrid",
            "policy: hybrid\n    settings: {victims: random}",
            "write one of `youngest`, `oldest`, `lowest_priority`",
        ),
        ("fairhold: 1", "fairhold: 1\ncluster: 7", 'quote it: `"7"`'),
    ],
)
def test_a_mend_can_be_carried_out(old: str, new: str, mend: str) -> None:
    assert faults_of(edited(old, new))[0].mend == mend


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        ("{gpu: 2}", ["not-a-string"]),
        ("[gpu, 2]", ["not-a-string"]),
        ("{gpu: [], 'a b': 2, '': x}", ["not-a-string", "not-a-string", "label", "label"]),
    ],
)
def test_a_label_that_is_no_text_is_told_once(labels: str, told: list[str]) -> None:
    hosts = f"{{hosts: [{{name: a, slots: 100, labels: {labels}}}]}}"
    assert [fault.code for fault in faults_of(edited("{slots: 100}", hosts))] == told


def test_a_peer_that_is_no_mapping_is_told_once() -> None:
    text = SMALL.replace("hybrid", "ownership").replace("{owned: 40}\n", "{owned: 40, lend_to: [/Research]}\n", 1)
    (fault,) = faults_of(text)
    assert (fault.code, fault.place[-2:]) == ("wrong-type", ("lend_to", 0))


def test_a_key_of_another_policy_is_refused_with_the_keys_of_this_one() -> None:
    (setting,) = faults_of(edited("policy: hybrid", "policy: hybrid\n    settings: {enforce: leaf}"))
    assert setting.what == "`enforce` belongs to the policy `share_ratio`, and this entry's is `hybrid`"
    assert setting.mend.startswith("leave it out, or use `distribute_evenly`, `disable_reclaim_own`")


def test_a_word_that_is_not_allowed_is_said_with_its_key() -> None:
    (fault,) = faults_of(edited("policy: hybrid", "policy: hybrid\n    settings: {victims: eldest}"))
    assert fault.what == "`eldest` is not a value of `victims`"


def test_all_faults_come_at_once_in_the_order_of_the_file() -> None:
    text = SMALL.replace("slots: 100", "slots: -1").replace("Research: {}", "Research: {rank: x}")
    text = text.replace("owned: 60", "owned: 6.5").replace("[compute]", "[compute, gpu]")
    text = text.replace("fairhold: 1", "fairhold: 3")
    assert codes_and_lines(faults_of(text)) == [
        ("version", 1),
        ("negative", 3),
        ("not-whole", 7),
        ("unknown-resource-group", 9),
        ("not-whole", 12),
    ]


def test_children_reserves_are_held_against_limits_at_every_level() -> None:
    text = with_consumers("{A: {consumers: {B: {consumers: {x: {}, y: {}}}, C: {}}}}")
    own = "/A: {owned: 9, limit: 9}, /A/B: {owned: 6, limit: LIMIT}, /A/B/x: {owned: 3, reserved: 3}"
    own = f"{{{own}, /A/B/y: {{owned: 3, reserved: 2}}}}"
    text = text.replace("policy: hybrid", f"policy: hybrid, consumers: {own}").replace("slots: 1", "slots: 9")
    assert parse_plan(text.replace("LIMIT", "6"), "f")[1] == ()
    assert [fault.code for fault in faults_of(text.replace("LIMIT", "4"))] == [
        "owned-above-limit",
        "children-reserve-more",
    ]


def test_a_parent_that_is_not_listed_owns_nothing() -> None:
    fault = faults_of(SMALL.replace("      /Trading: {owned: 60, reserved: 10, limit: 80}\n", ""))[0]
    assert fault.code == "children-own-more"
    assert "`/Trading`" in fault.what


def test_a_group_stands_under_one_entry_only() -> None:
    second = "  - {resource_groups: [compute], policy: hybrid}\n"
    (fault,) = faults_of(SMALL + second)
    assert (fault.code, fault.line) == ("group-shared-twice", 15)
    assert fault.what.endswith("the first is `policies[0]`")


def test_warnings_do_not_stop_a_plan() -> None:
    plan, warnings = parse_plan(edited("compute: {slots: 100}", "compute: {slots: 99}\n  idle: {slots: 5}"), "f")
    assert [(warning.code, warning.line) for warning in warnings] == [("overcommitted", 3), ("group-not-shared", 4)]
    assert plan.resource_groups["idle"].slots == 5


def test_the_plans_of_all_cases_are_read() -> None:
    for case in [*cases("hybrid"), *cases("share_ratio"), *cases("cycles")]:
        plan, _ = parse_plan(json.dumps(case["plan"]), case["id"])
        stated: dict[str, Any] = case["plan"]["policies"][0]["consumers"]
        read = plan.policies[0].consumers
        assert {plan.tree.paths[row]: (read[row].owned, read[row].share_ratio) for row in read} == {
            path: (settings.get("owned", 0), settings.get("share_ratio")) for path, settings in stated.items()
        }


def test_a_plan_is_read_from_a_file(tmp_path: Any) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(SMALL)
    assert read_plan(path)[0] == parse_plan(SMALL, "x")[0]
    path.write_text("fairhold: 1\n")
    with pytest.raises(InputError) as caught:
        read_plan(path)
    assert {fault.file for fault in caught.value.faults} == {str(path)}
