"""What a plan states under `fair_share`: deserved, limit, weight, priority; division and history (SPEC §7)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.model.budget import PERIODS
from fairhold.model.queue import WEEK, QueueSettings, UsageWindow
from fairhold.model.vector import amount_text
from fairhold.planio.report import kind, listed, shown
from fairhold.planio.resources import exact_number, read_amount, stated_members
from fairhold.policies.fair_share.policy import NO_HISTORY
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairhold.errors import Place
    from fairhold.model.plan import Plan
    from fairhold.model.queue import FairShareSettings
    from fairhold.planio.report import Report
    from fairhold.planio.resources import Known
    from fairhold.planio.values import Value

WINDOW_KEYS = ("tumbling", "start")
"""Of a window that begins anew after a length."""
FINEST_WEIGHT = 10**9
MOST_OF_A_NUMBER = 10**6


def read_bounds(report: Report, value: Value, place: Place, resources: Known, word: str) -> tuple[tuple[int, int], ...]:
    """Read (place of the resource, base units) of those that are stated; a word for as much as there is.

    An empty value means no limit. For `deserved` it does not mean all that there is: there it is a mistake.
    """
    is_bound = word == "unlimited"
    if value == word or (value is None and not is_bound):
        return tuple((at, UNLIMITED) for at in range(len(resources.resources)))
    found = []
    for at, stated, here in stated_members(report, value, place, resources, f"amounts by resource, or `{word}`"):
        number = exact_number(stated)
        if stated == word or (stated is None and not is_bound):
            found.append((at, UNLIMITED))
        elif isinstance(stated, str) and stated in {"none", "unlimited"}:
            what = f"`{shown(stated)}` is a word for another setting"
            report.fault("unknown-word", what, f"write `{word}` here, or an amount", here)
        elif number is not None and number < 0:  # KAI writes -1 for as much as there is
            mend = f"write 0 or more, or `{word}` for no bound"
            report.fault("negative", f"{shown(stated)} is below 0", mend, here)
        else:
            found.append((at, read_amount(report, stated, here, resources.resources[at])))
    return tuple(sorted(found))


def read_weights(report: Report, value: Value, place: Place, resources: Known) -> tuple[tuple[int, Fraction], ...]:
    """Read (place of the resource, weight) of those that are stated; one number is for all."""
    if not isinstance(value, dict):
        weight = read_number(report, value, place)
        return tuple((at, weight) for at in range(len(resources.resources)))
    what = "weights by resource, or one number"
    members = stated_members(report, value, place, resources, what)
    return tuple(sorted((at, read_number(report, stated, here)) for at, stated, here in members))


def read_number(report: Report, value: Value, place: Place, *, least: int = 0) -> Fraction:
    """Read a number from `least` on, exactly; else a fault and 1."""
    number = exact_number(value)
    if number is None:
        report.fault("not-a-number", f"expected a number, found {kind(value)}", "write a number such as 1.5", place)
    elif number < least:
        code = "negative" if number < 0 <= least else "out-of-range"
        report.fault(code, f"{shown(value)} is below {least}", f"write {least} or more", place)
    elif number > MOST_OF_A_NUMBER or number.denominator > FINEST_WEIGHT:
        what = f"{shown(value)} is above {MOST_OF_A_NUMBER} or has more than nine decimals"
        report.fault("out-of-range", what, "write a smaller or a rounder number", place)
    else:
        return number
    return Fraction(1)


def check_limits(
    report: Report, switches: FairShareSettings, stated: Iterable[tuple[Place, QueueSettings]], resources: Known
) -> None:
    """Refuse what is deserved and can never be had; as KAI divides the limit holds, and it is a warning (R-QUEUE-5).

    stated : of each queue, its place and what the entry says of it
    """
    is_legal = switches.division == "kai"
    for place, queue in stated:
        limit = dict(queue.limit)
        for at, deserved in queue.deserved:
            if limit.get(at, UNLIMITED) < deserved < UNLIMITED:
                name = shown(resources.resources[at].name)
                what = f"`deserved` of `{name}` is above `limit`"
                mend, here = "raise `limit`, or lower `deserved`", (*place, "limit", name)
                if is_legal:
                    report.warn("limit-below-deserved", f"{what}: the queue never gets more than its limit", mend, here)
                else:
                    report.fault("deserved-above-limit", what, mend, here)


def read_usage_window(report: Report, value: Value, place: Place) -> UsageWindow:
    """Read which history counts: a time up to now, `day`, `week` or `month`, or `{tumbling: 7d, start: …}`."""
    if isinstance(value, str) and value in PERIODS:
        return UsageWindow(kind="calendar", period=value)
    if isinstance(value, str) and value.isalpha():
        what = f"`{shown(value)}` is not a calendar window"
        mend = report.suggest(value, PERIODS, f"write {listed(PERIODS)}, or a time such as `7d`")
        report.fault("unknown-word", what, mend, place)
        return UsageWindow()
    if not isinstance(value, dict):
        return UsageWindow(length=read_span(report, value, place))
    report.keys(value, WINDOW_KEYS, place, {})
    report.missing(value, WINDOW_KEYS[:1], place, "a window")
    length = read_span(report, value["tumbling"], (*place, "tumbling")) if "tumbling" in value else WEEK
    start = report.instant(value["start"], (*place, "start")) if "start" in value else 0
    return UsageWindow("tumbling", length, start)


def read_span(report: Report, value: Value, place: Place, zero: tuple[str, str] = NO_HISTORY) -> int:
    """Read a time above 0; `zero` says why."""
    micros = report.duration(value, place)
    if value == 0 or (isinstance(value, str) and value[:1] == "0" and not micros):
        report.fault("out-of-range", *zero, place)
    return micros or WEEK


def read_usage(report: Report, value: Value, place: Place, resources: Known) -> tuple[Fraction, ...]:
    """Read the decayed usage of a consumer: part of the cluster's capacity by resource."""
    found = [
        (at, read_number(report, stated, here))
        for at, stated, here in stated_members(report, value, place, resources, "parts of the capacity by resource")
    ]
    known = dict(found)
    return tuple(known.get(at, Fraction(0)) for at in range(len(resources.resources)))


def check_queues(report: Report, plan: Plan, at: int) -> None:
    """Warn of siblings that deserve more together than there is, or of whom two deserve all (R-QUEUE-2)."""
    entry, tree = plan.policies[at], plan.tree
    groups = [plan.resource_groups[name] for name in entry.resource_groups]
    totals = [*(host.amounts for group in groups for host in group.hosts), *(group.capacity for group in groups)]
    _warn_of_left_out(report, plan, at, [any(of[place] for of in totals if of) for place in range(len(plan.resources))])
    nobody = QueueSettings()
    for parent in range(len(tree)):
        rows = [row for row in tree.children[parent] if row in entry.consumers]
        queues = {row: dict(entry.consumers[row].queue.deserved) for row in rows}
        above = dict(entry.consumers[parent].queue.deserved if parent in entry.consumers else nobody.deserved)
        for place, resource in enumerate(plan.resources):
            deserved = {row: amounts[place] for row, amounts in queues.items() if amounts.get(place)}
            every = [row for row, units in deserved.items() if units >= UNLIMITED]
            where = ("policies", at, "consumers")
            if len(every) > 1:
                what = f"`{shown(tree.paths[every[0]])}` and this both deserve all of `{shown(resource.name)}`"
                mend = "give one of them an amount; otherwise the first one gets it"
                report.warn("unlimited-twice", what, mend, (*where, tree.paths[every[1]], "deserved"))
            have = sum(int(amounts[place] * resource.overcommit) for amounts in totals if amounts)
            if any(group.has_unknown_hosts for group in groups):
                have = UNLIMITED
            most = _most(plan, at, parent, place, have)
            total = sum(units for units in deserved.values() if units < UNLIMITED)
            if total > (0 if len(every) == 1 else most):
                what = f"children deserve {amount_text(resource, total)} of `{shown(resource.name)}` in total, and "
                if total <= most:
                    what += f"`{shown(tree.paths[every[0]])}` all of it beside them"
                elif parent and above.get(place, 0) < UNLIMITED:
                    what += f"`{shown(tree.paths[parent])}` deserves {amount_text(resource, most)}"
                elif parent:
                    what += f"`{shown(tree.paths[parent])}`, deserving all, has at most {amount_text(resource, most)}"
                else:
                    what += f"there are {amount_text(resource, most)}"
                mend = (
                    "lower them; otherwise every `deserved` stays in force, and the serving order decides who gets it"
                )
                last = tree.paths[max(row for row in deserved if row not in every)]
                report.warn("oversubscribed", what, mend, (*where, last, "deserved", resource.name))


def _warn_of_left_out(report: Report, plan: Plan, at: int, is_there: Sequence[bool]) -> None:
    """Warn of queues that deserve some resource and say nothing of another that hosts have (R-QUEUE-2)."""
    found: dict[tuple[int, ...], list[int]] = {}
    for row, settings in plan.policies[at].consumers.items():
        stated = dict(settings.queue.deserved)
        if any(stated.values()):
            left_out = tuple(place for place, is_one in enumerate(is_there) if is_one and place not in stated)
            found.setdefault(left_out, []).append(row)
    for left_out, (first, *others) in found.items():
        if left_out:
            names = listed(plan.resources[place].name for place in left_out)
            more = f", here and in {len(others)} more" if others else ""
            what = (
                f"`deserved` leaves out {names}{more}, which counts as 0: jobs that use it can be "
                "preempted, and non-preemptible ones cannot start"
            )
            mend = "write an amount for each resource that its jobs need; 0 for none"
            place = ("policies", at, "consumers", plan.tree.paths[first], "deserved")
            report.warn("deserved-left-out", what, mend, place)


def _most(plan: Plan, at: int, row: int, place: int, have: int) -> int:
    """What a queue deserves of a resource at most; who deserves all has its limit, or what the queue above it has."""
    most = UNLIMITED
    while row:
        queue = plan.policies[at].consumers[row].queue if row in plan.policies[at].consumers else QueueSettings()
        deserved = dict(queue.deserved).get(place, 0)
        if deserved < UNLIMITED:
            return min(most, deserved)
        most, row = min(most, dict(queue.limit).get(place, UNLIMITED)), plan.tree.parent[row]
    return min(most, have)
