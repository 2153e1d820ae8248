"""What a plan says is owned and cannot be is told (R-ADJUST-2, S2.25-27)."""

from __future__ import annotations

from typing import Any

import pytest

from fairhold.cli.pools import ownership_text
from fairhold.cycle.document import run_cycle
from fairhold.cycle.verify import verify
from fairhold.errors import InputError
from fairhold.planio.state import state_document
from tests.pools.small import inputs, of, on, own, run

Json = dict[str, Any]
HOSTS = {"h0": 4, "h1": 4}


@pytest.mark.parametrize(
    ("consumers", "more", "told"),
    [
        ({"/A": own(hosts=2), "/B": own(hosts=1)}, {}, [("/B", "owns 0 of 1 hosts planned of all")]),
        ({"/A": own(hosts="50%"), "/B": own(hosts="remaining")}, {"hosts_down": ["h0"]}, []),
        ({"/A": own(hosts=["h0", "h1"])}, {"hosts_down": ["h0"]}, [("/A", "owns 1 of 2 hosts planned of all")]),
        (
            {"/A": own(hosts=["h0"]), "/B": own(per_host={"cpu": "50%"})},
            {},
            [("/B", "owns its part of 1 of 2 hosts planned of all")],
        ),
        (
            {"/A": own(hosts=1), "/B": own(total={"cpu": 6})},
            {},
            [("/B", "owns cpu 4 of 6 planned of all")],
        ),
        (
            {"/A": own(hosts=2), "/A/x": own(hosts=1), "/A/y": own(hosts=1)},
            {"hosts_down": ["h1"]},
            [("/A", "owns 1 of 2 hosts planned of all"), ("/A/y", "owns 0 of 1 hosts planned of all")],
        ),
        ({"/A": own(hosts=1), "/B": own(per_host={"cpu": 0.5})}, {}, None),
    ],
)
def test_what_cannot_be_owned_is_told(consumers: Json, more: Json, told: list[tuple[str, str]] | None) -> None:
    plan, state = inputs(consumers, [of("/A/x" if "/A/x" in consumers else "/A", 1)], hosts=HOSTS, **more)
    cycle = run_cycle(plan, state)
    warnings = cycle.document["warnings"]
    if told is not None:
        assert warnings == [{"consumer": path, "code": "own-unmet", "message": text} for path, text in told]
    result = cycle.document | {"state": state_document(plan, cycle.after)}
    assert verify(plan, state, result) == ()
    wrong = result | {"warnings": [*warnings, {"consumer": "/A", "code": "own-unmet", "message": "owns nothing"}]}
    assert [finding.rule for finding in verify(plan, state, wrong)] == ["R-ADJUST-2"]


def test_r_adjust_2_a_part_that_comes_to_nothing_is_no_host_of_those_below() -> None:
    consumers = {"/A": own(per_host={"cpu": "30%"}), "/A/x": own(hosts=1)}
    plan, state = inputs(
        consumers, [of("/A/x", 1)], [on("h0", "x", 1, "own")], hosts={"h0": 2}, ownership=[("h0", "/A/x", 2)]
    )
    cycle = run_cycle(plan, state)
    assert cycle.document["ownership"] == []
    assert [row["message"] for row in cycle.document["warnings"]] == ["owns 0 of 1 hosts planned of all"]
    assert not verify(plan, state, cycle.document | {"state": state_document(plan, cycle.after)})


def test_it_stands_below_who_owns_what() -> None:
    cycle = run({"/A": own(hosts=3)}, [of("/A", 1)], hosts=HOSTS)
    text = ownership_text(cycle.document)
    assert text.endswith("\n\nOwn less than planned:\nconsumer  what\n/A        owns 2 of 3 hosts planned of all")


@pytest.mark.parametrize(
    ("stated", "is_fault"),
    [
        (({"hosts": 1}, {"hosts": "50%"}), True),
        (({"total": {"cpu": 1}}, {"total": {"gpu": 1}}), True),
        (({"hosts": ["h0"]}, {"per_host": {"cpu": 1}}), True),
        (({"hosts": 1}, {"hosts": 1, "reserved": True}), False),
        (({"hosts": 1, "preference": 1}, {"hosts": 1, "preference": 9}), False),
        (({"hosts": ["h0"]}, {"hosts": 1}), False),
        (({"hosts": 1}, {"hosts": "remaining"}), False),
    ],
)
def test_two_entries_of_one_consumer_are_for_different_things(stated: tuple[Json, Json], is_fault: bool) -> None:  # noqa: FBT001
    consumers = {"/A": {"own": [{"resource_group": "all", **each} for each in stated]}}
    if not is_fault:
        inputs(consumers, [], hosts=HOSTS)
        return
    with pytest.raises(InputError) as caught:
        inputs(consumers, [], hosts=HOSTS)
    faults = [(fault.code, fault.place) for fault in caught.value.faults]
    assert faults == [("owned-twice", ("policies", 0, "consumers", "/A", "own", 1))]
