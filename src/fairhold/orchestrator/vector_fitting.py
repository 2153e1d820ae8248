"""Checks that a unit of a vector could ever be placed, and a gang of them start (SPEC §6.1, R-LIVE-1)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fairhold.cycle.pooled.active_entries import groups_of_members
from fairhold.errors import Fault, InputError, count
from fairhold.kernels.vectors import count as count_units
from fairhold.kernels.vectors import lack
from fairhold.ledger.pool_terms import terms_of
from fairhold.model.siting import PACK, words_of
from fairhold.model.vector import amount_text
from fairhold.orchestrator.fitting import unlike
from fairhold.orchestrator.queue_fitting import check_deserved, is_fixed, not_of_queue, shares_queues

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.ledger.books import Books
    from fairhold.ledger.vectors import Suitable
    from fairhold.model.plan import Host, Plan, PolicyEntry
    from fairhold.model.siting import Siting
    from fairhold.model.vector import Resource, Vector
    from fairhold.orchestrator.events import JobSubmitted

MOST_SUITABLE = 256
"""Different things asked of hosts, of which is kept which hosts have them."""


def check_unit(books: Books, event: JobSubmitted) -> None:
    """Refuse a job whose tasks could never start under the plan.

    Raises InputError `missing-unit`, `unknown-resource`, `out-of-range`, `gang-above-count`, `group-without-policy`
    or `never-fits`.
    """
    unit = _vector(books, event)
    check_together(event)
    if event.units != 1:
        what = f"`units` is {event.units}, but with a `unit` a task is one unit"
        raise _refused("out-of-range", what, "leave `units` out; for tasks that start together use `min_count`")
    check_place(books, event.consumer, unit, event.min_count, event.siting)
    _check_queue(books, event, unit)
    most = books.rows.controls.user_limit[books.rows.source.tree.rows[event.consumer]]
    if event.user and event.min_count > most:
        what = (
            f"{count(event.min_count, 'unit')} at once can never start: the user limit of `{event.consumer}` is {most}"
        )
        raise _refused("never-fits", what, f"lower `min_count` to {most} or less, or raise the limit in the plan")


def _check_queue(books: Books, event: JobSubmitted, unit: Vector) -> None:
    """Refuse what a queue could never run, and settings of queues for a job of no queue."""
    if event.preemptible is not None and not shares_queues(books, event.consumer):
        raise not_of_queue(event)
    if is_fixed(event):
        check_deserved(books, event.consumer, unit, event.min_count)


def check_together(event: JobSubmitted) -> None:
    """Raise InputError `gang-above-count` where more tasks are to start together than there are."""
    if not 0 <= event.min_count <= event.count:
        what = f"`min_count` is {event.min_count}, and the job has {count(event.count, 'task')}"
        raise _refused("gang-above-count", what, "write a number from 0 to the number of tasks")


def check_place(books: Books, consumer: str, unit: Vector, min_count: int, siting: Siting) -> None:
    """Refuse units that start together if hosts or limits of the leaf never have room for them."""
    plan, together = books.rows.source, max(1, min_count)
    row = plan.tree.rows[consumer]
    groups = groups_of_members(plan)[plan.tree.first_level[row]]
    if not groups:
        what = f"no policy entry in force shares resources with `{consumer}`"
        raise _refused("group-without-policy", what, "list it, or its first-level consumer, in a policy entry")
    _check_hosts(plan, _that_will_do(books, groups, siting), unit, together, siting)
    entries = [entry for entry in plan.policies if groups & set(entry.resource_groups)]
    bounds = [_limit(plan, entry, row, unit) for entry in entries]
    most, whose = max(bounds, key=lambda bound: bound[0])
    if most < together:
        what = f"{together} at once can never start: the {whose} has room for {most} such units"
        raise _refused("never-fits", what, "ask for less, or raise the limit in the plan")


def _that_will_do(books: Books, groups: frozenset[str], siting: Siting) -> Suitable:
    """The hosts of some groups with labels as asked for (R-SITE-1); most requests ask for the same."""
    assert books.vectors is not None
    suitable, key = books.vectors.suitable, (groups, siting.need, siting.avoid)
    if (known := suitable.get(key)) is None:
        if len(suitable) >= MOST_SUITABLE:
            suitable.clear()
        hosts = _with_labels(books, groups, siting)
        known = suitable[key] = hosts, _sizes(books.rows.source, hosts)
    return known


def _sizes(plan: Plan, hosts: Sequence[Host]) -> Mapping[Vector, int]:
    """What hosts have, with overcommitment → how many have it: most hosts are like others."""
    found: Counter[Vector] = Counter()
    for amounts, number in Counter([host.amounts for host in hosts]).items():
        found[_total(plan.resources, amounts)] += number
    return found


def _with_labels(books: Books, groups: frozenset[str], siting: Siting) -> list[Host]:
    named = books.rows.source.resource_groups.items()
    hosts = [host for name, group in named if name in groups for host in group.hosts]
    if not hosts:
        what = f"there is no node for {', '.join(f'`{name}`' for name in sorted(groups))}"
        raise _refused("never-fits", what, "compare `nodes` of the plan with the labels of the cluster's nodes")
    if not (siting.need or siting.avoid):
        return hosts
    labels = {books.hosts.name[row]: each for row, each in books.hosts.labels.items()}
    found = [host for host in hosts if siting.fits(labels.get(host.name, frozenset()))]
    if not found:
        wrong = {host.name: unlike(labels.get(host.name, frozenset()), siting) for host in hosts}
        near = min(wrong, key=lambda name: len(wrong[name]))
        what = f"there is no host {words_of(siting)}: the nearest, `{near}`, {' and '.join(wrong[near])}"
        raise _refused("never-fits", what, "ask for labels that hosts have, or label a host in the plan")
    return found


def _check_hosts(plan: Plan, suitable: Suitable, unit: Vector, together: int, siting: Siting) -> None:
    """Refuse units that start together if these hosts never have room for them."""
    hosts, sizes = suitable
    rooms = {size: count_units(unit, size) for size in sizes}
    most = max(rooms.values(), default=0)
    where = f" {words_of(siting)}" if siting.need or siting.avoid else ""
    if not most:
        raise _refused("never-fits", _nearest(plan.resources, hosts, unit, where), "ask for less, or for larger hosts")
    fits, who = sum(rooms[size] * number for size, number in sizes.items()), f"all hosts{where} together have"
    if siting.place == PACK:
        fits, who = most, f"`place: pack` wants one host, and the largest{where} has"
    if fits < together:
        what = f"{count(together, 'unit')} at once can never start: {who} room for {fits}"
        raise _refused("never-fits", what, f"lower `min_count` to {fits} or less, or the unit")


def _vector(books: Books, event: JobSubmitted) -> Vector:
    plan = books.rows.source
    assert books.vectors is not None
    names = [resource.name for resource in plan.resources]
    if not event.unit:
        what = "its `unit` is missing: its leaf shares resources of hosts"
        raise _refused("missing-unit", what, f"add `unit`, with amounts of {', '.join(names)}: `--unit {names[0]}=1`")
    for name, _ in event.unit:
        if name not in names:
            raise _refused("unknown-resource", f"there is no resource `{name}`", f"name some of {', '.join(names)}")
    unit = books.vectors.unit(event.unit)
    if unit is None:
        name, text = next(each for each in event.unit if books.vectors.unit((each,)) is None)
        base = amount_text(next(resource for resource in plan.resources if resource.name == name), 1)
        what = f"{text} of `{name}` in its unit is not a whole multiple of {base}, the smallest part of it in the plan"
        raise _refused("no-multiple", what, f"write a multiple of {base}, or a smaller `base` of `{name}` in the plan")
    if min(unit) < 0 or not any(unit):
        raise _refused(
            "out-of-range", "its unit needs nothing of any resource", "write an amount above 0 of at least one"
        )
    return unit


def _total(resources: Sequence[Resource], amounts: Vector) -> Vector:
    pairs = zip(amounts, resources, strict=True)
    return tuple(int(amount * resource.overcommit) for amount, resource in pairs)


def _nearest(resources: Sequence[Resource], hosts: Sequence[Host], unit: Vector, where: str) -> str:
    """The host on which the least is missing, the most of any resource counted first, and what it has of that.

    where : which hosts these are, empty = all
    """
    near = min(hosts, key=lambda host: lack(unit, _total(resources, host.amounts))[0])
    rows = [*zip(resources, unit, _total(resources, near.amounts), strict=True)]
    missing = " and ".join(
        f"{amount_text(resource, has)} of {amount_text(resource, needs)} {resource.name}"
        for resource, needs, has in rows
        if needs > has
    )
    return f"its unit fits no host{where}: the nearest, `{near.name}`, has {missing}"


def _limit(plan: Plan, entry: PolicyEntry, row: int, unit: Vector) -> tuple[int, str]:
    """Units that a leaf which owns nothing may hold by the limits on its way up, and which is the smallest."""
    terms = terms_of(plan, entry)
    word = "limit" if entry.policy.has_queues else "share_limit"
    found = [(2**62, "")]
    if row not in terms.own:
        for above in terms.above[row]:
            whose = f"`{word}` of `{plan.tree.paths[above]}`"
            found += [(most // unit[at], whose) for at, most in terms.limit.get(above, ()) if unit[at]]
    return min(found, key=lambda bound: bound[0])


def _refused(code: str, what: str, mend: str) -> InputError:
    return InputError([Fault(code, what, mend)])
