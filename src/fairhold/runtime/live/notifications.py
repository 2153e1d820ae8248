"""Who wants to be told of what, and who is told: of jobs that he may see, as long as he may see them.

What is wanted stands in the store as `person` (standing wishes, and how somebody is reached) and as `watch` (of one
job). Changed in the desk's thread; any thread may ask.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.access.notifications import END, RECLAIM, START, WITHDRAWN
from fairhold.errors import Fault, InputError
from fairhold.orchestrator import changes as say
from fairhold.runtime.live.outbox import MAIL, WEBHOOK, Outbox
from fairhold.runtime.live.thresholds import Thresholds
from fairhold.units import SECOND, format_instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from fairhold.access.notifications import Threshold
    from fairhold.orchestrator.attempts import Attempt
    from fairhold.orchestrator.changes import Change
    from fairhold.orchestrator.tasks import JobRecord
    from fairhold.ports import Store
    from fairhold.runtime.live.core import Core
    from fairhold.runtime.live.journal import Journal
    from fairhold.runtime.live.outbox import Fact
    from fairhold.runtime.live.people import People

PERSON, WATCH = "person", "watch"
MOST_WATCHES = 10_000
"""Jobs of which one person is told."""
_GROUPS_COUNT = 30 * 86_400 * SECOND
"""How long the provider's word counts for groups and an address, since it was taken down."""
_OF_JOBS = (say.Started, say.JobEnded, say.Noticed, say.Drained, say.Withdrawn, say.Undrained)


class Subscription(NamedTuple):
    """How somebody is reached, and of what of all his jobs he is told.

    mail        : whether he wants mail, where there is an address
    webhook     : address, empty = none; secret: with which what is sent there is signed
    groups, address : as the provider said them at the instant `seen`
    is_built_in : whether he is the administrator that every service has
    """

    user: str
    events: tuple[str, ...] = ()
    mail: bool = True
    webhook: str = ""
    secret: str = ""
    groups: tuple[str, ...] = ()
    address: str = ""
    seen: int = 0
    is_built_in: bool = False


class Notifications:
    """What people want to be told, and the messages to them."""

    def __init__(self, store: Store, journal: Journal, people: People) -> None:
        self._store, self._journal, self._people = store, journal, people
        self.outbox = Outbox(store, journal)
        self.thresholds = Thresholds(store, journal)
        self._persons: dict[str, Subscription] = {}
        self._watches: dict[str, dict[str, tuple[str, ...]]] = {}
        self._watched: dict[str, int] = {}
        self._standing: set[str] = set()

    def open(self) -> None:
        """Take up what the store has."""
        self.outbox.open()
        self.thresholds.open()
        for body in self._store.notifications(PERSON).values():
            fields = json.loads(body)
            fields |= {"events": tuple(fields["events"]), "groups": tuple(fields["groups"])}
            self._put(Subscription(**fields))
        for name, body in self._store.notifications(WATCH).items():
            job, _, user = name.partition(" ")
            self._put_watch(job, user, tuple(json.loads(body)))

    # Any thread

    def subscription(self, user: str) -> Subscription:
        """How somebody is reached, and what he wants of all his jobs."""
        return self._persons.get(user) or Subscription(user)

    def watch_of(self, job: str, user: str) -> tuple[str, ...] | None:
        """Of what of one job somebody is told; None = he did not say."""
        return self._watches.get(job, {}).get(user)

    def address(self, known: Subscription, now: int) -> str:
        """Where mail reaches somebody; empty = nowhere, or he wants none."""
        told = self._people.access.notifications
        if told.mail is None or not known.mail:
            return ""
        return told.addresses.get(known.user) or (known.address if _counts(known, now) else "")

    def channels(self, known: Subscription, now: int) -> list[str]:
        """How somebody is reached."""
        found = [MAIL] if self.address(known, now) else []
        return [*found, WEBHOOK] if known.webhook else found

    def may_know(self, user: str, fact: Mapping[str, Any], now: int) -> bool:
        """Whether somebody may be told of something, by what he may do now."""
        known = self.subscription(user)
        if known.is_built_in:
            return True
        groups = known.groups if _counts(known, now) else ()
        if not self._people.knows(user, groups):
            return False
        rights = self._people.rights(user, groups)
        consumer = fact.get("consumer", "")
        if fact.get("job"):
            return rights.sees_job(consumer, fact["owner"])
        return rights.sees(consumer) if consumer else True

    # In the desk's thread

    def subscribe(self, subscription: Subscription) -> None:
        """Keep how somebody is reached, and what he wants to be told of all his jobs."""
        self._put(subscription)
        self._journal.put_notification(PERSON, subscription.user, subscription._asdict())

    def check_watch(self, job: str, user: str) -> None:
        """Raise InputError `too-many` where somebody is told of many jobs; job: empty = a new one."""
        if user not in self._watches.get(job, {}) and self._watched.get(user, 0) >= MOST_WATCHES:
            what = f"the limit `watches` is {MOST_WATCHES}, of jobs of which `{user}` is told"
            raise InputError([Fault("too-many", what, "have yourself told of all your jobs: `fairhold notify --on`")])

    def watch(self, job: str, user: str, events: tuple[str, ...]) -> None:
        """Keep of what of one job somebody is told."""
        self._put_watch(job, user, events)
        self._journal.put_notification(WATCH, f"{job} {user}", [*events])

    def _put(self, subscription: Subscription) -> None:
        self._persons[subscription.user] = subscription
        (self._standing.add if subscription.events else self._standing.discard)(subscription.user)

    def _put_watch(self, job: str, user: str, events: tuple[str, ...]) -> None:
        watches = self._watches.setdefault(job, {})
        self._watched[user] = self._watched.get(user, 0) + (user not in watches)
        watches[user] = events

    def _forget(self, job: str) -> None:
        for user in self._watches.pop(job, {}):
            self._watched[user] -= 1
            self._journal.put_notification(WATCH, f"{job} {user}", None)

    def tell(self, user: str, fact: Fact, now: int) -> None:
        """Tell somebody of something, where he may know it and can be reached."""
        if self.may_know(user, fact, now):
            for channel in self.channels(self.subscription(user), now):
                self.outbox.add(channel, user, fact, now)

    def note(self, core: Core, changes: Iterable[Change], now: int) -> None:
        """The cluster has changed."""
        if not self._standing and not self._watches:
            return
        for (event, name), facts in _by_job(core, changes).items():
            job, fact = facts
            for user in self._wanting(event, name, job.terms.user):
                spec = core.specs.of(name)
                head = {"event": event, "at": format_instant(now), "job": name, "name": spec.name if spec else ""}
                self.tell(user, head | {"consumer": job.consumer, "owner": job.terms.user} | fact, now)
            if event == END:
                self._forget(name)

    def _wanting(self, event: str, job: str, owner: str) -> Iterator[str]:
        """Who wants to be told of something of a job."""
        watches, known = self._watches.get(job, {}), self._persons.get(owner)
        yield from (user for user, events in watches.items() if event in events)
        if owner not in watches and known is not None and event in known.events:
            yield owner

    def due(self, core: Core) -> list[int]:
        """When to look at thresholds next; nothing where there are none."""
        return self.thresholds.due(core)

    def look(self, core: Core, now: int) -> None:
        """Look at thresholds, where it is time to."""
        if any(instant <= now for instant in self.due(core)):
            self.thresholds.look(core, now, lambda reached, fact: self._tell_all(reached, fact, now))

    def _tell_all(self, reached: Threshold, fact: Fact, now: int) -> None:
        """Tell all whom a threshold names, each once."""
        listed, groups = self._people.access.groups, {*reached.groups}
        people = dict.fromkeys((*reached.users, *reached.service_accounts))
        people |= {member: None for group in reached.groups for member in sorted(listed[group])}
        said = (
            user for user, each in self._persons.items() if _counts(each, now) and not groups.isdisjoint(each.groups)
        )
        for user in people | dict.fromkeys(said):
            self.tell(user, fact, now)


def _counts(known: Subscription, now: int) -> bool:
    """Whether what the provider said of somebody still counts."""
    return now < known.seen + _GROUPS_COUNT


def _by_job(core: Core, changes: Iterable[Change]) -> dict[tuple[str, str], tuple[JobRecord, Fact]]:
    """What is told of jobs: (event, job) → the job, and the fact without its head."""
    cluster = core.cluster
    found: dict[tuple[str, str], tuple[JobRecord, dict[str, Any]]] = {}

    def add(event: str, attempt: Attempt | None, deadline: int = 0) -> None:
        if attempt is None:
            return
        job = attempt.job
        before = found.get((event, job.name), (job, {}))[1]
        until = min(format_instant(deadline), before.get("deadline", "9")) if deadline else None
        fact = {"tasks": before.get("tasks", 0) + 1} | ({"deadline": until} if until else {})
        found[event, job.name] = job, fact

    for change in changes:
        if not isinstance(change, _OF_JOBS):
            continue
        if isinstance(change, say.JobEnded):
            found[END, change.job] = cluster.ended_jobs[change.job], _end_of(core, change)
            continue
        attempt = cluster.attempts.get(change.attempt) or cluster.ended.get(change.attempt)
        if isinstance(change, say.Started):
            if attempt is not None and change.number == 1 and change.task == _first_task(attempt.job):
                found[START, change.job] = attempt.job, {}
        elif isinstance(change, say.Noticed | say.Drained):
            add(RECLAIM, attempt, change.deadline)
        else:
            add(WITHDRAWN, attempt)
    return found


def _first_task(job: JobRecord) -> int:
    """The task that starts first: tasks start in order, but for those that were dropped."""
    task = 0
    while job.left_out and task in job.left_out:
        task += 1
    return task


def _end_of(core: Core, change: say.JobEnded) -> dict[str, Any]:
    done = core.journal.jobs[change.job]
    return {"state": change.state, "exit_code": json.loads(done.summary).get("exit_code")}
