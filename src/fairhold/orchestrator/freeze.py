"""Converts a live cluster to a document and back: for snapshots, and for a change of plan.

The document uses names and numbers, never rows of the books, and holds nothing that can be derived. A job that only
waits is one entry in each of three columns, however large its array is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.orchestrator.attempts import Attempt, Notice
from fairhold.orchestrator.budgets import freeze_spending, restore_meters, restore_spent
from fairhold.orchestrator.cluster import Cluster
from fairhold.orchestrator.frozen_terms import freeze_terms, thaw_terms
from fairhold.orchestrator.histories import freeze_histories, restore_histories
from fairhold.orchestrator.hosts import label_hosts, restore_hosts
from fairhold.orchestrator.in_use import refuse_where_in_use
from fairhold.orchestrator.kept_units import freeze_kept, restore_kept
from fairhold.orchestrator.loans import restore_loans, shortages_told, told
from fairhold.orchestrator.renaming import Renaming
from fairhold.orchestrator.tasks import JobRecord
from fairhold.orchestrator.vectors import freeze_unit, freeze_vectors, restore_unit, restore_vectors, stand_again

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.ledger.books import Books
    from fairhold.orchestrator.changes import JobAdded

    Document = dict[str, Any]

_AS_IT_CAME: Document = {}
FIELDS = ("finished", "failed", "cancelled", "dropped", "reclaimed", "priority", "hold", "needs", "waiting")


class Columns:
    """Jobs in columns: names, places of their terms, instants of submission; and what else is to be said of some.

    terms : different terms, by place
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.places: list[int] = []
        self.submitted: list[int] = []
        self.changed: dict[str, Document] = {}
        self.terms: dict[JobAdded, int] = {}
        self._seen: dict[int, tuple[int, JobAdded]] = {}

    def add(self, job: JobRecord, terms: JobAdded, more: Document) -> None:
        """The next job, with its terms; more: what is different of it since it was submitted."""
        self.names.append(job.name)
        seen = id(terms)  # jobs share their terms
        if seen not in self._seen:
            self._seen[seen] = self.terms.setdefault(terms, len(self.terms)), terms
        self.places.append(self._seen[seen][0])
        self.submitted.append(job.submitted)
        if more:
            self.changed[job.name] = more

    def document(self) -> Document:
        """Parts of the document of a cluster."""
        return {
            "jobs": [self.names, self.places, self.submitted],
            "changed": self.changed,
            "terms": [freeze_terms(each) for each in self.terms],
        }


def freeze(cluster: Cluster) -> Document:
    """A whole cluster in lists, texts and numbers that JSON can hold; equal for equal clusters."""
    columns = Columns()
    for job in cluster.jobs.values():
        columns.add(job, job.terms, changed_of(cluster, job, job.consumer))
    return columns.document() | freeze_rest(cluster)


def freeze_rest(cluster: Cluster) -> Document:
    """Everything except the jobs."""
    return {
        "cycles": cluster.cycles,
        "next_attempt": cluster.next_attempt,
        "attempts": [_attempt(cluster, attempt) for attempt in cluster.attempts.values()],
        "notices": _in_order(cluster),
        "hosts": [[*name, host.slots, host.is_up, host.planned] for name, host in cluster.hosts.items()],
        "machines": [
            [
                *(name, one.boot, one.is_silent, one.shut, one.refusals, one.spool, one.pauses, one.try_at, one.drains),
                *(list(one.labels), one.silent_at),
            ]
            for name, one in cluster.machines.items()
        ],
        "paused": {group: list(paused) for group, paused in cluster.paused.items() if any(paused)},
        "dependents": {needed: list(names) for needed, names in cluster.dependents.items() if names},
        "windows": {
            group: [list(books.rows.force), list(books.before)]
            for group, books in cluster.books.items()
            if books.rows.source.calendar is not None and books.vectors is None
        },
    } | freeze_told(cluster)


def freeze_told(cluster: Cluster) -> Document:
    """What is said of consumers and hosts, and not of single jobs, attempts and machines."""
    borrowed = {
        group: [list(loan) for loan in told(books, sorted(books.borrowed.items()))]
        for group, books in cluster.books.items()
        if books.borrowed
    }
    sums = {"borrowed": borrowed} | freeze_spending(cluster.books) | _shortages(cluster)
    return sums | freeze_kept(cluster) | freeze_vectors(cluster) | freeze_histories(cluster)


def restore_told(cluster: Cluster, document: Document, now: Renaming) -> None:
    """The reverse of `freeze_told`, as far as the plan still has them; everything else is in the books already."""
    restore_loans(cluster.books, document, now)
    restore_kept(cluster, document)
    restore_vectors(cluster, document, now.path)
    restore_histories(cluster, document, now.path)
    restore_meters(cluster.books, document, now.node)


def _shortages(cluster: Cluster) -> Document:
    """Who misses units since when, of groups where that matters."""
    found = {
        group: [list(short) for short in shortages_told(books, books.shortages)]
        for group, books in cluster.books.items()
        if books.shortages
    }
    return {"shortages": found} if found else {}


def changed_of(cluster: Cluster, job: JobRecord, consumer: str) -> Document:
    """The fields of a job of a leaf, a path, that have changed since it was submitted."""
    asked = job.terms
    counts = job.finished, job.failed, job.cancelled, job.dropped, job.reclaimed
    now = *counts, job.priority, job.hold, job.needs, job.waiting
    was = 0, 0, 0, 0, 0, asked.priority, asked.hold, len(asked.after), asked.tasks
    rows = zip(FIELDS, now, was, strict=True) if now != was else ()  # nothing has happened to most of very many
    more: Document = {name: new for name, new, old in rows if new != old}
    if consumer != asked.consumer:
        more["consumer"] = consumer
    more |= job.progress()
    if job.is_cancelled:
        more["is_cancelled"] = True
    if job.gangs_made:
        waiting = job.gangs or []
        since = cluster.books[job.resource_group].requests.since
        more["gangs"] = [job.gangs_made, [name for name, _ in waiting], [since[row] for _, row in waiting]]
    return more


def _attempt(cluster: Cluster, attempt: Attempt) -> list[Any]:
    requests = cluster.books[attempt.job.resource_group].requests
    more: Document = {name: True for name in ("is_running", "is_unknown", "noticed") if getattr(attempt, name)}
    if attempt.notice is not None:
        more["notice"] = list(attempt.notice)
    if attempt.leaving is not None:
        more["leaving"] = attempt.leaving
    if attempt.stopping:
        more["stopping"] = attempt.stopping
    if attempt.job.gangs is not None:
        more["gang"] = requests.id[attempt.request]
    more |= freeze_unit(attempt)
    places = [list(place) for place in attempt.places]
    return [attempt.name, attempt.job.name, attempt.index, attempt.number, attempt.started, places, more]


def _in_order(cluster: Cluster) -> list[int]:
    """Attempts under a notice of a cycle, by group, in the order in which they got notice."""
    found: list[int] = []
    for group, books in cluster.books.items():
        live = (
            (books.notices.serial[notice], cluster.attempt_of[group][allocation].name)
            for allocation, mine in books.notices.by_allocation.items()
            for notice in mine
        )
        found.extend(dict.fromkeys(name for _, name in sorted(live)))
    return found


def thaw(
    document: Document,
    books: Mapping[str, Books],
    *,
    forgets: bool,
    own: str,
    moved: Mapping[str, str] | None = None,
) -> Cluster:
    """Restore the cluster of a document on new books, of the same plan or another one.

    books : empty, from `open_books`; they become the cluster's
    moved : old path → new path of consumers that another plan renames, with all below them
    The plan's number of slots of a host applies. A host that the plan does not have keeps its running attempts and
    starts nothing. Ended jobs whose leaf is gone are forgotten.
    Raises InUseError, with nothing changed, if a job has not ended and its leaf, or what it needs, is gone.
    """
    return _Thawing(document, books, moved or {}, forgets=forgets, own=own).run()


class _Thawing:
    def __init__(
        self, document: Document, books: Mapping[str, Books], moved: Mapping[str, str], *, forgets: bool, own: str
    ) -> None:
        self.document = document
        self.terms = [thaw_terms(each) for each in document["terms"]]
        self.active = {job for _, job, *_ in document["attempts"]}
        self.books, self.now = books, Renaming(books, moved)
        restore_spent(books, document, self.now.node)
        self.own, self.forgets = own, forgets

    def run(self) -> Cluster:
        """See `thaw`."""
        document = self.document
        self._check()
        cluster = self.cluster = Cluster(self.books, forgets=self.forgets, own=self.own)
        cluster.cycles, cluster.next_attempt = document["cycles"], document["next_attempt"]
        self._machines_and_hosts()
        for name, place, submitted in zip(*document["jobs"], strict=True):
            self._job(name, place, submitted)
        for row in document["attempts"]:
            self._attempt(*row)
        for name in document["notices"]:
            cluster.book_notice(cluster.attempts[name])
        cluster.fit_all()
        restore_told(cluster, document, self.now)
        cluster.dependents = {needed: dict.fromkeys(names) for needed, names in document["dependents"].items()}
        return cluster

    def _leaf(self, place: int, more: Document) -> int | None:
        terms = self.terms[place]
        return self.now.leaf(terms.resource_group, more.get("consumer", terms.consumer))

    def _check(self) -> None:
        changed = self.document["changed"]
        names, places, _ = self.document["jobs"]
        found = (
            (name, self.terms[place], changed.get(name, _AS_IT_CAME)) for name, place in zip(names, places, strict=True)
        )
        live = (
            (name, terms.resource_group, more.get("consumer", terms.consumer), terms.unit)
            for name, terms, more in found
            if name in self.active or not _is_over(more)
        )
        refuse_where_in_use(live, self.now)

    def _machines_and_hosts(self) -> None:
        cluster = self.cluster
        for name, boot, is_silent, shut, refusals, *more in self.document["machines"]:
            machine = cluster.machine(name)
            machine.boot, machine.is_silent, machine.shut, machine.refusals = boot, is_silent, shut, refusals
            machine.spool = more[0] if more else ""
            machine.pauses, machine.try_at = more[1:3] or (0, 0)
            machine.drains = bool(more[3:] and more[3])
            machine.labels, machine.silent_at = tuple(more[4]) if more[4:] else (), more[5] if more[5:] else 0
            cluster.due.try_again(name, machine.try_at)
        cluster.paused |= {
            group: (grants, reclaims)
            for group, (grants, reclaims) in self.document["paused"].items()
            if group in cluster.books
        }
        names, places, _ = self.document["jobs"]
        group_of = {
            name: self.terms[place].resource_group
            for name, place in zip(names, places, strict=True)
            if name in self.active
        }
        used = {(group_of[job], host) for _, job, _, _, _, places, _ in self.document["attempts"] for host, _ in places}
        restore_hosts(cluster, (tuple(host) for host in self.document["hosts"]), used)
        label_hosts(cluster, cluster.machines)

    def _job(self, name: str, place: int, submitted: int) -> None:
        cluster, more = self.cluster, self.document["changed"].get(name, _AS_IT_CAME)
        if self._leaf(place, more) is None:
            return
        job = cluster.jobs[name] = JobRecord(name, self.terms[place], submitted)
        job.consumer = self.now.path(more.get("consumer", job.consumer))
        if not more:  # by far the most frequent case
            cluster.take_in(job, 0, {})
            return
        for field in (*FIELDS, "is_cancelled"):
            if field in more:
                setattr(job, field, more[field])
        job.restore(more)
        for index, instant in (job.delays or {}).items():
            cluster.due.ready(instant, job.name, index)
        if name in self.active or not job.is_over:
            made, waiting, *since = more.get("gangs", (0, ()))
            instants = since[0] if since else [submitted] * len(waiting)
            cluster.take_in(job, made, dict(zip(waiting, instants, strict=True)))
        elif job.units > 1:
            job.gangs, job.gangs_made = [], more.get("gangs", (0, ()))[0]

    def _attempt(  # noqa: PLR0917 - the fields of its entry, in their order
        self,
        name: int,
        job_name: str,
        index: int,
        number: int,
        started: int,
        places: list[list[Any]],
        more: Document,
    ) -> None:
        cluster = self.cluster
        job = cluster.jobs[job_name]
        request = job.request if "gang" not in more else cluster.add_request(job, job.units, more["gang"])
        held = tuple((host, units) for host, units in places)
        attempt = Attempt(name, job, index, number, request, held, started)
        attempt.is_running = "is_running" in more
        attempt.is_unknown = "is_unknown" in more
        attempt.noticed = "noticed" in more
        attempt.leaving, attempt.stopping = more.get("leaving"), more.get("stopping", "")
        restore_unit(attempt, more)
        stand_again(attempt, cluster.books[job.resource_group], self.now.path)
        cluster.add_attempt(attempt)
        if job.gangs is None:
            cluster.ask(job)
        if "notice" in more:
            notice = Notice(*more["notice"])
            is_there = notice.taker and self.now.leaf(job.resource_group, notice.taker) is not None
            attempt.notice = notice._replace(taker=self.now.path(notice.taker) if is_there else "")
        if attempt.leaving is not None:
            cluster.due.drain(attempt.leaving, name)


def _is_over(more: Document) -> bool:
    return more.get("waiting") == 0 and not more.get("delays")
