"""An agent follows the service of the highest term, also after it was started again."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from fairhold.agent.link import RECONNECT, addresses_of
from fairhold.agent.rank import Rank
from fairhold.agent.spool import Spool
from fairhold.engines.agents.rank import Rank as OfService
from tests.agent.service import Service

if TYPE_CHECKING:
    from pathlib import Path


KEY = b"of both services"


def said(term: int, tail: int) -> dict[str, object]:
    return OfService(term, tail, KEY).stamped({"type": "beat"})


def test_orders_of_an_earlier_service_are_refused(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path / "spool"))
    rank = Rank(spool)
    assert rank.accepts({"type": "welcome"})  # of a service that knows no terms
    assert rank.accepts(said(3, 10))
    assert rank.accepts(said(3, 9))  # sent before, it may come after
    assert (rank.term, rank.tail) == (3, 10)
    assert not rank.accepts(said(2, 50))
    again = Rank(spool)
    assert (again.term, again.tail, again.proof) == (3, 10, OfService(3, 10, KEY).proof)
    assert again.accepts(said(4, 8))
    assert (again.term, again.tail) == (4, 10)
    assert not again.accepts(said(3, 99))


def test_a_restored_store_may_have_a_shorter_log(tmp_path: Path) -> None:
    rank = Rank(Spool(str(tmp_path / "spool")))
    rank.accepts(said(7, 500))
    assert rank.accepts(said(1_000_001, 20))
    assert (rank.term, rank.tail) == (1_000_001, 20)


def test_what_an_agent_keeps_proves_what_a_service_has_said_and_nothing_else(tmp_path: Path) -> None:
    rank = Rank(Spool(str(tmp_path / "spool")))
    rank.accepts(said(3, 10))
    other = OfService(4, 2, KEY)  # with a store that lacks the last commits
    assert other.is_proved(rank.term, rank.tail, rank.proof)
    assert not other.is_proved(rank.term, rank.tail + 90, rank.proof)
    assert not other.is_proved(rank.term + 1, rank.tail, rank.proof)
    assert not other.is_proved(rank.term, rank.tail, "")
    assert not OfService(4, 2, b"another").is_proved(rank.term, rank.tail, rank.proof)
    before = (tmp_path / "spool/rank").stat().st_size
    assert rank.accepts({"term": 3, "tail": 11})  # of a service that proves nothing
    assert (Rank(Spool(str(tmp_path / "spool"))).proof, (tmp_path / "spool/rank").stat().st_size) == ("", before)


def test_what_cannot_be_read_is_none(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path / "spool"))
    (tmp_path / "spool" / "rank").write_text("3\n")
    assert Rank(spool).term == 0


@pytest.mark.parametrize(
    ("term", "tail", "is_outdone"), [(5, 10, False), (4, 99, True), (5, 11, True), (6, 0, True), (0, 0, False)]
)
def test_a_service_sees_who_knows_of_a_later_one(*, term: int, tail: int, is_outdone: bool) -> None:
    assert bool(OfService(5, 10).outdone(term, tail)) == is_outdone


def test_after_a_restore_a_longer_log_of_before_is_no_matter() -> None:
    assert OfService(1_000_001, 10).outdone(5, 500) == ""
    assert OfService().outdone(5, 500) == ""
    assert OfService().stamped({"type": "beat"}) == {"type": "beat"}


@pytest.mark.parametrize("text", ["unix:/a,unix:/b", "tcp:a:1,tls:b:1", "tcp:a:1,", "tcp:a"])
def test_several_addresses_are_of_one_kind(text: str) -> None:
    with pytest.raises(ValueError, match="address"):
        addresses_of(text)
    assert [each.port for each in addresses_of("tcp:a:1,tcp:b:2")] == [1, 2]


def test_an_agent_that_is_told_to_connects_again_and_leaves_what_it_had_not_carried_out(service: Service) -> None:
    (agent,) = service.agents
    last, sent = 0, 0
    while last == 0:  # it may look at the signal before it has received anything
        agent.send_signal(signal.SIGSTOP)
        service.send(*(service.start(number, "/bin/true") for number in range(sent + 1, sent + 41)))
        sent += 40
        agent.send_signal(RECONNECT)
        agent.send_signal(signal.SIGCONT)
        last = service.accept()["last"]
        assert last in {0, sent}
    service.send(service.start(sent, "/bin/true"), service.start(sent + 1, "/bin/true"))
    assert f"not above {sent}" in service.hear("refused", sent)["detail"]
    assert service.ended(sent + 1)["reason"] == "finished"
    assert not (service.state / f"spool/{sent - 10}.exit").exists()  # it was left


def test_an_agent_is_told_to_leave_a_service_that_stands_still_for_another(service: Service) -> None:
    (service.state / "agents.sock").unlink()
    other = Service(service.state)
    try:
        service.agents[0].send_signal(RECONNECT)
        other.accept()
        assert other.run(1, "/bin/true")["reason"] == "finished"
    finally:
        other.close()
