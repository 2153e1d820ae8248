"""Hosts that start nothing more: nothing is taken back there for others, who could not use it."""

import json
from pathlib import Path

from fairhold.orchestrator.as_file import is_sayable, slots_as_file
from fairhold.orchestrator.events import MachineClosed, MachineOpened, MachineSilent
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state, state_document
from tests.orchestrator.house import SECOND, House, notices, starts, stops

BANK = (Path(__file__).parents[2] / "examples/bank.yaml").read_text("utf-8")


def noticed(house: House) -> list[int]:
    return [name for name, each in house.live.attempts.items() if each.notice is not None]


def test_closing_a_host_takes_nothing_back() -> None:
    house = House(plan=parse_plan(BANK.replace("compute", "c"), "bank")[0])
    house.submit("/Research/Backtests", count=9)
    assert len(house.live.attempts) == 6
    out = house.take(MachineClosed("", "new disk"))
    for _ in range(5):
        out += house.wait(SECOND)
    out += house.submit("/Trading/Equities", count=3)
    out += house.submit("/Risk/Market", count=3)
    assert (notices(out), starts(out), noticed(house)) == ([], [], [])
    out = house.end(1)
    assert (notices(out), starts(out)) == ([], [])
    house.take(MachineClosed("", "new disk", drain=True))
    assert noticed(house) == [2, 3, 4, 5, 6]
    assert len(stops(house.wait(2 * SECOND))) == 5


def test_what_others_want_is_taken_back_on_open_hosts_alone() -> None:
    house = House(h1=4, h2=4, h3=4)
    house.submit("/B", count=12)
    house.take(MachineClosed("h2", "new disk"))
    house.take(MachineSilent("h3"))
    assert noticed(house) == []
    house.submit("/A", count=9)
    on = {name for name, each in house.live.attempts.items() if each.places[0][0] == "h1"}
    assert set(noticed(house)) == on
    house.take(MachineOpened("h2"))
    assert len(noticed(house)) == 6


def test_a_notice_from_before_the_closing_stays() -> None:
    house = House(h1=4)
    house.submit("/B", count=4)
    house.submit("/A", count=1)
    (going,) = noticed(house)
    house.take(MachineClosed("h1", "new disk"))
    house.wait(SECOND)
    assert noticed(house) == [going]


def test_a_gang_with_a_part_on_a_closed_host_is_left_alone() -> None:
    house = House(h1=4, h2=4)
    house.submit("/B", units=6)
    house.submit("/B", count=2)
    house.take(MachineClosed("h2", "new disk"))
    house.submit("/A", count=8)
    open_ones = [n for n, e in house.live.attempts.items() if {host for host, _ in e.places} == {"h1"}]
    assert set(noticed(house)) <= set(open_ones)


def test_a_state_says_which_named_hosts_are_closed_and_is_read_back() -> None:
    house = House(h1=4, h2=4)
    house.submit("/B", count=6)
    house.take(MachineClosed("h1", "new disk"))
    state = slots_as_file(house.live.cluster, house.now)
    assert state.hosts_closed == {"h1"}
    assert parse_state(json.dumps(state_document(house.plan, state)), house.plan, "state").hosts_closed == {"h1"}
    (books,) = house.live.cluster.books.values()
    assert is_sayable(books)


def test_no_state_says_that_the_machine_of_a_group_without_hosts_is_closed() -> None:
    house = House(plan=parse_plan(BANK.replace("compute", "c"), "bank")[0])
    house.submit("/Research/Backtests", count=9)
    house.take(MachineClosed("", "new disk"))
    state = slots_as_file(house.live.cluster, house.now)
    assert state.hosts_closed == frozenset()
    parse_state(json.dumps(state_document(house.plan, state)), house.plan, "state")
    (books,) = house.live.cluster.books.values()
    assert not is_sayable(books)
