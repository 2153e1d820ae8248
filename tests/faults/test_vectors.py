"""Vectors on several machines: what stands there survives agents that die, drains, restores and new plans."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any

from tests.faults.house import PATIENCE, House, free_port, until

if TYPE_CHECKING:
    from fairhold.client.answers import Job
    from tests.faults.conftest import Open

HOSTS = ("desk", "h2")
_VENDORS = ("CUDA", "HIP", "NVIDIA")
VISIBLE = ["FAIRHOLD_DEVICES", "ZE_AFFINITY_MASK", *(f"{name}_VISIBLE_DEVICES" for name in _VENDORS)]
"""How a task is told its GPUs: our own word, and those of the vendors."""
WORK = f"""
    trap 'test -e stay || exit 75' TERM
    echo {" ".join(f"${name}" for name in VISIBLE)} > gpus.$FAIRHOLD_JOB.$FAIRHOLD_TASK.$FAIRHOLD_ATTEMPT
    while [ ! -e go ]; do sleep 0.05; done
"""
"""Leaves when it is told to, unless it is to stay."""


def plan(own: str = "[desk]", grace: str = "60s") -> str:
    """Two hosts of two GPUs each; /A owns some of them, and /B borrows."""
    hosts = ", ".join(f"{{name: {name}, cpu: 4, memory: 8, gpu: 2}}" for name in HOSTS)
    return f"""\
fairhold: 1
cluster: house
resources: {{cpu: {{}}, memory: {{unit: GiB}}, gpu: {{}}}}
resource_groups: {{gpu: {{hosts: [{hosts}]}}}}
consumers:
  A: {{}}
  B: {{reclaim_grace: {grace}}}
policies:
  - resource_groups: [gpu]
    policy: multidimensional
    consumers: {{/A: {{own: [{{resource_group: gpu, hosts: {own}}}]}}}}
"""


def held(house: House) -> dict[tuple[str, int], str]:
    """(host, number of a GPU) → the job that has it, as the service says; nobody has what another has."""
    rows = [(row["host"], number, row["job"]) for row in house.client.allocations() for number in row["devices"]]
    found = {(host, number): job for host, number, job in rows}
    assert len(found) == len(rows)
    return found


def told(house: House, job: Job, attempt: int = 1) -> set[tuple[str, ...]]:
    """What the tasks of a job were told by the variables, one after another."""
    return {tuple(path.read_text().split()) for path in house.place.glob(f"gpus.{job.name}.*.{attempt}")}


def noticed(house: House) -> list[dict[str, Any]]:
    return [row for row in house.client.allocations() if row["deadline"]]


def in_use(house: House) -> dict[str, int]:
    (group,) = json.loads(house.fairhold("top", "--once", "--json"))["resource_groups"].values()
    return {name: row["used"] for name, row in group["resources"].items()}


def store(house: House, *words: str) -> str:
    command = [sys.executable, "-m", "fairhold", "store", *words, "--state", str(house.state)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout


def opened(open_house: Open) -> House:
    """A service with both hosts connected."""
    port = free_port()
    house = open_house(plan(), "--host", "desk", "--agents", f"127.0.0.1:{port}", "--lease", "30s")
    house.port = port
    house.agent("h2", port)
    until(lambda: all(house.host(name).document["connected"] for name in HOSTS))
    return house


def test_gpus_of_every_host_are_each_ones_own_and_come_back(open_house: Open) -> None:
    house = opened(open_house)
    unit = {"cpu": 1, "memory": 1, "gpu": 1}
    job = house.submit(WORK, consumer="/B", count=4, unit=unit)
    until(lambda: len(list(house.place.glob("gpus.*"))) == 4)
    everything = {(host, number) for host in HOSTS for number in (0, 1)}
    assert held(house).keys() == everything
    assert told(house, job) == {("0",) * len(VISIBLE), ("1",) * len(VISIBLE)}
    assert in_use(house) == {"cpu": 4, "memory": 4, "gpu": 4}

    house.agents["h2"].kill()  # its supervisors and tasks go on
    house.agents["h2"].wait()
    until(lambda: house.host("h2").document["state"] == "silent")
    waits = house.submit("true", consumer="/B", unit={"gpu": 1})
    house.agent("h2", house.port)
    until(lambda: house.host("h2").document["connected"])
    assert held(house).keys() == everything
    house.client.cancel(waits)

    house.client.close_host("h2", drain=True)
    until(lambda: held(house).keys() == {("desk", 0), ("desk", 1)})
    assert in_use(house) == {"cpu": 2, "memory": 2, "gpu": 2}
    none = house.run("echo .$CUDA_VISIBLE_DEVICES.$NVIDIA_VISIBLE_DEVICES.", consumer="/A", unit={"cpu": 1})
    assert house.client.output(none) == b".-1.void.\n"
    house.client.open_host("h2")
    until(lambda: held(house).keys() == everything)
    until(lambda: len(told(house, job, 2)) == 2)
    (house.place / "go").touch()
    assert house.client.wait(job, PATIENCE).state == "done"
    assert [task.attempts[-1].reason for task in house.client.tasks(job)] == ["finished"] * 4
    assert in_use(house) == {"cpu": 0, "memory": 0, "gpu": 0}


def test_a_restored_store_and_a_new_plan_find_units_under_notice_again(open_house: Open) -> None:
    house = opened(open_house)
    stay = house.place / "stay"
    stay.touch()
    job = house.submit(WORK, consumer="/B", count=4, unit={"cpu": 1, "gpu": 1})
    until(lambda: len(list(house.place.glob("gpus.*"))) == 4)
    own = house.submit(WORK, consumer="/A", unit={"cpu": 1, "gpu": 1})
    (notice,) = until(lambda: noticed(house))
    assert (notice["job"], notice["host"], notice["for"]) == (job.name, "desk", "/A")
    copy = house.place / "copy"
    store(house, "check")
    store(house, "backup", str(copy))

    other = house.place / "other.yaml"
    other.write_text(plan("[desk, h2], reserved: true", grace="50s"))
    dry = house.client.apply_plan(other.read_text(), dry_run=True)["diff"]
    assert {(row["host"], row["from"], row["to"]) for row in dry["ownership"]} == {("h2", None, "/A")}
    added = [(row["host"], row["units"], row["reason"], row["for"]) for row in dry["reclaims"]["added"]]
    assert sorted(added) == [("desk", 1, "limit", None), ("h2", 2, "limit", None)]
    house.client.apply_plan(other.read_text())
    rows = until(lambda: len(noticed(house)) == 4 and noticed(house))
    deadlines = {row["host"]: datetime.fromisoformat(row["deadline"]) for row in rows if row != notice}
    said = {row["host"]: datetime.fromisoformat(row["deadline"]) for row in dry["reclaims"]["added"]}
    assert all(0 <= (deadlines[host] - said[host]).total_seconds() < 20 for host in HOSTS)

    house.client.close()
    house.fairhold("stop", "--kill")
    house.service.wait(PATIENCE)
    store(house, "restore", str(copy), "--replace")
    house.plan.write_text(plan())
    stay.unlink()
    house.serve()
    until(lambda: sorted(held(house).values()) == sorted([job.name] * 3 + [own.name]))
    assert house.client.plan().version == 1
    (house.place / "go").touch()
    assert house.client.wait(job, PATIENCE).state == "done"
    assert house.client.wait(own, PATIENCE).state == "done"
    assert store(house, "check").endswith("good\n")
