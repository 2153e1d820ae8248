"""Messages that are not delivered yet: bounded, in the store before anybody is told, and sent again until they are had.

A message is of one person and one channel, and tells all that has happened since the one before. So whatever happens,
nobody has more than two that wait: one that is being sent, to which nothing is added, and one that gathers. What a
message cannot hold any more is told as a number.
"""

from __future__ import annotations

import json
import secrets
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.units import SECOND

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from fairhold.ports import Store
    from fairhold.runtime.live.journal import Journal

    Fact = dict[str, Any]

OUTBOX = "outbox"
MAIL, WEBHOOK = "mail", "webhook"
CHANNELS = (MAIL, WEBHOOK)
MOST_FACTS = 50
"""Of one message; what is beyond is a number."""
MOST_IN_ALL = 100_000
"""Facts of all messages that wait."""
EVERY = 10 * SECOND
"""Between two messages to one person by one channel."""
AT_ONCE = 32
"""Messages that are being sent at a time by one channel, so that none waits for the receivers of another."""
GIVE_UP = 86_400 * SECOND
"""From its first try, after which a message that nobody takes is given up."""
_FIRST, _LONGEST = 10 * SECOND, 3_600 * SECOND
"""Delay before a second try; it doubles up to the longest."""
_IN_FLIGHT = 300 * SECOND
"""After which one of which nothing was heard is sent again."""


@dataclass(slots=True)
class Message:
    """What somebody is told at once.

    id    : the same at every try
    at    : instant at which it was begun, from the first try on of that; due: of its next try
    facts : what has happened; more: how much else has
    tries : so far; to one that was tried nothing is added
    """

    id: str
    at: int
    facts: list[Fact]
    more: int
    tries: int
    due: int


class Delivery(NamedTuple):
    """A message that is to be sent now."""

    channel: str
    user: str
    id: str
    facts: tuple[Fact, ...]
    more: int


class Outbox:
    """Queues by channel and person. Changed in the desk's thread; any thread may look whether something is due.

    sent, failed : messages by channel since this start
    """

    def __init__(self, store: Store, journal: Journal) -> None:
        self._store, self._journal = store, journal
        self._queues: dict[tuple[str, str], list[Message]] = {}
        self._not_before: dict[tuple[str, str], int] = {}
        self._in_flight: dict[tuple[str, str], int] = {}
        self._changed: set[tuple[str, str]] = set()
        self._facts = 0
        self.sent, self.failed = dict.fromkeys(CHANNELS, 0), dict.fromkeys(CHANNELS, 0)

    def open(self) -> None:
        """Take up what the store has."""
        for name, body in self._store.notifications(OUTBOX).items():
            channel, _, user = name.partition(" ")
            self._queues[channel, user] = [Message(*each) for each in json.loads(body)]
        self._facts = sum(len(each.facts) for queue in self._queues.values() for each in queue)

    # Any thread

    def waiting(self) -> dict[str, int]:
        """Messages that wait, by channel."""
        found = dict.fromkeys(CHANNELS, 0)
        for (channel, _), queue in list(self._queues.items()):
            found[channel] += len(queue)
        return found

    def is_due(self, now: int) -> bool:
        """Whether something is to be sent."""
        return next(self._due(now), None) is not None

    def _due(self, now: int) -> Iterator[tuple[int, tuple[str, str]]]:
        """Of what is to be sent, where its channel has room: since when, and its key."""
        in_flight = {key for key, until in list(self._in_flight.items()) if until > now}
        room = self._room(in_flight)
        for key, queue in list(self._queues.items()):
            if room[key[0]] <= 0 or key in in_flight:
                continue
            yield from ((first.due, key) for first in queue[:1] if first.due <= now)

    @staticmethod
    def _room(in_flight: Iterable[tuple[str, str]]) -> dict[str, int]:
        """How many more may be sent, by channel."""
        sending = Counter(channel for channel, _ in in_flight)
        return {channel: AT_ONCE - sending[channel] for channel in CHANNELS}

    # In the desk's thread

    def add(self, channel: str, user: str, fact: Fact, now: int) -> None:
        """Tell somebody of something.

        The same of a job again, while it waits and nothing else of that job has happened since, makes it larger by its
        tasks; the earliest deadline of both holds.
        """
        key = channel, user
        queue = self._queues.setdefault(key, [])
        if not queue or queue[-1].tries:
            queue.append(Message(secrets.token_hex(12), now, [], 0, 0, max(now, self._not_before.get(key, 0))))
        message = queue[-1]
        self._changed.add(key)
        job = fact.get("job")
        last = next((known for known in reversed(message.facts) if known.get("job") == job), None) if job else None
        if last is not None and last["event"] == fact["event"]:
            deadlines = [each["deadline"] for each in (last, fact) if "deadline" in each]
            last.update(fact, tasks=last.get("tasks", 0) + fact.get("tasks", 0))
            last.update({"deadline": min(deadlines)} if deadlines else {})
            return
        if len(message.facts) < MOST_FACTS and self._facts < MOST_IN_ALL:
            message.facts.append(dict(fact))
            self._facts += 1
        else:
            message.more += 1

    def take(self, now: int, may_know: Callable[[str, Fact], bool]) -> list[Delivery]:
        """What is to be sent now; nothing is added to it any more, and each is sent once this is durable.

        may_know : whether somebody may still be told of something; what he may not is let go, for all tries to come
        """
        self._in_flight = {key: until for key, until in self._in_flight.items() if until > now}
        found, room = list[Delivery](), self._room(self._in_flight)
        for _, key in sorted(self._due(now)):
            if room[key[0]] <= 0:
                continue
            room[key[0]] -= 1
            message = self._queues[key][0]
            facts = tuple(fact for fact in message.facts if may_know(key[1], fact))
            if not facts and (message.facts or not may_know(key[1], {})):
                self._drop(key, now)
                continue
            self._facts -= len(message.facts) - len(facts)
            message.facts = [*facts]
            message.at = message.at if message.tries else now
            message.tries += 1
            message.due = now + min(_LONGEST, _FIRST << min(message.tries - 1, 20))
            self._in_flight[key] = now + _IN_FLIGHT
            self._changed.add(key)
            found.append(Delivery(*key, message.id, facts, message.more))
        return found

    def done(self, delivery: Delivery, now: int, *, is_sent: bool, is_final: bool = False) -> bool:
        """What became of a message; whether it is over. final: it makes no sense to try again."""
        key = delivery.channel, delivery.user
        self._in_flight.pop(key, None)
        queue = self._queues.get(key)
        if not queue or queue[0].id != delivery.id:
            return True
        if not is_sent and not is_final and now < queue[0].at + GIVE_UP:
            return False
        (self.sent if is_sent else self.failed)[key[0]] += 1
        self._drop(key, now)
        return True

    def _drop(self, key: tuple[str, str], now: int) -> None:
        queue = self._queues[key]
        self._facts -= len(queue.pop(0).facts)
        self._changed.add(key)
        self._not_before[key] = now + EVERY
        if queue:
            queue[0].due = max(queue[0].due, self._not_before[key])
        else:
            del self._queues[key]
        if len(self._not_before) > MOST_IN_ALL:
            self._not_before = {key: instant for key, instant in self._not_before.items() if instant > now}

    def flush(self) -> None:
        """Write what has changed with the next commit."""
        for key in sorted(self._changed):
            rows = [
                [each.id, each.at, each.facts, each.more, each.tries, each.due] for each in self._queues.get(key, ())
            ]
            self._journal.put_notification(OUTBOX, " ".join(key), rows or None)
        self._changed.clear()
