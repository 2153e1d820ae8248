"""Which values the reasons of a request that waits point at: what is tried first for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.explain.parameter import several
from fairhold.cycle.explain.pooled.budgets import larger_budgets
from fairhold.kernels.vectors import count as units_in
from fairhold.kernels.vectors import fits
from fairhold.rules.pools.siting import could_stand
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.explain.parameter import Parameter, Settings
    from fairhold.cycle.explain.pooled.bounds import Bound
    from fairhold.cycle.explain.pooled.inquiry import Inquiry
    from fairhold.cycle.explain.pooled.parameters import Parameters
    from fairhold.cycle.explain.pooled.spaces import Gap
    from fairhold.cycle.explain.pooled.waiting import Waiting
    from fairhold.ledger.pools import PendingRequest

_RATIOS = (1, 2, 4, 8, 16, 32, 64)
"""By how much a share ratio is raised, one after the other."""


def kinds(parameters: Parameters, asked: PendingRequest, waiting: Waiting) -> Iterator[Iterator[Settings]]:
    """For every kind of change what is tried of it, the smallest change first."""
    pointed = _Pointed(parameters, asked, waiting)
    yield larger_budgets(parameters.inquiry, asked.leaf)
    yield pointed.fewer_controls()
    yield hosts_brought_up(parameters, asked)
    yield larger_hosts(parameters, asked, pointed.gaps())
    yield smaller_units(parameters, asked, pointed.gaps())
    yield from of_request(parameters, asked, "need", "avoid", "min_count", "priority")
    yield pointed.shorter_grace()
    yield pointed.longer_bounds()
    yield pointed.nothing_reserved()
    yield pointed.larger_limit()
    yield pointed.larger_user_limit()
    yield pointed.larger_ratios()
    yield pointed.better_classes()


def each(parameter: Parameter | None, *, is_more: bool | None = None) -> Iterator[Settings]:
    """Every value of a parameter alone, the nearest first; of numbers maybe only the larger, or the smaller ones."""
    for value in parameter.values if parameter is not None else ():
        if is_more is None or (parameter is not None and is_more is (value > parameter.old)):
            yield ((parameter, value),) if parameter is not None else ()


def of_request(parameters: Parameters, asked: PendingRequest, *whats: str) -> Iterator[Iterator[Settings]]:
    """What a request could ask for instead: fewer labels, a smaller gang, a better priority."""
    for what in whats:
        parameter = parameters.request(asked, what)
        if what == "priority":
            others = [other for other in parameters.books.by_leaf[asked.leaf] if other is not asked]
            yield each(parameter if others else None, is_more=True)
        elif what != "min_count":
            yield each(parameter)
        elif asked.held < asked.model.min_count:
            yield ((pair,) for (pair,) in each(parameter, is_more=False) if pair[1] > 0)


def hosts_brought_up(parameters: Parameters, asked: PendingRequest) -> Iterator[Settings]:
    """Hosts on which a unit would fit and that are down or closed, up and open: one of each kind, then several."""
    able: list[tuple[int, object, Settings]] = []
    for host in (*parameters.books.hosts, *parameters.books.hosts_down):
        flags = parameters.flags(host)
        if flags and could_stand(asked, [host]):
            kind = (host.group, host.plain, host.labels, len(flags))
            able.append((units_in(asked.unit, host.total), kind, tuple((flag, False) for flag in flags)))
    yield from several(able)


def larger_hosts(parameters: Parameters, asked: PendingRequest, gaps: list[Gap]) -> Iterator[Settings]:
    """More on a host, of what is missing there."""
    for space, missing in gaps:
        host, found = space.host, []
        for at, (miss, need) in enumerate(zip(missing, asked.unit, strict=True)):
            if miss and need:
                parameter = parameters.host_amount(host, at)
                over = parameters.plan.resources[at].overcommit
                plain = int(-(-(host.total[at] + miss) // over))
                found.append(
                    (parameter, -(-(plain - host.plain[at]) // parameter.step) * parameter.step + host.plain[at])
                )
        yield tuple(found)


def smaller_units(parameters: Parameters, asked: PendingRequest, gaps: list[Gap]) -> Iterator[Settings]:
    """A unit that needs less of what is missing, and still some of all: one without it would be another task."""
    for _, missing in gaps:
        found = []
        for at, (miss, need) in enumerate(zip(missing, asked.unit, strict=True)):
            parameter = parameters.request(asked, "amount", at) if miss and need else None
            if parameter is not None:
                found.append((parameter, (need - miss) // parameter.step * parameter.step))
        if found and all(value > 0 for _, value in found):
            yield tuple(found)


class _Pointed:
    def __init__(self, parameters: Parameters, asked: PendingRequest, waiting: Waiting) -> None:
        self.parameters, self.asked, self.waiting = parameters, asked, waiting
        self.inquiry: Inquiry = parameters.inquiry
        self.wants = max(1, asked.model.min_count - asked.held)

    def gaps(self) -> list[Gap]:
        """Hosts where something is missing, the least of a unit first."""
        found = [gap for gap in (self.waiting.gap, *(level.gap for level in self.waiting.levels)) if gap is not None]
        parts = {
            (gap[0].host, gap[1]): max(miss / need for miss, need in zip(gap[1], self.asked.unit, strict=True) if need)
            for gap in found
            if any(gap[1])
        }
        first = {(gap[0].host, gap[1]): gap for gap in reversed(found)}
        return [first[key] for key in sorted(parts, key=lambda key: (parts[key], key[0].place, key[1]))]

    def fewer_controls(self) -> Iterator[Settings]:
        """The control that holds it back, looser or gone."""
        control = self.waiting.control
        if control is None:
            return
        if control.name == "min_runtime":
            for row, mine in self.inquiry.force.entry.consumers.items():
                if mine.min_runtime:
                    yield from each(self.parameters.find(row, "min_runtime"), is_more=False)
        else:
            is_more = {"max_reclaims": True, "observe_only": None}.get(control.name, False)
            yield from each(self.parameters.setting(control.name), is_more=is_more)

    def _passed(self) -> list[Bound]:
        return list(dict.fromkeys(bound for level in self.waiting.levels for _, bound in level.passed))

    def shorter_grace(self) -> Iterator[Settings]:
        """A grace of the leaf that bounds allow."""
        if self._passed():
            yield from each(self.parameters.find(self.asked.leaf, "reclaim_grace"), is_more=False)

    def longer_bounds(self) -> Iterator[Settings]:
        """A bound that allows the grace of the leaf."""
        for bound in sorted(self._passed(), key=lambda bound: -bound.micros):
            if bound.setting == "public_pool_grace":
                yield from each(self.parameters.setting(bound.setting), is_more=True)
            else:
                for parameter in self.parameters.all_of(bound.consumer, bound.setting):
                    yield from each(parameter, is_more=True)

    def nothing_reserved(self) -> Iterator[Settings]:
        """Something that another consumer does not reserve any more, where it has room for a unit."""
        above = self.inquiry.terms.above[self.asked.leaf]
        rows = {
            row: None
            for host in self.inquiry.books.hosts
            for parcel in host.parcels
            for row, entry in parcel.chain
            if entry.reserved and row not in above and fits(self.asked.unit, parcel.idle)
        }
        for row in rows:
            for parameter in self.parameters.all_of(row, "reserved"):
                yield from each(parameter)

    def larger_limit(self) -> Iterator[Settings]:
        """Share limits under which what is wanted in one go fits: all that are too small together, else as loose."""
        for limits in dict.fromkeys(level.limits for level in self.waiting.levels if level.limits):
            found: list[tuple[Parameter, int]] = []
            for each_of in limits:
                parameter = self.parameters.find(each_of.row, "share_limit", each_of.at)
                if parameter is not None:
                    wanted = self.wants * self.asked.unit[each_of.at]
                    found.append((parameter, each_of.held + each_of.coming + wanted))
            yield tuple(found)
            if len(found) == 1:
                yield from each(found[0][0], is_more=True)
            else:
                yield tuple((parameter, UNLIMITED) for parameter, _ in found)

    def larger_user_limit(self) -> Iterator[Settings]:
        """A user limit of the leaf that has room for what is wanted in one go."""
        if self.waiting.user is not None:
            yield from each(self.parameters.find(self.asked.leaf, "user_limit"), is_more=True)

    def _sides(self) -> dict[int, set[int]]:
        """The consumers on the way to the leaf that are compared with others, and with whom."""
        found: dict[int, set[int]] = {}
        for level in self.waiting.levels:
            for compared in level.comparisons:
                mine, theirs = compared.sides
                found.setdefault(mine, set()).add(theirs)
        return found

    def larger_ratios(self) -> Iterator[Settings]:
        """A larger share ratio of a consumer that is compared, or of one that takes no part."""
        ratio, above = self.inquiry.terms.ratio, self.inquiry.terms.above[self.asked.leaf]
        rows = dict.fromkeys([*self._sides(), *(row for row in above[:-1] if not ratio[row])])
        for more in _RATIOS:
            for row in rows:
                parameter = self.parameters.find(row, "share_ratio")
                if parameter is not None:
                    yield ((parameter, ratio[row] + more),)

    def better_classes(self) -> Iterator[Settings]:
        """A better share priority of a consumer that is compared."""
        for row in self._sides():
            yield from each(self.parameters.find(row, "share_priority"), is_more=True)
