"""The other ends of the agents' connections: an agent that says what a test wants, and who takes the events."""

from __future__ import annotations

import socket
import threading
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from fairhold.agent.frames import AGENT, VERSION, Channel
from fairhold.engines.agents.hub import Agents
from fairhold.engines.agents.listening import Doors
from fairhold.model.spec import Spec
from fairhold.orchestrator.events import MachineGone, MachineReported, MachineSilent, TaskEnded, TaskRunning

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fairhold.orchestrator.instructions import Forget, Notify, Start, Stop, Withdraw

SECRET = bytes(range(32))
PATIENT = 30.0
"""Seconds after which a test gives up; a busy machine may take long."""
NOW = 1_800_000_000_000_000
Report = MachineReported | MachineSilent | MachineGone | TaskRunning | TaskEnded
_Kind = TypeVar("_Kind", bound=Report)


class Clock:
    """Seconds that go on only when a test says so."""

    def __init__(self) -> None:
        self.at = 1000.0

    def __call__(self) -> float:
        return self.at


class Desk:
    """Who decides: gives instructions, and keeps all events in their order.

    between : is called in the thread of the connections whenever it has passed events on
    """

    def __init__(self, directory: Path, **more: Any) -> None:
        self.directory = directory
        self.specs: dict[str, Spec] = {}
        self.seen: list[Report] = []
        self.complaints: list[str] = []
        self._is_called = threading.Event()
        self._unread: deque[Report] = deque()
        more.setdefault("now", lambda: NOW)
        between: Callable[[], object] = more.pop("between", lambda: None)

        def on_events() -> None:
            self._is_called.set()
            between()

        self.agents = Agents(
            doors=Doors(directory, more.pop("address", None), more.pop("secure_address", None)),
            secret=more.pop("secret", SECRET),
            spec_of=self.specs.__getitem__,
            on_events=on_events,
            complain=self.complaints.append,
            **more,
        )

    def order(self, *instructions: Start | Notify | Withdraw | Stop | Forget) -> None:
        self.agents.execute(instructions)

    def take(self) -> list[Report]:
        """What has come now."""
        events = self.agents.events()
        self.seen += events
        self._unread += events
        return events

    def next(self, kind: type[_Kind]) -> _Kind:
        """The next event that was not looked at yet, which has to be of this kind; waits for it."""
        event = self.next_of_any()
        assert isinstance(event, kind), event
        return event

    def next_of_any(self) -> Report:
        give_up = time.monotonic() + PATIENT
        while not self._unread:
            assert time.monotonic() < give_up, f"nothing came; {self.complaints}"
            self._is_called.wait(0.5)
            self._is_called.clear()
            self.take()
        return self._unread.popleft()

    def until_complaint(self, text: str) -> None:
        until(lambda: any(text in complaint for complaint in self.complaints), self.complaints)

    def nothing_more(self) -> None:
        """No event is there; a fresh connection that was answered proves that earlier bytes were looked at."""
        self.take()
        assert not self._unread


def until(condition: Callable[[], bool], hint: object = "") -> None:
    give_up = time.monotonic() + PATIENT
    while not condition():
        assert time.monotonic() < give_up, f"it did not come to be; {hint}"
        time.sleep(0.005)


class FakeAgent:
    """One connection of an agent, whose words are the test's."""

    def __init__(self, to: Path | tuple[str, int], secret: bytes = SECRET) -> None:
        self.socket = socket.create_connection(to, PATIENT) if isinstance(to, tuple) else socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENT)
        if not isinstance(to, tuple):
            self.socket.connect(str(to / "agents.sock"))
        self.channel = Channel(secret, AGENT)
        self._heard: deque[dict[str, Any]] = deque()

    def greet(self) -> FakeAgent:
        """Exchange nonces."""
        self.socket.sendall(self.channel.greeting)
        while not self.channel.is_open:
            self._heard += self.channel.feed(self.socket.recv(4096))
        return self

    def introduce(self, host: str = "here", *, last: int = 0, **more: Any) -> FakeAgent:
        """The whole handshake; the welcome is the next that is heard."""
        self.greet()
        self.say("inventory", **{**INVENTORY, "host": host, "last": last, **more})
        return self

    def say(self, what: str, **fields: Any) -> None:
        self.socket.sendall(self.channel.seal({"type": what, **fields}))

    def hear(self, what: str) -> dict[str, Any]:
        """The next message, which has to be of this type."""
        while not self._heard:
            data = self.socket.recv(1 << 16)
            assert data, "the service closed the connection"
            self._heard += self.channel.feed(data)
        message = self._heard.popleft()
        assert message.pop("type") == what, message
        return message

    def is_dropped(self) -> bool:
        """Whether the service closes the connection; waits for it."""
        with suppress(ConnectionResetError):
            while self.socket.recv(1 << 16):
                pass
        return True

    def close(self) -> None:
        self.socket.close()


INVENTORY: dict[str, Any] = {"version": VERSION, "host": "here", "boot": "b1", "slots": 4, "last": 0, "attempts": []}


def spec(**more: Any) -> Spec:
    return Spec("/A/B", **{"argv": ("true",), **more})


def record(reason: str, **more: Any) -> dict[str, Any]:
    plain = {"code": -1, "signal": 0, "detail": "", "started": 1, "ended": 2, "cpu": 0, "peak": 0}
    return {"reason": reason, **plain, **more}
