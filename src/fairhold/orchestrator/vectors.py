"""Units of vectors in a live cluster: their changes, and their form in the input of a cycle and in snapshots."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairhold.cycle.pooled.active_entries import entries_in_force, groups_of_members
from fairhold.cycle.pooled.pool_ledger import News
from fairhold.ledger.pool_terms import terms_of
from fairhold.ledger.vectors import POOLED
from fairhold.model.adjusted import Adjusted
from fairhold.model.siting import siting_of
from fairhold.model.state import Allocation, HeldUnits, Notice, Request, Shortage, State
from fairhold.model.vector import OwnEntry, Parcel, told_of, vector_of
from fairhold.orchestrator import changes as say
from fairhold.orchestrator.budgets import count_hosts, spent_amounts
from fairhold.orchestrator.histories import usage_now
from fairhold.orchestrator.hosts import is_down, was_never_seen
from fairhold.orchestrator.queue_fitting import shares_queues

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from fairhold.ledger.books import Books
    from fairhold.ledger.vectors import Touched, Vectors
    from fairhold.model.vector import Told, Vector
    from fairhold.orchestrator.attempts import Attempt
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.tasks import JobRecord

    Document = dict[str, Any]


def rebook(cluster: Cluster, change: say.Rebooked, _now: int) -> None:
    """A unit stands in another pool, or on what others own."""
    attempt = cluster.attempts[change.attempt]
    attempt.stands(change.pool, change.lenders, attempt.devices, change.parts)
    vectors = cluster.books[POOLED].vectors
    assert vectors is not None
    vectors.touch_attempt(attempt.name)


def adjust(cluster: Cluster, change: say.OwnershipAdjusted, _now: int) -> None:
    """Others own other parts of hosts."""
    books = cluster.books[POOLED]
    assert books.vectors is not None
    tree, resources = books.rows.source.tree, books.rows.source.resources
    found = []
    for host, path, *amounts in change.parcels:
        vector = vector_of(resources, zip(change.resources, amounts, strict=True))
        if path in tree.rows and vector is not None:
            found.append(Parcel(host, tree.rows[path], vector))
    entries = []
    for host, path, place, *amounts in change.entries:
        vector = vector_of(resources, zip(change.resources, amounts, strict=True))
        if path in tree.rows and vector is not None:
            entries.append(OwnEntry(host, tree.rows[path], int(place), vector))
    books.vectors.ownership, books.vectors.own_entries = tuple(found), tuple(entries)
    books.vectors.adjusted = {group: Adjusted(at, of) for group, at, of in change.adjusted}


def lapse(cluster: Cluster, change: say.MachineLapsed, now: int) -> None:
    """A machine counts as absent."""
    cluster.machine(change.machine).is_gone = True
    for books in cluster.books.values():
        if books.vectors is not None:
            books.vectors.touch_hosts()
    count_hosts(cluster, now, cluster.hosts_of(change.machine))


def note_end(vectors: Vectors, attempt: Attempt) -> None:
    """A unit is gone: what one under notice had is there for who it was noticed for, when a cycle comes (R-HELD-1)."""
    vectors.touch_attempt(attempt.name)
    if attempt.notice is not None and attempt.notice.job:
        vectors.freed[attempt.notice.job, attempt.places[0][0]] = None


OF_VECTORS: dict[type, Callable[[Cluster, Any, int], None]] = {
    say.Rebooked: rebook,
    say.OwnershipAdjusted: adjust,
    say.MachineLapsed: lapse,
}
"""What these changes do to a cluster."""


def ownership_told(
    books: Books, parcels: tuple[Parcel, ...], adjusted: Mapping[str, Adjusted], entries: tuple[OwnEntry, ...]
) -> say.OwnershipAdjusted:
    """Parcels in names, with amounts that do not depend on base units."""
    plan = books.rows.source
    paths = plan.tree.paths

    def texts(vector: Vector) -> Iterator[str]:
        amounts = dict(told_of(plan.resources, vector))
        return (amounts.get(resource.name, "0") for resource in plan.resources)

    return say.OwnershipAdjusted(
        resources=tuple(resource.name for resource in plan.resources),
        parcels=tuple((each.host, paths[each.consumer], *texts(each.amounts)) for each in parcels),
        adjusted=tuple((group, each.at, each.of) for group, each in adjusted.items()),
        entries=tuple((each.host, paths[each.consumer], str(each.entry), *texts(each.amounts)) for each in entries),
    )


def grace_of(books: Books, leaf: str, now: int) -> int:
    """Microseconds in which a leaf lets go: as the policy entry in force says."""
    row = books.rows.by_path[leaf]
    if books.vectors is None:
        return books.rows.grace[row]
    plan = books.rows.source
    top = plan.tree.first_level[row]
    mine = [force.entry for force in entries_in_force(plan, now) if top in force.members]
    return terms_of(plan, mine[0]).grace[row] if mine else books.rows.grace[row]


# What a cycle sees


def state_of(cluster: Cluster, now: int) -> State:
    """All vectors of a cluster as a cycle takes them (R-LIVE-2).

    What stands past its deadline has been told to stop, and holds its unit until its end is proven.
    """
    books = cluster.books[POOLED]
    attempts, jobs = list(cluster.attempts.values()), list(cluster.jobs.values())
    if len(cluster.books) > 1:  # slots are shared, too
        attempts = [each for each in attempts if each.job.resource_group == POOLED]
        jobs = [job for job in jobs if job.resource_group == POOLED]
    return replace(
        frame_of(cluster, now, hosts_of(cluster, now)),
        requests=tuple([request_of(books, job) for job in jobs if _asks(job)]),
        allocations=tuple([allocation_of(books, each) for each in attempts]),
    )


def _asks(job: JobRecord) -> bool:
    return bool(job.running or job.startable)


def news_of(cluster: Cluster, touched: Touched, whole: Callable[[], State]) -> News:
    """What has changed of all that was touched.

    whole : makes the state as it is now
    """
    books, jobs, attempts = cluster.books[POOLED], cluster.jobs, cluster.attempts
    found = ((name, jobs.get(name)) for name in touched.jobs)
    return News(
        {name: request_of(books, job) if job is not None and _asks(job) else None for name, job in found},
        {number: allocation_of(books, attempts[number]) if number in attempts else None for number in touched.attempts},
        lambda name: jobs[name].serial,
        whole,
    )


def hosts_of(cluster: Cluster, now: int) -> dict[str, Any]:
    """Fields of a state that say which hosts there are."""
    books = cluster.books[POOLED]
    down = frozenset(name for group, name in cluster.hosts if group == POOLED and is_down(cluster, name))
    return {
        "hosts_down": down,
        "hosts_never_seen": frozenset(name for name in down if was_never_seen(cluster, POOLED, name)),
        "hosts_closed": _closed(cluster, now),
        "labels": {books.hosts.name[row]: labels for row, labels in books.hosts.labels.items()},
    }


def frame_of(cluster: Cluster, now: int, hosts: Mapping[str, Any]) -> State:
    """All vectors of a cluster but its requests and allocations; hosts: as `hosts_of` says."""
    books = cluster.books[POOLED]
    vectors = books.vectors
    assert vectors is not None
    return State(
        now=now,
        **hosts,
        freed=tuple(vectors.freed),
        notices=_notices(cluster, books),
        held=tuple(HeldUnits(job, host, units) for (job, host), units in vectors.held.items()),
        shortages=tuple(_shortages(books)),
        previous_cycle=books.ran,
        is_settled=True,
        ownership=vectors.ownership,
        own_entries=vectors.own_entries,
        adjusted=vectors.adjusted,
        spent_amounts=spent_amounts(books, now),
        usage=usage_now(books, now),
    )


def _shortages(books: Books) -> Iterator[Shortage]:
    plan = books.rows.source
    groups = groups_of_members(plan) if books.shortages else {}
    for row, short in books.shortages.items():
        name = min(groups[plan.tree.first_level[row]], default="")
        if name:
            yield Shortage(row, name, *short)


def has_strangers(cluster: Cluster, now: int) -> bool:
    """Whether a leaf may hold units on hosts of which it is not a member under the entry in force."""
    plan = cluster.books[POOLED].rows.source
    forces = entries_in_force(plan, now)
    shared = {group for force in forces for group in force.entry.resource_groups}
    members = forces[0].members if forces else ()
    return len(forces) > 1 or len(members) < len(plan.tree.children[0]) or len(shared) < len(plan.resource_groups)


def _closed(cluster: Cluster, now: int) -> frozenset[str]:
    """Hosts that start nothing, and hosts where a leaf outside the entry in force holds units."""
    plan = cluster.books[POOLED].rows.source
    forces = entries_in_force(plan, now)
    shared = {group: force.members for force in forces for group in force.entry.resource_groups}
    strange: set[str] = set()
    if has_strangers(cluster, now):
        members = {
            host.name: shared.get(group.name, frozenset())
            for group in plan.resource_groups.values()
            for host in group.hosts
        }
        top, row_of = plan.tree.first_level, plan.tree.rows
        strange = {
            each.places[0][0]
            for each in cluster.attempts.values()
            if each.job.resource_group == POOLED
            and top[row_of[each.job.consumer]] not in members.get(each.places[0][0], frozenset())
        }
    return frozenset(
        name for group, name in cluster.hosts if group == POOLED and (name in strange or not cluster.accepts(name))
    )


def request_of(books: Books, job: JobRecord) -> Request:
    """A job as a cycle takes it; the same noun as last time where nothing of it that may change has."""
    assert books.vectors is not None
    count, row, noun = job.running + job.startable, books.rows.by_path[job.consumer], job.noun
    least = job.least
    is_same = noun is not None and (noun.count, noun.min_count, noun.consumer) == (count, least, row)
    if noun is not None and is_same and noun.priority == job.priority:
        return noun
    unit = books.vectors.unit(job.terms.unit)
    assert unit is not None, "jobs whose unit a plan does not know keep the plan from being applied"
    noun = job.noun = Request(
        id=job.name,
        consumer=row,
        resource_group="",
        count=count,
        min_count=least,
        priority=job.priority,
        submitted=job.submitted,
        user=job.terms.user,
        siting=siting_of(job.terms.siting),
        unit=unit,
        preemptible=job.terms.preemptible if shares_queues(books, job.consumer) else None,
    )
    return noun


def allocation_of(books: Books, attempt: Attempt) -> Allocation:
    """A unit as a cycle takes it, kept until the unit stands elsewhere."""
    if attempt.noun is not None:
        return attempt.noun
    assert books.vectors is not None
    rows = books.rows.source.tree.rows
    lenders = tuple((rows[path], 1) for path in attempt.lenders)
    parts = books.vectors.parts(attempt.parts)
    place = attempt.places[0][0]
    noun = Allocation(attempt.job.name, place, 1, attempt.started, attempt.pool, lenders, parts, attempt.name)
    attempt.noun = noun
    return noun


def _notices(cluster: Cluster, books: Books) -> tuple[Notice, ...]:
    """The notices of cycles, in the order in which they were given."""
    under_notice = (cluster.attempt_of[POOLED][row] for row in books.notices.by_allocation)
    noticed = [each for each in under_notice if each.notice is not None and each.notice.reason != "host"]
    serial = books.notices.serial
    noticed.sort(key=lambda each: min(serial[row] for row in books.notices.by_allocation[each.allocations[0]]))
    row_of, found = books.rows.by_path, []
    for attempt in noticed:
        notice = attempt.notice
        assert notice is not None
        taker = cluster.jobs.get(notice.job)
        found.append(
            Notice(
                consumer=row_of[attempt.job.consumer],
                resource_group="",
                units=1,
                taker=-1 if taker is None else row_of[taker.consumer],
                deadline=notice.deadline,
                reason=notice.reason,
                request=attempt.job.name,
                host=attempt.places[0][0],
                taker_request="" if taker is None else notice.job,
                attempt=attempt.name,
            )
        )
    return tuple(found)


# Snapshots


def knows_unit(books: Books, leaf: int, unit: Told) -> bool:
    """Whether a plan has the resources of a unit, in such amounts, and some policy entry shares them with a leaf."""
    assert books.vectors is not None
    plan = books.rows.source
    top = plan.tree.first_level[leaf]
    return books.vectors.unit(unit) is not None and bool(groups_of_members(plan)[top])


def freeze_vectors(cluster: Cluster) -> Document:
    """What books of vectors have beside the tables; nothing where there are none."""
    books = cluster.books.get(POOLED)
    if books is None or books.vectors is None:
        return {}
    vectors = books.vectors
    document: Document = {
        "held": [[*key, units] for key, units in vectors.held.items() if key[0] in cluster.jobs],
        "freed": [list(key) for key in vectors.freed],
        "gone": [name for name, machine in cluster.machines.items() if machine.is_gone],
    }
    if vectors.ownership is not None:
        told = ownership_told(books, vectors.ownership, vectors.adjusted, vectors.own_entries)
        names, parcels, last, entries = told
        document["ownership"] = [list(names), [list(each) for each in parcels]]
        if last:
            document["adjusted"] = [list(each) for each in last]
        if entries:
            document["own_entries"] = [list(each) for each in entries]
    return {"vectors": document}


def restore_vectors(cluster: Cluster, document: Mapping[str, Any], path_of: Callable[[str], str]) -> None:
    """The reverse of `freeze_vectors`, as far as consumers and resources are still there.

    path_of : where a consumer is now
    """
    said, books = document.get("vectors"), cluster.books.get(POOLED)
    for name, machine in cluster.machines.items():
        machine.is_gone = said is not None and books is not None and name in said["gone"]
    if said is None or books is None or books.vectors is None:
        return
    books.vectors.held = {(job, host): units for job, host, units in said["held"] if job in cluster.jobs}
    books.vectors.freed = dict.fromkeys((job, host) for job, host in said["freed"])
    if "ownership" in said:
        names, parcels = said["ownership"]
        rows = tuple((host, path_of(path), *amounts) for host, path, *amounts in parcels)
        last = tuple((group, at, of) for group, at, of in said.get("adjusted", ()))
        entries = tuple((host, path_of(path), *more) for host, path, *more in said.get("own_entries", ()))
        adjust(cluster, say.OwnershipAdjusted(tuple(names), rows, last, entries), cluster.now)


def freeze_unit(attempt: Attempt) -> Document:
    """What an attempt has of a unit of a vector."""
    found: Document = {"pool": attempt.pool} if attempt.pool else {}
    if attempt.lenders:
        found["lenders"] = list(attempt.lenders)
    if attempt.devices:
        found["devices"] = list(attempt.devices)
    if attempt.parts:
        found["parts"] = [list(part) for part in attempt.parts]
    return found


def restore_unit(attempt: Attempt, more: Document) -> None:
    """The reverse of `freeze_unit`."""
    parts = tuple((path, name, text) for path, name, text in more.get("parts", ()))
    attempt.stands(more.get("pool", ""), tuple(more.get("lenders", ())), tuple(more.get("devices", ())), parts)


def stand_again(attempt: Attempt, books: Books, path_of: Callable[[str], str]) -> None:
    """A unit stands where it stood under the plan before; a pool and lenders may be gone, and with one all parts.

    path_of : where a consumer is now
    """
    pool, rows = attempt.pool, books.rows.source.tree.rows
    if pool in {"", "/", "own"} and not attempt.lenders and not attempt.parts:  # by far the most frequent case
        attempt.noun = None
        return
    if pool.startswith("/"):
        pool = path_of(pool) if path_of(pool) in rows else "/"
    lenders = tuple(path for each in attempt.lenders if (path := path_of(each)) in rows)
    parts = tuple((path_of(path), name, text) for path, name, text in attempt.parts)
    assert books.vectors is not None or not parts
    is_whole = books.vectors is not None and bool(books.vectors.parts(parts))
    attempt.stands(pool, lenders, attempt.devices, parts if is_whole else ())
