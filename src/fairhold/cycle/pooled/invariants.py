"""Invariants of every cycle of vectors, for any plan and state (SPEC §10).

Each invariant is a function that yields its violations. They count again from the states before and after, and from
the parcels of every unit. Tests run `check` after every cycle; in production it runs on demand
(`fairhold cycle --check`).
"""

from __future__ import annotations

import operator
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from fairhold.cycle.pooled.merge_results import run_entries
from fairhold.cycle.pooled.needed import superfluous
from fairhold.cycle.pooled.targets import beyond_targets
from fairhold.cycle.queued.invariants import untrue_of_queues
from fairhold.cycle.violation import Violation
from fairhold.kernels.vectors import add, total
from fairhold.ledger.pools import OWN, PUBLIC
from fairhold.model.vector import steps_of
from fairhold.rules.pools.alone import are_alone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from fairhold.cycle.pooled.active_entries import InForce
    from fairhold.cycle.pooled.merge_results import Cycles
    from fairhold.cycle.pooled.run import PooledCycle
    from fairhold.ledger.pools import Machine, Parcel, PendingRequest, PoolBooks, Unit
    from fairhold.model.plan import Plan
    from fairhold.model.state import State

    Truth = Callable[["Done"], Iterator[Violation]]


class Done(NamedTuple):
    """A cycle of one policy entry.

    before : the state that it was run on, with the requests of its members
    """

    plan: Plan
    before: State
    cycle: PooledCycle

    @property
    def books(self) -> PoolBooks:
        """As the cycle has left them."""
        return self.cycle.books

    def path(self, row: int) -> str:
        """Path of a consumer."""
        return self.plan.tree.paths[row]


def check(plan: Plan, state: State, cycles: Cycles, after: State) -> tuple[str, ...]:
    """All violations in the cycles of one instant, one line each; empty if every invariant holds."""
    broken = tuple(
        f"{force.name}: {violation}" for force, cycle in cycles for violation in untrue(plan, force, state, cycle)
    )
    return broken or tuple(a_second_cycle_changes_nothing(plan, after))


def untrue(plan: Plan, force: InForce, state: State, cycle: PooledCycle) -> Iterator[Violation]:
    """Violations in the cycle of one entry."""
    done = Done(plan, force.part_of(plan, state), cycle)
    for truth in TRUTHS if cycle.stood is None else OF_ALL:
        yield from truth(done)
    if cycle.stood is not None:
        yield from untrue_of_queues(plan, cycle.books, cycle.sweeps, cycle.stood)


def units_are_conserved(done: Done) -> Iterator[Violation]:
    """Units held = units held before + granted - stopped; only held units are under notice."""
    name, books = "units_are_conserved", done.books
    is_here = books.host_of.__contains__
    held = Counter[tuple[str, str]]()
    for row in done.before.allocations:
        if row.request in books.asked and is_here(row.host):
            held[row.request, row.host] += row.units
    held += _moved(done.cycle.grants)
    held -= _moved(done.cycle.stops)
    now, noticed = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for row in done.cycle.allocations:
        now[row.request, row.host] += row.units
    for notice in done.cycle.notices:
        noticed[notice.request, notice.host] += notice.units
    for (request, host), units in ((held - now) + (now - held)).items():
        text = f"{held[request, host]} units of {request} should be held, and {now[request, host]} are ({units} off)"
        yield Violation(name, host, text)
    for (request, host), units in (noticed - now).items():
        yield Violation(name, host, f"{units} units of {request} are under notice and not held")


def _moved(rows: Iterable[dict[str, object]]) -> Counter[tuple[str, str]]:
    found = Counter[tuple[str, str]]()
    for row in rows:
        found[str(row["request"]), str(row["host"])] += int(str(row["units"]))
    return found


def hosts_hold_what_they_have(done: Done) -> Iterator[Violation]:
    """The parcels of a host add up to it; each is used + kept + idle; each unit is booked on what it needs.

    Where more stands on a host than it has, as it was made smaller, units are booked on less.
    """
    name, dimensions = "hosts_hold_what_they_have", done.books.terms.dimensions
    for host in done.books.hosts:
        if total((parcel.amounts for parcel in host.parcels), dimensions) != host.total:
            yield Violation(name, host.name, f"its parcels are not the {host.total} that it has")
        used = {parcel: total(parcel.kept.values(), dimensions) for parcel in host.parcels}
        needed = total((unit.asked.unit for unit in host.units), dimensions)
        is_too_small = any(map(operator.gt, needed, host.total))
        for unit in host.units:
            booked = total(unit.books.values(), dimensions)
            if any(map(operator.gt, booked, unit.asked.unit)) or (booked != unit.asked.unit and not is_too_small):
                yield Violation(name, host.name, f"a unit of {unit.asked.model.id} stands on {unit.books.values()}")
            for parcel, part in unit.books.items():
                if parcel.host is not host:
                    yield Violation(name, host.name, f"a unit of {unit.asked.model.id} stands on {parcel.host.name}")
                else:
                    used[parcel] = add(used[parcel], part)
        for parcel, taken in used.items():
            if min(parcel.idle) < 0 or add(taken, parcel.idle) != parcel.amounts:
                text = f"of {parcel.amounts} of {done.path(parcel.owner)} {taken} are taken, {parcel.idle} idle"
                yield Violation(name, host.name, text)


def children_own_inside_their_parents(done: Done) -> Iterator[Violation]:
    """Every parcel is carved out of what those above its owner have of the host (S2.14)."""
    tree = done.books.terms.tree
    for host in done.books.hosts:
        for parcel in host.parcels:
            rows = [row for row, _ in parcel.chain]
            above = [row for row in done.books.terms.above[parcel.owner] if row != PUBLIC]
            if rows != above or any(entry.resource_group != host.group for _, entry in parcel.chain):
                text = f"{done.path(parcel.owner)} owns of it, below {[tree.paths[row] for row in rows]}"
                yield Violation("children_own_inside_their_parents", host.name, text)


def nobody_owns_more_than_its_target(done: Done) -> Iterator[Violation]:
    """By every entry under `own` no more is owned than it asks for (R-ADJUST-0, R-ADJUST-2).

    Where ownership was not adjusted, it is as before (R-ADJUST-5).
    """
    last = done.books.adjusted
    if last is None or last.at == done.books.now:
        for row, text in beyond_targets(done.books, steps_of(done.plan.resources)):
            yield Violation("nobody_owns_more_than_its_target", done.path(row), text)


def share_limits_hold(done: Done) -> Iterator[Violation]:
    """Nothing is granted above a share limit, and what is held above one is under notice (R-LIMIT-1, R-LIMIT-3).

    An entry with `observe_only` gives no notices, so that units above a limit may stay.
    """
    name, terms, granted = "share_limits_hold", done.books.terms, set(done.cycle.sweeps.placed)
    shared = [unit for unit in done.books.units() if unit.pool != OWN]
    away = [asked for asked in done.books.asked.values() if asked.away]
    for row, limits in terms.limit.items():
        mine = [unit for unit in shared if row in terms.above[unit.asked.leaf]]
        for at, most in limits:
            held = sum(unit.asked.unit[at] for unit in mine)
            held += sum(each.unit[at] * each.away_shared for each in away if row in terms.above[each.leaf])
            stays = sum(unit.asked.unit[at] for unit in mine if unit.notice is None)
            resource = done.plan.resources[at].name
            if stays > most and not done.books.restraint.is_still:
                yield Violation(name, done.path(row), f"keeps {stays} of {resource}, at most {most}")
            if held > most and any(unit.asked.unit[at] for unit in mine if unit in granted):
                yield Violation(name, done.path(row), f"was granted {resource} and holds {held}, at most {most}")


def users_hold_no_more_than_they_may(done: Done) -> Iterator[Violation]:
    """No user is granted a unit beyond the limit of a leaf (R-USER-2)."""
    granted = {(unit.asked.leaf, unit.asked.model.user) for unit in done.cycle.sweeps.placed if unit.asked.model.user}
    for leaf, user in sorted(granted):
        held = sum(asked.held for asked in done.books.by_leaf[leaf] if asked.model.user == user)
        most = done.books.terms.user_limit[leaf]
        if held > most:
            text = f"{user} was granted units and holds {held}, at most {most}"
            yield Violation("users_hold_no_more_than_they_may", done.path(leaf), text)


def who_borrows_lets_go_in_time(done: Done) -> Iterator[Violation]:
    """No leaf borrows whose grace is too long for the lender, and every notice ends within all graces (R-LEND-6)."""
    name, books = "who_borrows_lets_go_in_time", done.books
    for unit in done.cycle.sweeps.placed:
        bounds = [bound for parcel in unit.books for bound in _bounds(books, unit, parcel)]
        if bounds and books.terms.grace[unit.asked.leaf] > min(bounds):
            yield Violation(name, done.path(unit.asked.leaf), f"was granted what has to be let go in {min(bounds)} µs")
    for unit in done.cycle.sweeps.noticed:
        bounds = [bound for parcel in unit.books for bound in _bounds(books, unit, parcel)]
        most = books.now + min([books.terms.grace[unit.asked.leaf], *bounds])
        if unit.notice is not None and unit.notice.deadline > most:
            text = f"may stay on {unit.host.name} until {unit.notice.deadline}, at most {most}"
            yield Violation(name, done.path(unit.asked.leaf), text)


def _bounds(books: PoolBooks, unit: Unit, parcel: Parcel) -> Iterator[int]:
    """Bounds on what a unit has of a parcel: those who lent it on the way to its pool, or whose pool it is."""
    terms, leaf, owner = books.terms, unit.asked.leaf, parcel.owner
    bounds: list[int | None] = []
    if owner == PUBLIC:
        bounds = [terms.settings.public_pool_grace]
    elif owner != leaf:
        rows = [row for row, _ in parcel.chain]
        below = rows.index(unit.pool) if unit.pool in rows else len(rows)
        bounds = [entry.lend_grace for _, entry in parcel.chain[:below]]
        bounds += [terms.pool_grace.get(owner)] if owner in terms.above[leaf] else []
    yield from (bound for bound in bounds if bound is not None)


def what_is_reserved_goes_to_nobody_else(done: Done) -> Iterator[Violation]:
    """No unit is granted on what others reserve, and those that stand there are under notice (R-LEND-5, R-ADJUST-4)."""
    name = "what_is_reserved_goes_to_nobody_else"
    granted = set(done.cycle.sweeps.placed)
    for unit in done.books.units():
        above = done.books.terms.above[unit.asked.leaf]
        theirs = [row for parcel in unit.books for row, entry in parcel.chain if entry.reserved and row not in above]
        stays = unit.notice is None and not done.books.restraint.is_still
        if theirs and (unit in granted or stays):
            text = f"a unit of {unit.asked.model.id} stands on what {done.path(theirs[0])} reserves"
            yield Violation(name, unit.host.name, text)


def no_notice_is_superfluous(done: Done) -> Iterator[Violation]:
    """Without any one notice of this cycle its taker would get less, or get it further up the tree (R-NOTICE-3)."""
    for units, taker in superfluous(done.books, done.cycle.sweeps):
        text = f"{len(units)} units go for {taker.model.id}, which would get as much without them"
        yield Violation("no_notice_is_superfluous", done.path(units[0].asked.leaf), text)


def nothing_is_placed_in_vain(done: Done) -> Iterator[Violation]:
    """No unit that was placed gets notice in the same cycle (R-SWEEP-3)."""
    for unit in done.cycle.sweeps.placed:
        if unit.notice is not None:
            text = f"a unit of {unit.asked.model.id} was granted, and is told to go at once"
            yield Violation("nothing_is_placed_in_vain", unit.host.name, text)


def what_is_held_is_granted(done: Done) -> Iterator[Violation]:
    """A unit granted on space held for it gets no notice in the same cycle (R-SERVE-3)."""
    for unit in done.books.sure:
        is_taken = unit.notice is not None and unit.notice.is_new and unit.notice.taker is not None
        if is_taken:
            text = f"a unit of {unit.asked.model.id} was granted on what was held for it, and is taken back at once"
            yield Violation("what_is_held_is_granted", unit.host.name, text)


def nothing_is_taken_where_others_stay(done: Done) -> Iterator[Violation]:
    """Where no two leaves share a host, units on their way have it alone when all under notice is gone (R-HOSTS-3)."""
    name = "nothing_is_taken_where_others_stay"
    if not are_alone(done.books):
        return
    leaves: dict[Machine, dict[int, None]] = {}
    for asked, reservations in done.cycle.sweeps.reservations.of.items():
        for host in [host for host, reservation in reservations.items() if reservation.units]:
            leaves.setdefault(host, {})[asked.leaf] = None
    for host, coming in leaves.items():
        mine = coming | dict.fromkeys(unit.asked.leaf for unit in host.units if unit.notice is None)
        if len(mine) > 1:
            yield Violation(name, host.name, f"{' and '.join(map(done.path, mine))} will have units there")


def pools_do_not_touch_one_another(done: Done) -> Iterator[Violation]:
    """Units are reclaimed from a pool that both sides share, or from what the taker's branch owns (SPEC §6.6)."""
    for unit, taker in _taken(done):
        if unit.pool not in done.books.terms.above[taker.leaf] and not _is_taken_back(done, unit, taker):
            text = f"a unit goes from the pool {_pool(done, unit.pool)} for {done.path(taker.leaf)}"
            yield Violation("pools_do_not_touch_one_another", done.path(unit.asked.leaf), text)


def nobody_at_or_under_quota_loses_a_unit(done: Done) -> Iterator[Violation]:
    """A leaf that gave units of a pool for others was above its quota before its last unit went (R-TAKE-1).

    What owners take back, and what is above limits or on reserved parcels, goes before, whatever the quotas. Leaves of
    which a gang stops whole are left out; so is what goes for somebody that will stand elsewhere (R-HELD-1), as there
    its wish counts from then on, and quotas of the pool that it leaves are more.
    """
    name, standings = "nobody_at_or_under_quota_loses_a_unit", done.cycle.sweeps.standings
    last: dict[tuple[int, int], int] = {}
    for unit, taker in _taken(done):
        is_shared = unit.pool in done.books.terms.above[taker.leaf] and _will_stand(done, taker, unit.pool)
        if is_shared and not _is_taken_back(done, unit, taker):
            place = unit.pool, unit.asked.leaf
            last[place] = max(last.get(place, 0), standings[unit.pool].size[unit.asked])
    stopped = {unit.asked.leaf for unit in done.cycle.sweeps.noticed if _is_gang_stopped(unit.asked)}
    for (pool, leaf), size in last.items():
        standing = standings[pool]
        left = standing.moved.get(leaf, 0)
        quota = standing.quota.get(leaf, 0) * standing.whole
        if leaf not in stopped and left + size <= quota:
            text = f"keeps {left} of {standing.whole} in the pool {_pool(done, pool)}, its quota is {quota}"
            yield Violation(name, done.path(leaf), text)


def no_gang_goes_on_below_its_minimum(done: Done) -> Iterator[Violation]:
    """Of a gang with units under new notice, at least the minimum stays, or nothing (R-TAKE-4)."""
    name = "no_gang_goes_on_below_its_minimum"
    for asked in dict.fromkeys(unit.asked for unit in done.cycle.sweeps.noticed):
        stays, least = sum(unit.notice is None for unit in asked.units), asked.model.min_count
        if 0 < stays < least:
            text = f"{stays} units of {asked.model.id} stay, and its minimum is {least}"
            yield Violation(name, done.path(asked.leaf), text)


def quotas_are_within_total_and_demand(done: Done) -> Iterator[Violation]:
    """In every pool: usages add up; children have no more than their parent's quota, nobody more than its demand."""
    name, tree = "quotas_are_within_total_and_demand", done.books.terms.tree
    for pool, standing in done.cycle.sweeps.standings.items():
        for row in standing.quota:
            children = [child for child in tree.children[row] if child in standing.quota]
            if children and sum(standing.quota[child] for child in children) > standing.quota[row]:
                yield Violation(name, done.path(row), f"its children have more quota in the pool {_pool(done, pool)}")
            used = [standing.usage.get(child, 0) for child in tree.children[row]]
            if used and sum(used) != standing.usage.get(row, 0):
                yield Violation(name, done.path(row), f"uses {standing.usage.get(row, 0)}, its children {sum(used)}")
            if row != pool and standing.quota[row] > standing.demand.get(row, 0):
                yield Violation(name, done.path(row), f"quota {standing.quota[row]} in the pool {_pool(done, pool)}")


def a_second_cycle_changes_nothing(plan: Plan, after: State) -> Iterator[str]:
    """With nothing released and no deadline reached, a cycle on the state after the first changes nothing."""
    for force, cycle in run_entries(plan, after):
        moved = [*cycle.stops, *cycle.grants, *cycle.reclaims, *cycle.withdrawn]
        if moved:
            yield f"{force.name}: a_second_cycle_changes_nothing : it decides {moved}"


def _taken(done: Done) -> Iterator[tuple[Unit, PendingRequest]]:
    """Units under new notice with a taker, without gangs that stop as a whole."""
    for unit in done.cycle.sweeps.noticed:
        taker = unit.notice.taker if unit.notice is not None else None
        if taker is not None and not _is_gang_stopped(unit.asked):
            yield unit, taker


def _is_gang_stopped(asked: PendingRequest) -> bool:
    return asked.model.min_count > 0 and all(unit.notice is not None for unit in asked.units)


def _is_taken_back(done: Done, unit: Unit, taker: PendingRequest) -> bool:
    """Whether a unit stands on what the taker owns, or on what one above the taker and not above the unit does."""
    terms = done.books.terms
    branch = [row for row in terms.above[taker.leaf] if row not in terms.above[unit.asked.leaf]]
    return any(row in branch for parcel in unit.books for row, _ in parcel.chain)


def _will_stand(done: Done, taker: PendingRequest, pool: int) -> bool:
    """Whether all that is on its way to a request will stand in a pool."""
    reservations = done.cycle.sweeps.reservations.of.get(taker, {}).values()
    return all(reservation.pool == pool for reservation in reservations if reservation.units)


def _pool(done: Done, pool: int) -> str:
    return "own" if pool == OWN else done.path(pool)


TRUTHS: tuple[Truth, ...] = (
    units_are_conserved,
    hosts_hold_what_they_have,
    children_own_inside_their_parents,
    nobody_owns_more_than_its_target,
    share_limits_hold,
    users_hold_no_more_than_they_may,
    who_borrows_lets_go_in_time,
    what_is_reserved_goes_to_nobody_else,
    pools_do_not_touch_one_another,
    nobody_at_or_under_quota_loses_a_unit,
    no_gang_goes_on_below_its_minimum,
    quotas_are_within_total_and_demand,
    no_notice_is_superfluous,
    nothing_is_placed_in_vain,
    what_is_held_is_granted,
    nothing_is_taken_where_others_stay,
)
"""Truths of one cycle alone; `a_second_cycle_changes_nothing` is looked at where all of these hold."""
OF_ALL: tuple[Truth, ...] = (units_are_conserved, hosts_hold_what_they_have, users_hold_no_more_than_they_may)
"""Those of them that hold under `fair_share`, too."""
