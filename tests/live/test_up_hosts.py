"""What a live service divides: hosts that are up, and of the others what is booked on them (R-UP-1)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cli.live.machines import _row
from fairhold.cli.live.tree import trees
from fairhold.cycle.document import quota_document, run_cycle
from fairhold.cycle.verify import verify
from fairhold.ledger.vectors import POOLED
from fairhold.model.presence import presence_in_words
from fairhold.orchestrator.events import HostLost, MachineClosed, MachineGone, MachineSilent
from fairhold.planio.state import parse_state
from fairhold.planio.statewrite import state_document
from fairhold.runtime.live.views.consumers import consumer_explanation, consumers_document
from fairhold.runtime.live.views.hosts import hosts_document
from fairhold.runtime.live.views.pools import kept_queues, pools_group
from fairhold.runtime.live.views.presence import RETURN
from fairhold.runtime.live.views.state import live_state
from fairhold.runtime.live.views.status import status_document
from fairhold.runtime.live.views.waiting import reason_of
from fairhold.service.models.answers import Consumers, Hosts
from fairhold.units import SECOND, format_instant
from tests.live.play import MIXED, Play, plan_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairhold.model.plan import Plan
    from fairhold.model.state import State

GPU = (("gpu", "1"),)
UP = [f"g{at:02}" for at in range(1, 9)]


def plan(policy: str, consumers: dict[str, Any]) -> str:
    """Four leaves on forty hosts of two GPUs."""
    return json.dumps(
        {
            "fairhold": 1,
            "resources": {"gpu": {}},
            "resource_groups": {"train": {"hosts": [{"name": "g[01-40]", "gpu": 2}]}},
            "consumers": {name: {"reclaim_grace": "30s"} for name in "ABCD"},
            "policies": [{"resource_groups": ["train"], "policy": policy, "consumers": consumers}],
        }
    )


QUEUES = {f"/{name}": {"deserved": {"gpu": gpus}} for name, gpus in zip("ABCD", (4, 12, 12, 12), strict=True)}


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Eight of the forty hosts have connected, the others never have."""
    return play_of(tmp_path, plan("fair_share", QUEUES), UP)


def play_of(folder: Path, text: str, seen: Sequence[str]) -> Play:
    """Some of the hosts of a plan have connected."""
    found = Play.__new__(Play)
    found.report = lambda machine: Play.report(found, machine) if machine in seen else None  # type: ignore[method-assign]
    Play.__init__(found, folder, text)
    return found


def ask(play: Play, consumer: str, count: int) -> str:
    job = play.submit(consumer, count, group=POOLED, unit=GPU)
    play.pass_time(SECOND)
    return job


def running(play: Play, job: str) -> int:
    return play.core.cluster.jobs[job].running


def shares(play: Play) -> dict[str, Any]:
    return {path: queue["resources"]["gpu"]["fair_share"] for path, queue in kept_queues(play.core).items()}


def total(play: Play) -> Any:
    return pools_group(play.core)["resources"]["gpu"]["total"]


def test_hosts_that_were_never_seen_are_not_divided(play: Play) -> None:
    """One queue has all that is up: those that deserve as much take their part of it back, at once."""
    first = ask(play, "/A", 30)
    assert (running(play, first), total(play)) == (16, 16)
    for path in ("/B", "/C", "/D"):
        ask(play, path, 4)
    assert shares(play) == {"/A": 4, "/B": 4, "/C": 4, "/D": 4}
    assert sum(each.notice is not None for each in play.core.cluster.attempts.values()) == 12


def test_a_silent_host_counts_with_what_runs_there(play: Play) -> None:
    job = ask(play, "/A", 15)
    on_last = [each for each in play.core.cluster.attempts.values() if each.places[0][0] == "g08"]
    assert (running(play, job), len(on_last), total(play)) == (15, 1, 16)
    play.feed(MachineSilent("g08"))
    assert (total(play), shares(play)["/A"]) == (15, 15)
    play.feed(MachineSilent("g07"))
    assert total(play) == 15
    play.end(on_last[0].name)
    assert total(play) == 14
    play.feed(MachineGone("g07"))
    assert (total(play), running(play, job)) == (12, 12)
    play.report("g08")
    assert total(play) == 14


def test_what_counts_is_the_same_after_a_restart(play: Play) -> None:
    ask(play, "/A", 15)
    play.feed(MachineSilent("g08"))
    before = play.core.cluster.machines["g08"].silent_at
    assert before
    play.restart(snapshot=True)
    assert total(play) == 16
    play.feed(MachineSilent("g08"))
    assert (total(play), play.core.cluster.machines["g08"].silent_at > before) == (15, True)


def test_answers_name_the_hosts_that_are_not_up(play: Play) -> None:
    """Why a job waits, what everybody has, and every explanation say it, as data and in words."""
    play.feed(MachineSilent("g07"), MachineClosed("g03", "dust", drain=False), HostLost(POOLED, "g04"))
    since = format_instant(play.core.cluster.machines["g07"].silent_at // SECOND * SECOND)
    job = play.core.cluster.jobs[ask(play, "/A", 30)]
    told = f"5 of 40 hosts are up; g[09-40] were never seen; g07 is silent since {since}; g04 is down; g03 is closed"
    reason = reason_of(play.core, job)
    assert reason is not None
    assert reason.code == "pool"
    assert reason.text.endswith(f"; {told}")
    document = consumers_document(play.core)
    hosts = document["resource_groups"]["train"]["hosts"]
    assert (hosts["up"], hosts["all"]) == (5, 40)
    assert [(row["state"], row["since"], len(row["hosts"])) for row in hosts["not_up"]] == [
        ("unseen", None, 32),
        ("silent", since, 1),
        ("down", None, 1),
        ("closed", None, 1),
    ]
    Consumers.model_validate(document)
    (tree,) = trees(document, 200)
    assert "; 5 of 40 hosts are up; g[09-40] were never seen; g07 is silent since " in tree.title
    (explained,) = consumer_explanation(play.core, "/A")()["explanations"]
    assert explained["hosts"] == {"train": hosts}


def test_the_list_of_hosts_says_since_when(play: Play) -> None:
    play.feed(MachineSilent("g07"))
    document = hosts_document(play.core)
    rows = {row["host"]: row for row in document["hosts"]}
    Hosts.model_validate(document)
    assert [(rows[name]["state"], bool(rows[name]["silent_since"])) for name in ("g06", "g07", "g09")] == [
        ("up", False),
        ("silent", True),
        ("unseen", False),
    ]
    assert [_row(rows[name])[1] for name in ("g07", "g09")] == ["silent", "never seen"]
    assert str(_row(rows["g07"])[-1]).startswith("since ")


def test_after_a_restart_hosts_are_connecting_until_they_are_back_or_had_time_to_be(play: Play) -> None:
    """A host that was silent before, and one that is lost again, is silent."""
    play.feed(MachineSilent("g07"))
    play.report = lambda machine: None  # type: ignore[method-assign] # noqa: ARG005 - nobody is back
    play.restart(snapshot=True)

    def states() -> dict[str, str]:
        document = hosts_document(play.core)
        Hosts.model_validate(document)
        return {row["host"]: row["state"] for row in document["hosts"][5:9]}

    def told() -> str:
        document = consumers_document(play.core)
        Consumers.model_validate(document)
        return presence_in_words(document["resource_groups"]["train"]["hosts"])

    assert states() == {"g06": "connecting", "g07": "silent", "g08": "connecting", "g09": "unseen"}
    assert "; g[01-06,08] are connecting; g07 is silent since " in told()
    assert [row["state"] for row in status_document(play.core)["hosts"]["others"]] == ["connecting", "silent", "unseen"]
    Play.report(play, "g06")
    Play.report(play, "g08")
    play.feed(MachineSilent("g08"))
    assert states() == {"g06": "up", "g07": "silent", "g08": "silent", "g09": "unseen"}
    play.pass_time(RETURN)
    assert "connecting" not in told()
    assert "; g[01-05,07-08] are silent since " in told()


def test_slots_are_told_of_in_the_same_way(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_text(MIXED))
    play.feed(MachineSilent("h2"))
    play.submit("/A/a1", 9)
    play.pass_time(SECOND)
    (job,) = play.core.cluster.jobs.values()
    reason = reason_of(play.core, job)
    assert reason is not None
    assert "; 1 of 2 hosts is up; h2 is silent since " in reason.text
    document = consumers_document(play.core)
    assert [group["hosts"] and group["hosts"]["up"] for group in document["resource_groups"].values()] == [1, None]


def read_again(play: Play) -> tuple[Plan, State]:
    """The live state as it is after it was written to a file."""
    plan, now = play.core.plan, play.core.orchestrator.now
    document = live_state(plan, play.core.cluster, now)["state"]
    return plan, parse_state(json.dumps(document), plan, "state.json")


def test_a_state_file_says_which_hosts_were_never_seen(play: Play) -> None:
    """So that what is told of the file is what the service tells; who was seen once and is gone is down."""
    play.feed(HostLost(POOLED, "g04"), MachineSilent("g07"), MachineGone("g07"), HostLost(POOLED, "g09"))
    plan, state = read_again(play)
    unseen = {f"g{at:02}" for at in range(10, 41)}
    assert state.hosts_never_seen == unseen
    assert state.hosts_down - unseen == {"g04", "g07", "g09"}
    cycle = run_cycle(plan, state, check=True)
    document = cycle.document | {"state": state_document(plan, cycle.after)}
    assert verify(plan, state, document) == ()
    assert cycle.after.hosts_never_seen == unseen
    told = presence_in_words(document["hosts"]["train"])
    assert told == "6 of 40 hosts are up; g[10-40] were never seen; g[04,07,09] are down"
    live = presence_in_words(consumers_document(play.core)["resource_groups"]["train"]["hosts"])
    assert live.startswith("6 of 40 hosts are up; g[10-40] were never seen; ")
    (other,) = run_cycle(plan, replace(state, hosts_never_seen=frozenset())).document["hosts"]["train"]["not_up"]
    assert len(other["hosts"]) == 34


def test_a_state_file_of_slots_says_it_too(tmp_path: Path) -> None:
    play = play_of(tmp_path, plan_text(MIXED), ["h1", ""])
    plan, state = read_again(play)
    assert state.hosts_never_seen == state.hosts_down == {"h2"}
    assert not state.hosts_closed
    told = presence_in_words(quota_document(plan, state)["hosts"]["compute"])
    assert told == "1 of 2 hosts is up; h2 was never seen"
    (explained,) = consumer_explanation(play.core, "/A")()["explanations"][:1]
    assert presence_in_words(explained["hosts"]["compute"]) == told
