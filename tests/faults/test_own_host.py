"""Which host the service's own machine is may change only when nothing of before runs there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.faults.house import PATIENCE, House, lives, until

if TYPE_CHECKING:
    from fairhold.client.answers import Job
    from tests.faults.conftest import Open

WORK = "echo $$ >> ran; while [ ! -e go ]; do sleep 0.05; done"


def plan(*hosts: str) -> str:
    """Two leaves that own nothing share hosts of 2 CPUs."""
    named = ", ".join(f"{{name: {host}, cpu: 2}}" for host in hosts)
    return f"""\
fairhold: 1
resources: {{cpu: {{}}}}
resource_groups: {{main: {{hosts: [{named}]}}}}
consumers: {{A: {{}}, B: {{}}}}
policies: [{{resource_groups: [main], policy: multidimensional, consumers: {{/A: {{}}, /B: {{}}}}}}]
"""


def begun(house: House, tasks: int) -> list[int]:
    """Numbers of the processes of all attempts so far."""
    path = house.place / "ran"
    until(lambda: path.exists() and len(path.read_text().split()) >= tasks)
    return [int(line) for line in path.read_text().split()]


def refused(house: House, *words: str) -> str:
    """What a start says that is refused."""
    house.words = words
    before = len(house.said)
    house.launch()
    assert house.service.wait(PATIENCE) == 1
    return house.said[before:]


def ends(house: House, job: Job) -> None:
    (house.place / "go").touch()
    assert house.client.wait(job, PATIENCE).state == "done"
    assert [len(house.attempts(job, task)) for task in range(2)] == [1, 1], "each ran once"
    (house.place / "go").unlink()


@pytest.mark.parametrize("words", [(), ("--host", "h2")])
def test_a_start_as_another_host_is_refused_while_tasks_run(open_house: Open, words: tuple[str, ...]) -> None:
    house = open_house(plan("h1", "h2"), "--host", "h1")
    job = house.submit(WORK, count=2, unit={"cpu": 1})
    pids = begun(house, 2)
    house.kill()
    said = refused(house, *words)
    assert "this machine was the host `h1` so far, 2 tasks of it are not over, and --host" in said
    assert "[host-in-use]" in said
    assert "start with --host h1" in said
    assert all(map(lives, pids))
    house.words = ("--host", "h1")
    house.serve()
    ends(house, job)
    assert begun(house, 2) == pids
    house.kill()
    house.words = ("--host", "h2")
    house.serve()
    house.run("true", count=2, unit={"cpu": 1})
    assert house.host("h2").state == "up", "nothing ran there any more"


def test_a_plan_without_the_own_host_is_told_of_and_what_runs_there_outlives_a_start(open_house: Open) -> None:
    house = open_house(plan("h1", "h2"), "--host", "h1")
    job = house.submit(WORK, count=2, unit={"cpu": 1})
    pids = begun(house, 2)
    new = house.place / "new.yaml"
    new.write_text(plan("h2", "h3"))
    told = house.fairhold("plan", "apply", str(new))
    assert "2 tasks run on the host `h1`, which this plan does not have: nothing new starts there" in told
    assert "it is the service's own, and a start with --host needs a plan with it" in told
    assert "no agent of `h3` has connected: nothing starts there until then" in told
    assert "fairhold hosts drain h1" in told
    assert "plan 2 is in force" in told
    (row,) = [each for each in house.client.hosts() if each.name == "h1"]
    assert row.document["reason"] == "not in the plan"
    house.again()
    assert "plan 2 is in force and has no host h1: 2 tasks that run there go on, and nothing new starts" in house.said
    assert all(map(lives, pids))
    ends(house, job)
    assert begun(house, 2) == pids
    house.kill()
    said = refused(house, "--host", "h1")
    assert "plan 2, which is in force, has no host `h1`, which --host names" in said
    assert f"start without --host, then `fairhold plan apply {house.plan}`, and start again" in said
    house.words = ()
    house.serve()
    assert "plan 3 is in force" in house.fairhold("plan", "apply", str(house.plan))
    house.kill()
    house.words = ("--host", "h1")
    house.serve()
    assert house.run("true", unit={"cpu": 1}).state == "done"


def test_a_changed_file_without_the_own_host_is_not_put_in_force(open_house: Open) -> None:
    house = open_house(plan("h1", "h2"), "--host", "h1")
    house.kill()
    house.plan.write_text(plan("h2", "h3"))
    assert "the plan has no host `h1`, which --host names" in refused(house, "--host", "h1")
    house.plan.write_text(plan("h1", "h2"))
    house.serve()
    assert "plan 2" not in house.said
    assert house.run("true", unit={"cpu": 1}).state == "done"
