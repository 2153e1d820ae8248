"""Reads a state: hosts, requests, units, notices and what is held, as a cycle of queues finds them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fairhold.model.siting import label_set
from fairhold.reference.queues.cluster import Ask, Cluster, Host, Told, Unit
from fairhold.reference.vectors import total_of, units_in
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from fairhold.model.plan import Plan
    from fairhold.model.state import Notice, State
    from fairhold.model.vector import Vector
    from fairhold.reference.sharing import Share


def open_cluster(plan: Plan, share: Share, state: State) -> Cluster:
    """All that is on the hosts of an entry, and what of its requests counts; nothing is on its way yet."""
    paths = plan.tree.paths
    mine = [each for each in state.requests if each.unit and plan.tree.first_level[each.consumer] in share.members]
    asks = [Ask(request, paths[request.consumer], at) for at, request in enumerate(mine)]
    cluster = Cluster(asks, _hosts(plan, share, state), len(plan.resources), state.now)
    groups = [plan.resource_groups[group] for group in share.groups]
    if not any(group.hosts for group in groups):
        told = [state.capacity.get(group.name, group.capacity) for group in groups]
        cluster.capacity = total_of(told, cluster.width)
    cluster.is_exclusive = share.entry.settings.packing == "exclusive"
    for row in state.allocations:
        if row.request not in cluster.asks:
            continue
        ask = cluster.asks[row.request]
        if row.host in cluster.hosts:
            cluster.units += [Unit(ask, row.host, row.started, cluster.next()) for _ in range(row.units)]
        else:
            cluster.away[ask] += row.units
    for notice in state.notices:
        if notice.request in cluster.asks and notice.host in cluster.hosts:
            _tell(cluster, notice)
    return cluster


def _hosts(plan: Plan, share: Share, state: State) -> list[Host]:
    """Hosts that are not down, in inventory order."""
    found: list[Host] = []
    for group in share.groups:
        for host in plan.resource_groups[group].hosts:
            if host.name not in state.hosts_down:
                pairs = zip(host.amounts, plan.resources, strict=True)
                total = tuple(int(have * resource.overcommit) for have, resource in pairs)
                told = label_set(host.labels) if state.labels is None else state.labels[host.name]
                is_open = host.name not in state.hosts_closed
                found.append(Host(host.name, group, total, told, is_open, len(found)))
    return found


def _tell(cluster: Cluster, notice: Notice) -> None:
    """Put units under a notice: those that it names, else the youngest."""
    units = [u for u in cluster.of(cluster.asks[notice.request]) if u.host == notice.host and u.told is None]
    named = [unit for unit in units if notice.started in (None, unit.started)]
    for unit in sorted(named, key=lambda each: (-each.started, -each.serial))[: notice.units]:
        taker = cluster.asks.get(notice.taker_request)
        unit.told = unit.before = Told(taker, notice.deadline, notice.reason, cluster.next())


def settle(cluster: Cluster, state: State) -> list[Unit]:
    """R-SETTLE-1: units whose grace has run out are stopped, but not twice at an instant."""
    if state.previous_cycle == state.now or state.is_settled:
        return []
    gone = [unit for unit in cluster.units if unit.told is not None and unit.told.deadline <= state.now]
    cluster.units = [unit for unit in cluster.units if unit not in gone]
    return gone


def count_waiting(cluster: Cluster, plan: Plan, share: Share) -> dict[Ask, str]:
    """R-QUEUE-1: what of each request waits; returns why gangs can never start."""
    never = {ask: why for ask in cluster.asks.values() if (why := _never(cluster, plan, share, ask))}
    left = _rooms_of_users(cluster, plan, share)
    for ask in sorted(cluster.asks.values(), key=lambda each: turn(cluster, each)):
        held = cluster.held(ask)
        more = max(0, ask.request.count - held)
        more = 0 if ask in never else more
        user = ask.leaf, ask.request.user
        if ask.request.user and user in left:
            more = max(0, min(more, left[user])) if fits_somewhere(cluster, ask, closed=True) else 0
            more = 0 if held + more < ask.minimum else more
            left[user] -= more
        more = 0 if ask.leaf in share.waiting else more
        cluster.most[ask] = held + more
    return never


def turn(cluster: Cluster, ask: Ask) -> tuple[int, bool, int, str]:
    """R-SERVE-1: the order inside a queue: by priority, below the minimum of its gang first, then submitted, id."""
    return -ask.request.priority, not cluster.missing(ask), ask.request.submitted, ask.id


def _rooms_of_users(cluster: Cluster, plan: Plan, share: Share) -> Counter[tuple[str, str]]:
    """(leaf, user) → units that the user limit leaves; nobody where there is none."""
    left: Counter[tuple[str, str]] = Counter()
    for ask in cluster.asks.values():
        limit = user_limit(plan, share, ask)
        if limit < UNLIMITED:
            left.setdefault((ask.leaf, ask.request.user), limit)
            left[ask.leaf, ask.request.user] -= cluster.held(ask)
    return left


def user_limit(plan: Plan, share: Share, ask: Ask) -> int:
    """The nearest limit on the way up."""
    row = ask.request.consumer
    while row > 0:
        stated = share.entry.consumers.get(row)
        if stated is not None and stated.user_limit is not None:
            return stated.user_limit
        row = plan.tree.parent[row]
    return UNLIMITED


def fits_somewhere(cluster: Cluster, ask: Ask, *, closed: bool = False) -> bool:
    """Whether a suitable host that is up could take a unit if it were empty; without hosts, all together could.

    closed : whether one that is closed counts, too
    """
    if cluster.capacity is not None:
        return units_in(ask.unit, cluster.capacity) > 0
    hosts = [host for host in cluster.hosts.values() if host.is_open or closed]
    return any(units_in(ask.unit, host.total) for host in hosts if ask.siting.fits(host.labels))


def _never(cluster: Cluster, plan: Plan, share: Share, ask: Ask) -> str:
    """R-QUEUE-1, R-GANG-2: why a gang below its minimum can never start; empty where it could."""
    missing = cluster.missing(ask)
    if not missing or cluster.capacity is not None:
        return ""
    if room_at_once(cluster, ask) < missing:
        return "hosts"
    if ask.request.user and user_limit(plan, share, ask) < ask.minimum:
        return "user limit"
    return "share limit" if room_of_limits(plan, share, ask, cluster.held(ask)) < missing else ""


def room_at_once(cluster: Cluster, ask: Ask) -> int:
    """Units that find room together, were all suitable hosts empty."""
    rooms = [units_in(ask.unit, cluster.hosts[host].total) for host in cluster.suitable(ask, closed=True)]
    return max(rooms, default=0) if ask.packs else sum(rooms)


def room_of_limits(plan: Plan, share: Share, ask: Ask, held: int) -> int:
    """Units beside those that it holds that limits on the way up have room for, if there were nothing else."""
    row, found = ask.request.consumer, UNLIMITED
    while row > 0:
        stated = share.entry.consumers.get(row)
        limits = dict(stated.queue.limit) if stated else {}
        rooms = [limits[at] // need - held for at, need in enumerate(ask.unit) if need and at in limits]
        found, row = min([found, *rooms]), plan.tree.parent[row]
    return max(0, found)


def booked(cluster: Cluster) -> Vector:
    """R-UP-1: what is divided: hosts that are up, and what is booked on those that are not; or the totals told."""
    if cluster.capacity is not None:
        return cluster.capacity
    closed = [host for host in cluster.hosts.values() if not host.is_open]
    there = [host.total for host in cluster.hosts.values() if host.is_open]
    there += [cluster.used(host.name) for host in closed]
    there += [tuple(need * units for need in ask.unit) for ask, units in cluster.away.items()]
    return total_of(there, cluster.width)
