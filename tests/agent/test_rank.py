"""An agent follows the service of the highest term, also after it was started again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fairhold.agent.link import addresses_of
from fairhold.agent.rank import Rank
from fairhold.agent.spool import Spool
from fairhold.engines.agents.rank import Rank as OfService

if TYPE_CHECKING:
    from pathlib import Path


def said(term: int, tail: int) -> dict[str, object]:
    return OfService(term, tail).stamped({"type": "beat"})


def test_orders_of_an_earlier_service_are_refused(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path / "spool"))
    rank = Rank(spool)
    assert rank.accepts({"type": "welcome"})  # of a service that knows no terms
    assert rank.accepts(said(3, 10))
    assert rank.accepts(said(3, 9))  # sent before, it may come after
    assert (rank.term, rank.tail) == (3, 10)
    assert not rank.accepts(said(2, 50))
    again = Rank(spool)
    assert (again.term, again.tail) == (3, 10)
    assert again.accepts(said(4, 8))
    assert (again.term, again.tail) == (4, 10)
    assert not again.accepts(said(3, 99))


def test_a_restored_store_may_have_a_shorter_log(tmp_path: Path) -> None:
    rank = Rank(Spool(str(tmp_path / "spool")))
    rank.accepts(said(7, 500))
    assert rank.accepts(said(1_000_001, 20))
    assert (rank.term, rank.tail) == (1_000_001, 20)


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
