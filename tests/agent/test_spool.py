from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from fairhold.agent.ending import PendingRequest, reason_of
from fairhold.agent.spool import EXIT, LIFE, NOTICE, ORDER, STOP, Spool, SpoolError, exit_record, read_line, write_line

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(str(tmp_path / "spool"))


def test_an_attempt_goes_through_its_stages(spool: Spool) -> None:
    descriptor = spool.create(3, "t")
    assert spool.attempts() == {3: "order"}
    write_line(descriptor, LIFE, {"pid": 5})
    spool.advance(3, "order", "alive")
    spool.write(3, NOTICE, {"reason": "ü" * 50})
    assert [read_line(descriptor, place) for place in (ORDER, LIFE, NOTICE, STOP, EXIT)] == [
        {"attempt": 3, "token": "t"}, {"pid": 5}, {"reason": "ü" * 50}, {}, {},
    ]  # fmt: skip
    spool.settle(3, "alive", exit_record("failed", "x" * 1000))
    assert spool.read(3, "exit", EXIT)["detail"] == "x" * 200
    with pytest.raises(FileNotFoundError):
        spool.write(3, NOTICE, {})
    spool.delete(3)
    spool.delete(3)
    assert spool.attempts() == {}
    os.close(descriptor)


def test_either_the_supervisor_has_an_order_or_a_later_agent(spool: Spool) -> None:
    spool.create(1, "t")
    spool.create(2, "t")
    spool.settle(1, "order", exit_record("refused"))
    with pytest.raises(FileNotFoundError):
        spool.advance(1, "order", "alive")
    spool.advance(2, "order", "alive")
    with pytest.raises(FileNotFoundError):
        spool.settle(2, "order", exit_record("refused"))
    assert spool.attempts() == {1: "exit", 2: "alive"}


def test_a_file_that_is_used_again_holds_nothing_of_before(spool: Spool, tmp_path: Path) -> None:
    os.close(spool.create(1, "old"))
    spool.write(1, STOP, {"reason": "cancel"})
    spool.settle(1, "order", exit_record("refused"))
    inode = (tmp_path / "spool/1.exit").stat().st_ino
    spool.delete(1)
    again = Spool(str(tmp_path / "spool"))
    assert again.attempts() == {}
    os.close(again.create(2, "new"))
    assert (tmp_path / "spool/2.order").stat().st_ino == inode
    assert [again.read(2, "order", place) for place in (ORDER, LIFE, NOTICE, STOP, EXIT)] == [
        {"attempt": 2, "token": "new"}, {}, {}, {}, {},
    ]  # fmt: skip
    assert sorted(path.name for path in (tmp_path / "spool").iterdir()) == ["2.order"]


def test_a_line_that_does_not_fit_is_not_written(spool: Spool) -> None:
    descriptor = spool.create(1, "t")
    with pytest.raises(SpoolError):
        write_line(descriptor, STOP, {"reason": "x" * 300})
    assert read_line(descriptor, STOP) == {}
    assert read_line(descriptor, ORDER) == {"attempt": 1, "token": "t"}


def test_the_worst_exit_record_fits(spool: Spool) -> None:
    descriptor = spool.create(1, "t")
    record = exit_record("not_started", "\U0001f600" * 500)
    record.update(started=10**17, cpu=10**17, peak=10**17)
    with pytest.raises(SpoolError):
        write_line(descriptor, EXIT, record)
    write_line(descriptor, EXIT, exit_record("not_started", "ü" * 500))


def test_other_files_are_no_attempts(spool: Spool, tmp_path: Path) -> None:
    for name in ("last", "lease", "x.exit", "7.draft", "7", ".last"):
        (tmp_path / "spool" / name).touch()
    assert spool.attempts() == {}
    assert spool.last() == 0


@pytest.mark.parametrize("left", [b"", b"ab", b"\xff" * 32, b"x" * 32, b"\0" * 32, b"a" * 33])
def test_a_spool_of_which_a_host_without_power_left_no_name_gets_another(
    spool: Spool, tmp_path: Path, left: bytes
) -> None:
    first = spool.name()
    assert spool.name() == first == Spool(str(tmp_path / "spool")).name()
    (tmp_path / "spool/name").write_bytes(left)
    assert len(spool.name()) == 32
    assert spool.name() != first


@pytest.mark.parametrize("left", [b"", b"\0" * 21, b"\xff", b"1x"])
def test_numbers_that_cannot_be_read_are_none(spool: Spool, tmp_path: Path, left: bytes) -> None:
    for name in ("last", "lease", "7.alive", "8.exit"):
        (tmp_path / "spool" / name).write_bytes(left)
    assert (spool.last(), spool.lease()) == (0, 0.0)
    assert spool.attempts() == {7: "alive", 8: "exit"}
    assert spool.read(7, "alive", LIFE) == spool.read(8, "exit", EXIT) == {}


def test_last_and_lease(spool: Spool, tmp_path: Path) -> None:
    assert (spool.last(), spool.lease()) == (0, None)
    spool.raise_last(41)
    spool.write_lease(12.5)
    files = [(tmp_path / "spool" / name).stat().st_ino for name in ("last", "lease")]
    spool.raise_last(1234)
    spool.write_lease(1e9)
    assert (spool.last(), spool.lease()) == (1234, 1e9)
    assert files == [(tmp_path / "spool" / name).stat().st_ino for name in ("last", "lease")]  # written in their place
    (tmp_path / "spool/last").write_text("7")  # as earlier agents wrote it
    spool.raise_last(8)
    assert spool.last() == 8
    (tmp_path / "spool/lease").write_text("00000000000000000001 00000000000000000002\n")
    assert spool.lease() == 0.0  # half of a write: no lease is believed
    spool.write_lease(None)
    spool.write_lease(None)
    assert spool.lease() is None


@pytest.mark.parametrize(
    ("code", "number", "asked", "reason"),
    [
        (0, 0, {}, "finished"),
        (1, 0, {}, "failed"),
        (75, 0, {}, "failed"),
        (75, 0, {"was_noticed": True}, "yielded"),
        (75, 0, {"was_noticed": True, "stop": "requeue"}, "yielded"),
        (75, 0, {"was_noticed": True, "stop": "cancel"}, "cancel"),
        (0, 0, {"was_noticed": True, "is_under_notice": True}, "finished"),
        (-1, 15, {"was_noticed": True, "is_under_notice": True, "sent": 15}, "reclaim"),
        (-1, 15, {"was_noticed": True, "sent": 15}, "reclaim"),
        (143, 0, {"was_noticed": True, "sent": 15}, "reclaim"),
        (1, 0, {"was_noticed": True, "sent": 15}, "failed"),
        (0, 0, {"was_noticed": True, "stop": "cancel"}, "cancel"),
        (0, 0, {"was_noticed": True, "stop": "reclaim"}, "finished"),
        (-1, 9, {"was_noticed": True, "stop": "reclaim"}, "reclaim"),
        (0, 0, {"forced": "time_limit"}, "time_limit"),
        (-1, 9, {"forced": "memory", "stop": "cancel"}, "memory"),
        (-1, 9, {"forced": "host_lost"}, "host_lost"),
        (75, 0, {"forced": "reclaim", "was_noticed": True, "is_under_notice": True}, "yielded"),
    ],
)
def test_reasons(code: int, number: int, asked: dict[str, object], reason: str) -> None:
    what = PendingRequest()
    for name, value in asked.items():
        setattr(what, name, value)
    assert reason_of(code, number, what) == reason
