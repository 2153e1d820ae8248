"""A small disk that fills up under the service and the agent of its own host, and has room again."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from fairhold.client.errors import ServiceError
from tests.faults.house import until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.faults.house import House

    Open = Callable[..., House]

FILL = "dd if=/dev/zero of=fill bs=1M; while [ -e fill ]; do sleep 0.1; done"


def in_trouble(house: House) -> bool:
    """Whether the service has met the full disk; labels make it write more than fits into what is left of its log."""
    with suppress(ServiceError):
        house.submit("true", labels={f"l{number}": "x" * 200 for number in range(20)})
    return bool(house.client.health()["state"] == "trouble")


def test_what_fills_the_disk_can_be_cancelled_though_nothing_can_be_written(small_disk: Path, open_house: Open) -> None:
    house = open_house(place=small_disk)
    job = house.submit(FILL)
    until(lambda: not os.statvfs(small_disk).f_bavail)
    until(lambda: in_trouble(house))
    with suppress(ServiceError):  # not durable yet
        house.client.cancel(job)
    until(lambda: not house.client.job(job).tasks["running"])
    assert not os.statvfs(small_disk).f_bavail
    (house.place / "fill").unlink()
    until(lambda: house.client.health()["state"] == "ok")
    assert house.client.wait(job, 20).state == "cancelled"
    assert house.attempts(job)[0]["reason"] == "cancel"
    house.again()
    assert house.client.job(job).state == "cancelled"


def test_a_service_on_a_full_disk_can_be_stopped_with_all_that_runs(small_disk: Path, open_house: Open) -> None:
    house = open_house(place=small_disk)
    job = house.submit(f"[ -e again ] || {{ {FILL}; }}")
    until(lambda: not os.statvfs(small_disk).f_bavail)
    until(lambda: in_trouble(house))
    house.fairhold("stop", "--kill")
    house.service.wait(20)
    house.client.close()
    (house.place / "fill").unlink()
    (house.place / "again").touch()
    house.serve()
    assert house.client.wait(job, 20).state == "done"  # what was stopped has waited again
    assert [each["reason"] for each in house.attempts(job)] == ["requeue", "finished"]


def test_a_host_whose_own_disk_is_full_is_tried_again_when_there_is_room(
    tmp_path: Path, small_disk: Path, open_house: Open
) -> None:
    (small_disk / "spool").mkdir()
    (small_disk / "jobs").mkdir()
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    for name in ("spool", "jobs"):  # the store has room, the agent has none
        (state / name).symlink_to(small_disk / name)
    house = open_house()
    assert house.run("true").state == "done"
    with suppress(OSError), (small_disk / "fill").open("wb", buffering=0) as file:
        while file.write(bytes(1 << 16)):
            pass
    job = house.submit("true", count=9)
    (host,) = until(lambda: [each for each in house.client.hosts() if each.document["state"] == "closed"])
    assert host.document["reason"] == "it has no space left to start anything"
    assert host.document["open_at"]
    assert "; opens " in house.fairhold("hosts")
    tried = [dict(each.document) for task in house.client.tasks(job) for each in task.attempts]
    assert 0 < len(tried) <= 4, "one for each slot"
    refused = [each for each in tried if each["reason"] == "refused"]
    assert refused
    assert all(each["detail"].startswith("no space: ") for each in refused)
    assert len(tried) - len(refused) <= 1, "the file of the first job is used again, which takes no room"
    (small_disk / "fill").unlink()
    house.client.open_host(host.name)  # as the service itself does after ten seconds
    assert house.client.wait(job, 20).state == "done"
