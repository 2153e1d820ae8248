"""Deserved amount, demand and fair share of every queue, by resource (R-QUEUE-1 to R-QUEUE-5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

from fairhold.cycle.verify.pooled.amounts import fits
from fairhold.cycle.verify.pooled.siting import will_do
from fairhold.cycle.verify.pooled.terms import TOP
from fairhold.model.plan import ConsumerSettings
from fairhold.model.queue import FairShareSettings
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from fairhold.cycle.verify.pooled.force import Share
    from fairhold.cycle.verify.pooled.stock import Asked, Stock
    from fairhold.model.plan import Plan
    from fairhold.model.state import State

Number = int | Fraction


@dataclass(frozen=True)
class Queue:
    """One queue.

    deserved, limit : by place of the resource, None = as much as there is
    weight : by place of the resource
    spares_for_reclaim, spares_for_preempt : microseconds that units run before they may be taken; delay: that requests
        wait before they take
    """

    path: str
    children: tuple[str, ...]
    up: tuple[str, ...]
    place: int
    deserved: tuple[int | None, ...]
    limit: tuple[int | None, ...]
    weight: tuple[Fraction, ...]
    priority: int
    spares_for_reclaim: int
    spares_for_preempt: int
    delay: int


@dataclass
class Table:
    """All queues of one entry.

    total : by resource, what the hosts have
    asked, fair, held, fixed : by resource and path; held as moved, fixed of that what is never taken back
    unnamed : by resource and path, held of which the state names no request
    used : by resource and path, decayed history as a part of the capacity
    """

    queues: dict[str, Queue]
    settings: FairShareSettings
    total: tuple[int, ...]
    asked: list[dict[str, int]] = field(default_factory=list)
    fair: list[dict[str, Number]] = field(default_factory=list)
    held: list[dict[str, int]] = field(default_factory=list)
    fixed: list[dict[str, int]] = field(default_factory=list)
    unnamed: list[dict[str, int]] = field(default_factory=list)
    used: list[dict[str, Fraction]] = field(default_factory=list)

    @property
    def width(self) -> range:
        """Places of the resources."""
        return range(len(self.total))

    def clear(self) -> None:
        """Set all held amounts to zero."""
        self.held = [dict.fromkeys(self.queues, 0) | unnamed for unnamed in self.unnamed]
        self.fixed = [dict.fromkeys(self.queues, 0) for _ in self.total]

    def came(self, asked: Asked, units: int) -> None:
        """Add units of a request; may be negative."""
        for at in self.width:
            for path in self.queues[asked.leaf].up:
                self.held[at][path] += asked.unit[at] * units
                self.fixed[at][path] += 0 if is_preemptible(asked) else asked.unit[at] * units

    def deserves(self, path: str, at: int) -> Number:
        """The deserved amount of a queue; infinite where it is unlimited."""
        amount = self.queues[path].deserved[at]
        return UNLIMITED if amount is None else amount

    def limit(self, path: str, at: int) -> Number:
        """The most that it may hold."""
        amount = self.queues[path].limit[at]
        return UNLIMITED if amount is None else amount

    def threshold(self, path: str, at: int) -> Number:
        """The amount that it may hold before others take by fair shares."""
        amount = min(self.limit(path, at), max(self.deserves(path, at), self.fair[at][path]))
        return amount if amount < UNLIMITED else self.total[at]


def is_preemptible(asked: Asked) -> bool:
    """Whether it may be taken back (R-SERVE-2)."""
    return asked.model.priority < 100 if asked.model.preemptible is None else asked.model.preemptible


def make_table(plan: Plan, share: Share, state: State, stock: Stock) -> Table:
    """The table of demands and fair shares, before anything is held."""
    queues = _queues(plan, share)
    hosts = list(stock.hosts.values())
    bulks = _bulks(plan, share, state)
    there = [host.total for host in hosts if not host.is_closed] + bulks + [*stock.booked.values()]
    there += [unit.asked.unit for host in hosts if host.is_closed for unit in host.units]
    total = tuple(sum(each[at] for each in there) for at in range(stock.terms.width))
    table = Table(queues, share.entry.settings.fair_share or FairShareSettings(), total)
    table.unnamed = [{} for _ in total]
    table.clear()
    table.asked = [dict.fromkeys(queues, 0) for _ in total]
    for asked in stock.asked.values():
        wanted = asked.model.count if asked.cap is None else min(asked.model.count, asked.cap)
        can_stand = any(fits(asked.unit, host.total) and will_do(asked, host) for host in hosts if not host.is_closed)
        can_stand = can_stand or any(fits(asked.unit, bulk) for bulk in bulks)
        units = max(asked.held, wanted if can_stand else 0)
        for at in table.width:
            for path in queues[asked.leaf].up:
                table.asked[at][path] += asked.unit[at] * units
    _count_unnamed(plan, share, state, table)
    for at in table.width:
        usage = {plan.tree.paths[row]: parts[at] for row, parts in state.usage.items()}
        share_out = _as_kai if table.settings.division == "kai" else _exactly
        table.fair.append({TOP: total[at]})
        table.used.append(_history(queues, usage, TOP))
        share_out(table, at, plan.resources[at].step, table.used[at])
    return table


def _bulks(plan: Plan, share: Share, state: State) -> list[tuple[int, ...]]:
    """The capacity of each group without hosts: that of the state, else of the plan."""
    found = []
    for name in share.groups:
        capacity = state.capacity.get(name) or plan.resource_groups[name].capacity
        if capacity:
            found.append(tuple(int(capacity[at] * each.overcommit) for at, each in enumerate(plan.resources)))
    return found


def _count_unnamed(plan: Plan, share: Share, state: State, table: Table) -> None:
    """Amounts of the state that stand for no request: who has more than it wants, wants what it has."""
    for group in share.groups:
        for row, path in enumerate(plan.tree.paths):
            wants, has = state.wanted.get((row, group), ()), state.held_amounts.get((row, group), ())
            if not (wants or has) or plan.tree.first_level[row] not in share.members:
                continue
            for at in table.width:
                mine = has[at] if has else 0
                for above in table.queues[path].up:
                    table.unnamed[at][above] = table.unnamed[at].get(above, 0) + mine
                    table.asked[at][above] += max(mine, wants[at] if wants else 0)


def _queues(plan: Plan, share: Share) -> dict[str, Queue]:
    tree, found = plan.tree, dict[str, Queue]()
    width = range(len(plan.resources))
    for row, path in enumerate(tree.paths):
        stated = share.entry.consumers.get(row, ConsumerSettings())
        queue, above = stated.queue, found.get(tree.paths[tree.parent[row]]) if row else None
        said = dict(queue.deserved), dict(queue.limit), dict(queue.weight)
        children = [each for each in tree.children[row] if row or each in share.members]
        deserved, limit = (
            tuple(None if row == 0 else _amount(each.get(at, default)) for at in width)
            for each, default in ((said[0], 0), (said[1], UNLIMITED))
        )
        found[path] = Queue(
            path,
            tuple(tree.paths[each] for each in children),
            (path, *above.up) if above else (path,),
            row,
            deserved,
            limit,
            tuple(said[2].get(at, Fraction(1)) for at in width),
            queue.priority,
            _stated(queue.reclaim_min_runtime, stated.min_runtime, above.spares_for_reclaim if above else 0),
            _stated(queue.preempt_min_runtime, stated.min_runtime, above.spares_for_preempt if above else 0),
            _stated(queue.preemption_delay, None, above.delay if above else 0),
        )
    return found


def _amount(units: int) -> int | None:
    return None if units >= UNLIMITED else units


def _stated(own: int | None, other: int | None, above: int) -> int:
    """The first value that is not None."""
    return next((each for each in (own, other) if each is not None), above)


def _history(queues: dict[str, Queue], usage: dict[str, Fraction], path: str) -> dict[str, Fraction]:
    """Usage of everybody; of a parent that has none of its own the sum of its children's."""
    found: dict[str, Fraction] = {}
    for child in queues[path].children:
        found |= _history(queues, usage, child)
    below = sum((found[child] for child in queues[path].children), Fraction(0))
    return found | {path: usage.get(path, below)}


def _usable(table: Table, path: str, at: int) -> Number:
    """The demand that a queue and its children can use (R-QUEUE-1)."""
    children = table.queues[path].children
    wanted = sum(_usable(table, child, at) for child in children) if children else table.asked[at][path]
    return min(table.limit(path, at), wanted)


def _exactly(table: Table, at: int, step: int, history: dict[str, Fraction], path: str = TOP) -> None:
    """Divide the fair share of a queue among its children, recursively."""
    fair, children = table.fair[at], table.queues[path].children
    usable = {child: _usable(table, child, at) for child in children}
    for child in children:
        fair[child] = min(usable[child], table.deserves(child, at))
        if table.queues[child].deserved[at] is None:
            fair[child] = min(fair[child], fair[path])
    left = fair[path] - sum(fair[child] for child in children)
    for priority in sorted({table.queues[child].priority for child in children}, reverse=True):
        band = [child for child in children if table.queues[child].priority == priority]
        band = [child for child in band if fair[child] < usable[child] and table.queues[child].weight[at]]
        for weights in _turns(table, at, band, history, path):
            if left > 0:
                caps = {child: usable[child] - fair[child] for child in weights}
                for child, more in _surplus(left, step, caps, weights).items():
                    fair[child] += more
                    left -= more
    for child in children:
        _exactly(table, at, step, history, child)


def _turns(
    table: Table, at: int, band: list[str], history: dict[str, Fraction], above: str
) -> list[dict[str, Fraction]]:
    """Weights of those whom their history leaves something, then of the others (R-QUEUE-4)."""
    weights = {child: table.queues[child].weight[at] for child in band}
    entitled = table.fair[at][above]
    if not table.settings.k or not entitled:
        return [weights]
    parts = {}
    for child, weight in weights.items():
        part = weight / sum(weights.values())
        used = history[child] * table.total[at] / entitled
        parts[child] = part + table.settings.k * (part - used)
    first = {child: part for child, part in parts.items() if part > 0}
    return [first, {child: weights[child] for child in band if child not in first}]


def _surplus(left: Number, step: int, caps: dict[str, Number], weights: dict[str, Fraction]) -> dict[str, Number]:
    """The fill up to caps, then whole steps (R-QUEUE-3)."""
    rest, level = dict(weights), Fraction(0)
    over: Number = left
    while rest:
        level = Fraction(over) / sum(rest.values())
        full = [child for child, weight in rest.items() if caps[child] <= weight * level]
        if not full:
            break
        for child in full:
            over -= caps[child]
            del rest[child]
    given: dict[str, Number] = {child: caps[child] for child in weights if child not in rest}
    given |= {child: floor(weight * level / step) * step for child, weight in rest.items()}
    over = left - sum(given.values())
    turns = sorted(rest, key=lambda child: given[child] - rest[child] * level)
    while over > 0 and turns:
        for child in turns:
            more = min(step, caps[child] - given[child], over)
            given[child] += more
            over -= more
    return given


def _as_kai(table: Table, at: int, step: int, history: dict[str, Fraction], path: str = TOP) -> None:
    """The same in doubles, as KAI does it (R-QUEUE-5)."""
    fair, children = table.fair[at], list(table.queues[path].children)
    total = float(Fraction(fair[path]) / step)
    wanted = [float(min(table.limit(child, at), table.asked[at][child]) / step) for child in children]
    share: list[float] = []
    for child, most in zip(children, wanted, strict=True):
        deserved = table.queues[child].deserved[at]
        share.append(min(total if deserved is None else deserved / step, most))
    left = total
    for mine in share:
        left -= mine
    _surplus_as_kai(
        table, at, left, wanted, share, [(table.queues[child], float(history[child])) for child in children]
    )
    for child, mine in zip(children, share, strict=True):
        fair[child] = Fraction(mine) * step
        _as_kai(table, at, step, history, child)


def _surplus_as_kai(  # noqa: PLR0917 - what one level of KAI's has
    table: Table, at: int, left: float, wanted: list[float], share: list[float], queues: list[tuple[Queue, float]]
) -> None:
    """Bands from the highest on, each in rounds; then what floors denied, one step each; shares grow."""
    denied: dict[int, dict[int, float]] = {}
    for priority in sorted({queue.priority for queue, _ in queues}, reverse=True) if left > 0 else ():
        denied[priority] = {}
        is_over = False
        while left > 0 and not is_over:
            is_over, begin = True, left
            open_ = [i for i, (each, _) in enumerate(queues) if each.priority == priority and wanted[i] > share[i]]
            for part, i in _parts_as_kai(table, at, open_, queues):
                if not queues[i][0].weight[at] or left <= 0:
                    continue
                want, mine = wanted[i] - share[i], begin * part
                given = want if want <= mine else float(floor(mine))
                if want <= mine:
                    denied[priority].pop(i, None)
                elif mine > given:
                    denied[priority][i] = mine - given
                share[i] += given
                left -= given
                is_over = is_over and not want < mine
    for parts_denied in denied.values():
        for i, _ in sorted(parts_denied.items(), key=lambda each: (-each[1], each[0])):
            if left > 0:
                more = min(1.0, left)
                share[i] += more
                left -= more


def _parts_as_kai(
    table: Table, at: int, open_: list[int], queues: list[tuple[Queue, float]]
) -> list[tuple[float, int]]:
    """(part, queue) of those that are open, history taken off; nothing where nobody has any."""
    sum_ = sum(float(queues[i][0].weight[at]) for i in open_)
    if not sum_:
        return []
    k, weights = float(table.settings.k), [float(queues[i][0].weight[at]) / sum_ for i in open_]
    parts = [max(0.0, weight + k * (weight - queues[i][1])) for weight, i in zip(weights, open_, strict=True)]
    of = sum(parts)
    return [(part / of, i) for part, i in zip(parts, open_, strict=True)] if of > 0 else []
