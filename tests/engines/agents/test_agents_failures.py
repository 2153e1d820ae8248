"""Peers that are not who they should be, say nothing, too much or half of it."""

from __future__ import annotations

import os
import socket
import stat
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.agent.frames import NONCE
from fairhold.engines.agents import listening
from fairhold.engines.agents.settings import AgentSettings
from fairhold.errors import InputError
from fairhold.orchestrator.events import MachineReported, MachineSilent, TaskEnded, TaskRunning
from fairhold.orchestrator.instructions import Notify, Start, Withdraw
from tests.engines.agents.fake import INVENTORY, NOW, Clock, Desk, FakeAgent, record, spec, until
from tests.engines.contract import open_descriptors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    OpenDesk = Callable[..., Desk]
    Connect = Callable[..., FakeAgent]


def start(attempt: int, job: str = "7") -> Start:
    return Start(attempt, job, attempt, 1, "compute", "")


def works(desk: Desk, connect: Connect) -> FakeAgent:
    """An agent is let in: the desk still serves."""
    agent = connect().introduce()
    agent.hear("welcome")
    desk.next(MachineReported)
    return agent


def test_the_socket_is_its_owners_alone_and_goes(tmp_path: Path, open_desk: OpenDesk) -> None:
    desk = open_desk()
    assert stat.S_IMODE((tmp_path / "agents.sock").stat().st_mode) == 0o600
    desk.agents.close()
    desk.agents.close()
    assert not (tmp_path / "agents.sock").exists()


def test_a_socket_that_was_left_behind_is_replaced(tmp_path: Path, open_desk: OpenDesk, connect: Connect) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(tmp_path / "agents.sock"))
    works(open_desk(), connect)


def test_a_later_services_socket_stays(open_desk: OpenDesk, connect: Connect) -> None:
    first, second = open_desk(), open_desk()
    first.agents.close()
    works(second, connect)


def test_a_file_in_the_place_of_the_socket_is_a_fault(tmp_path: Path, open_desk: OpenDesk) -> None:
    (tmp_path / "agents.sock").write_text("mine")
    with pytest.raises(InputError, match="socket-path"):
        open_desk()
    assert (tmp_path / "agents.sock").read_text() == "mine"


def test_a_path_that_is_too_long_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="socket-path"):
        listening.listen_here(tmp_path / ("x" * 100))


def test_an_address_that_is_taken_leaves_nothing_behind(tmp_path: Path, open_desk: OpenDesk) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(InputError, match=r"in use.*cannot-listen"):
        open_desk(address=other.getsockname())
    assert not (tmp_path / "agents.sock").exists()


def test_another_secret_is_dropped(open_desk: OpenDesk, connect: Connect) -> None:
    desk = open_desk()
    assert connect(secret=bytes(32)).introduce().is_dropped()
    desk.until_complaint("does not verify")
    works(desk, connect)
    desk.nothing_more()


def bad_inventories() -> list[dict[str, Any]]:
    held = {"attempt": 1, "alive": True, "exit": None}
    return [
        {"type": "running", "attempt": 1},
        {**INVENTORY, "last": "1"},
        {**INVENTORY, "last": -1},
        {**INVENTORY, "last": True},
        {**INVENTORY, "attempts": {}},
        {**INVENTORY, "attempts": [1]},
        {**INVENTORY, "attempts": [{**held, "alive": 1}]},
        {**INVENTORY, "attempts": [{**held, "exit": {}}]},
        {**INVENTORY, "host": "two\nlines"},
        {**INVENTORY, "host": "x" * 300},
        {**INVENTORY, "version": 99},
    ]


@pytest.mark.parametrize("message", bad_inventories())
def test_who_begins_otherwise_is_dropped(open_desk: OpenDesk, connect: Connect, message: dict[str, Any]) -> None:
    desk = open_desk()
    agent = connect().greet()
    agent.say(
        **{"what": "inventory", **{("what" if name == "type" else name): value for name, value in message.items()}}
    )
    assert agent.is_dropped()
    desk.until_complaint("before it identified itself")
    desk.nothing_more()


@pytest.mark.parametrize(
    ("what", "fields"),
    [
        ("ended", {"attempt": 1}),
        ("ended", {"attempt": 1, "exit": {"reason": 5}}),
        ("ended", {"attempt": 1, "exit": record("failed", code="1")}),
        ("running", {}),
        ("refused", {"attempt": 2**70}),
        ("old", {"jobs": [7]}),
        ("old", {"jobs": ["7"] * 1001}),
    ],
)
def test_who_says_what_cannot_be_is_silent_from_then_on(
    open_desk: OpenDesk, connect: Connect, what: str, fields: dict[str, Any]
) -> None:
    desk = open_desk()
    agent = works(desk, connect)
    agent.say(what, **fields)
    assert agent.is_dropped()
    desk.next(MachineSilent)
    works(desk, connect)


def test_a_repeated_frame_ends_the_connection(open_desk: OpenDesk, connect: Connect) -> None:
    desk = open_desk()
    agent = works(desk, connect)
    frame = agent.channel.seal({"type": "running", "attempt": 1})
    agent.socket.sendall(frame)
    assert desk.next(TaskRunning).attempt == 1
    agent.socket.sendall(frame)
    desk.next(MachineSilent)


def test_frames_may_come_byte_by_byte(open_desk: OpenDesk, connect: Connect) -> None:
    desk = open_desk()
    agent = connect().greet()
    for byte in agent.channel.seal({"type": "inventory", **INVENTORY}):
        agent.socket.sendall(bytes([byte]))
    desk.next(MachineReported)
    agent.hear("welcome")


def test_half_a_frame_and_then_the_end(open_desk: OpenDesk, connect: Connect) -> None:
    desk = open_desk()
    agent = works(desk, connect)
    agent.say("running", attempt=1)
    frame = agent.channel.seal({"type": "ended", "attempt": 1, "exit": record("finished", code=0)})
    agent.socket.sendall(frame[:-1])
    agent.close()
    desk.next(TaskRunning)
    desk.next(MachineSilent)
    works(desk, connect)
    desk.nothing_more()


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_a_handshake_has_its_time(open_desk: OpenDesk, connect: Connect, steps: int) -> None:
    """Whether a peer says nothing, half a nonce, or a nonce and half an inventory."""
    clock = Clock()
    desk = open_desk(clock=clock)
    agent = connect()
    if steps == 1:
        agent.socket.sendall(agent.channel.greeting[:16])
    if steps == 2:
        agent.greet().socket.sendall(agent.channel.seal({"type": "inventory", **INVENTORY})[:40])
    works(desk, connect)  # proves that the connection was accepted before
    clock.at += 9.9
    desk.agents.wake()
    clock.at += 0.2
    desk.agents.wake()
    assert agent.is_dropped()
    desk.until_complaint("too long")


def test_strangers_do_not_keep_an_agent_out(open_desk: OpenDesk, connect: Connect) -> None:
    desk = open_desk(settings=AgentSettings(strangers=3))
    crowd = [connect() for _ in range(8)]
    works(desk, connect)
    assert crowd[0].is_dropped()
    desk.until_complaint("too many")


def test_a_flood_of_rubbish_harms_only_itself(open_desk: OpenDesk, connect: Connect) -> None:
    desk = open_desk()
    good = works(desk, connect)
    bad = connect()
    with pytest.raises(OSError, match=r"reset|Broken pipe"):
        bad.socket.sendall(os.urandom(1 << 26))
    good.say("running", attempt=1)
    desk.next(TaskRunning)


def test_strangers_share_a_bounded_memory(open_desk: OpenDesk, connect: Connect) -> None:
    """Nothing that they send is verified before a frame is whole; who has sent most goes."""
    desk = open_desk(address=("127.0.0.1", 0), settings=AgentSettings(unproven=1 << 20))
    assert desk.agents.address
    small, large = connect(desk.agents.address), connect(desk.agents.address)
    small.socket.sendall(bytes(NONCE) + (1 << 24).to_bytes(4, "big") + bytes(1 << 18))
    with suppress(OSError):
        large.socket.sendall(bytes(NONCE) + (1 << 24).to_bytes(4, "big") + bytes(1 << 22))
    assert large.is_dropped()
    desk.until_complaint("sent too much")
    assert len([each for each in desk.complaints if "sent too much" in each]) == 1
    works(desk, connect)


def test_when_nobody_takes_events_agents_are_not_read(open_desk: OpenDesk, connect: Connect) -> None:
    """So the memory of the service stays bounded; nothing is lost, and no silence is held against the agent."""
    clock = Clock()
    desk = open_desk(settings=AgentSettings(reports=100), clock=clock)
    agent = works(desk, connect)
    count = 60_000

    def flood() -> None:
        for attempt in range(1, count + 1):
            agent.say("running", attempt=attempt)

    sender = threading.Thread(target=flood)
    sender.start()
    until(lambda: len(desk.agents._reports) >= 100)
    sender.join(0.3)
    assert sender.is_alive(), "the agent is not read any more: its socket is full"
    assert len(desk.agents._reports) < 20_000
    clock.at += 1000
    desk.agents.wake()
    assert [desk.next(TaskRunning).attempt for _ in range(count)] == list(range(1, count + 1))
    sender.join()


def test_an_agent_that_does_not_read_is_given_up(open_desk: OpenDesk, connect: Connect) -> None:
    desk = open_desk(settings=AgentSettings(backlog=50_000))
    agent = works(desk, connect)
    desk.specs["7"] = spec()
    desk.order(start(1))
    agent.hear("start")
    for _ in range(200):  # each some hundred bytes: more than the socket and the backlog hold
        desk.order(*(order for _ in range(20) for order in (Notify(1, NOW, "quota", "/C"), Withdraw(1))))
    desk.next(MachineSilent)
    desk.until_complaint("does not read")
    works(desk, connect)


def test_large_starts_wait_for_an_agent_that_reads_slowly(open_desk: OpenDesk, connect: Connect) -> None:
    """They are not put into memory one after the other, and an agent that reads gets them all."""
    clock = Clock()
    desk = open_desk(clock=clock, settings=AgentSettings(backlog=1_000_000))
    agent = works(desk, connect)
    desk.specs["7"] = spec(stdin=bytes(300_000))
    desk.order(*(start(attempt) for attempt in range(1, 51)))
    until(lambda: 0 < desk.agents.status()[0].waiting < 50)
    assert desk.agents.status()[0].waiting > 40
    assert [agent.hear("start")["attempt"] for _ in range(50)] == list(range(1, 51))
    desk.nothing_more()


def test_an_agent_that_stops_reading_in_the_middle_is_given_up(open_desk: OpenDesk, connect: Connect) -> None:
    clock = Clock()
    desk = open_desk(clock=clock, settings=AgentSettings(silence=30))
    agent = works(desk, connect)
    desk.specs["7"] = spec(stdin=bytes(300_000))
    desk.order(*(start(attempt) for attempt in range(1, 11)))
    until(lambda: 0 < desk.agents.status()[0].waiting < 10)
    clock.at += 20
    agent.say("beat", n=1)
    until(lambda: desk.agents.status()[0].beat > 0)
    clock.at += 11
    desk.agents.wake()
    desk.next(MachineSilent)
    desk.until_complaint("read nothing for 30 s")


def test_an_agent_that_says_nothing_is_given_up(open_desk: OpenDesk, connect: Connect) -> None:
    clock = Clock()
    desk = open_desk(clock=clock, settings=AgentSettings(silence=30))
    agent = works(desk, connect)
    clock.at += 29
    agent.say("beat", n=1)
    until(lambda: desk.agents.status()[0].beat > 0)
    clock.at += 29
    desk.agents.wake()
    agent.say("running", attempt=1)
    desk.next(TaskRunning)
    clock.at += 31
    desk.agents.wake()
    desk.next(MachineSilent)


def test_of_two_agents_with_one_name_the_newer_stays(open_desk: OpenDesk, connect: Connect) -> None:
    desk = open_desk(address=("127.0.0.1", 0))
    desk.specs["7"] = spec()
    older = connect(desk.agents.address).introduce("far")
    desk.next(MachineReported)
    newer = connect(desk.agents.address).introduce("far", boot="b2")
    assert older.is_dropped()
    assert desk.next(MachineSilent).machine == "far"
    assert desk.next(MachineReported).boot == "b2"
    newer.hear("welcome")
    desk.order(Start(1, "7", 0, 1, "compute", "far"))
    sent = newer.hear("start")
    assert (sent["attempt"], sent["keep_empty"]) == (1, True)
    newer.say("ended", attempt=1, exit=record("finished", code=0))
    assert desk.next(TaskEnded).attempt == 1
    desk.until_complaint("a newer connection took its place")


def test_status_says_who_is_there(open_desk: OpenDesk, connect: Connect) -> None:
    desk = open_desk(address=("127.0.0.1", 0), awaited={"old": ""})
    far = connect(desk.agents.address).introduce("far", slots=8, enforced=["cpu", "sun"])
    desk.next(MachineReported)
    far.say("beat", n=4)
    far.hear("welcome")
    far.hear("lease")
    own, connected, old = desk.agents.status()
    assert (own.machine, own.is_connected, own.host) == ("", False, "")
    assert connected == ("far", True, NOW, "far", "1", 8, 0, NOW, ("cpu",), 0)
    assert (old.machine, old.is_connected, old.since) == ("old", False, NOW)
    far.close()
    desk.next(MachineSilent)
    assert not desk.agents.status()[1].is_connected


def test_a_thread_that_fails_is_not_hidden(
    open_desk: OpenDesk, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = open_desk()
    agent = works(desk, connect)

    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(desk.agents._talk, "hear", broken)
    agent.say("running", attempt=1)
    desk.until_complaint("no longer served")
    with pytest.raises(RuntimeError, match="no longer served"):
        desk.agents.events()


def test_close_gives_every_descriptor_back(open_desk: OpenDesk, connect: Connect) -> None:
    before = open_descriptors()
    desk = open_desk(address=("127.0.0.1", 0))
    agents = [works(desk, connect), connect(), connect(desk.agents.address).introduce("far")]
    desk.next(MachineReported)
    desk.agents.close()
    for agent in agents:
        agent.close()
    assert open_descriptors() == before
