"""Hosts that a new plan brings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.orchestrator.events import MachineSilent
from fairhold.runtime.live.views.explanation import job_explanation
from fairhold.runtime.live.views.hosts import hosts_document
from tests.live.play import Play

if TYPE_CHECKING:
    from pathlib import Path

PLAN = """\
fairhold: 1
resource_groups: {compute: {hosts: [HOSTS]}}
consumers: {A: {}}
policies: [{resource_groups: [compute], policy: hybrid, consumers: {/A: {owned: 1}}}]
"""
DESK, NEW = PLAN.replace("HOSTS", "{name: desk, slots: 1}"), "{name: desk, slots: 1}, {name: new, slots: 1}"


def test_a_new_host_starts_nothing_before_its_agent_has_reported(tmp_path: Path) -> None:
    play = Play(tmp_path, DESK, own="desk")
    play.core.apply_plan(PLAN.replace("HOSTS", NEW), "ann", "", 1)
    play.submit("/A", 3)
    play.pass_time(1_000_000)
    assert [attempt.places for attempt in play.core.cluster.attempts.values()] == [(("desk", 1),)]
    assert [host["state"] for host in hosts_document(play.core)["hosts"]] == ["up", "unseen"]
    play.report("new")
    play.pass_time(1_000_000)
    assert [attempt.machine for attempt in play.core.cluster.attempts.values()] == ["", "new"]
    play.restart(snapshot=False)
    assert [attempt.machine for attempt in play.core.cluster.attempts.values()] == ["", "new"]
    play.store.close()


def test_a_leaf_owns_what_the_plan_says_and_of_it_what_there_is_now(tmp_path: Path) -> None:
    play = Play(tmp_path, PLAN.replace("HOSTS", NEW).replace("owned: 1", "owned: 2"), own="desk")
    play.core.close_machine("new", "dust", drain=False)
    found = job_explanation(play.core, play.submit("/A"))
    assert found is not None
    assert (found["leaf"]["owned"], found["leaf"]["owned_in_plan"]) == (1, 2)
    play.store.close()


def test_an_agent_with_a_name_that_the_plan_does_not_have_stands_among_the_hosts_while_it_is_there(
    tmp_path: Path,
) -> None:
    play = Play(tmp_path, DESK, own="desk")
    play.report("zz")

    def rows() -> list[tuple[object, ...]]:
        found = hosts_document(play.core, {"zz": 0})["hosts"]
        return [(row["host"], row["state"], row["resource_groups"], row["connected"]) for row in found]

    desk = ("desk", "up", {"compute": 1}, True)
    assert rows() == [desk, ("zz", "unknown", {}, True)]
    play.feed(MachineSilent("zz"))
    assert rows() == [desk]
    play.report("zz")
    play.core.apply_plan(PLAN.replace("HOSTS", NEW.replace("new", "zz")), "ann", "", 1)
    assert rows() == [desk, ("zz", "up", {"compute": 1}, True)]
    play.store.close()
