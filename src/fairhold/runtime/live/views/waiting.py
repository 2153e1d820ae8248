"""Why a job waits: one code of a short list, and a sentence that is true in the state at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.errors import count
from fairhold.ledger.tables import NO_USER
from fairhold.ledger.vectors import POOLED
from fairhold.model.presence import presence_in_words
from fairhold.runtime.live.views.pools import kept_presence, why_waiting
from fairhold.runtime.live.views.prospect import prospect
from fairhold.runtime.live.views.restraint import restrained
from fairhold.runtime.live.views.sites import site_in_words
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.orchestrator.tasks import JobRecord
    from fairhold.runtime.live.core import Core
    from fairhold.runtime.live.views.prospect import Prospect

Document = dict[str, Any]
OF_WHAT_THERE_IS = frozenset({"no_host", "site", "behind", "gang", "quota", "reclaiming", "pool"})
"""Reasons that more hosts could change."""
WOULD_START = "it would start now; whether it does is decided by others"
MOST_NAMES = 3
"""How many others a sentence names."""


class Reason(NamedTuple):
    """Why a job waits.

    code  : held, dependency, backoff, throttle, paused, soon, no_host, site, budget, user_limit, behind, limit,
            reclaiming, control, gang, quota or pool; never_ready, of a job that is over
    facts : the numbers that the sentence is made of
    """

    code: str
    text: str
    facts: dict[str, Any]


def reason_of(core: Core, job: JobRecord) -> Reason | None:
    """Why tasks of a job wait; None where none does."""
    if job.is_cancelled or not (job.waiting or job.delays):
        return None
    found = reason_without_cycle(core, job)
    if found is not None:
        return found
    if job.resource_group == POOLED:
        found = _beside(Reason(*why_waiting(core, job)), kept_presence(core))
    else:
        look = prospect(core, job.resource_group)
        found = _beside(_in_leaf(look, job), look.presence)
    return found._replace(text=WOULD_START) if core.observes and found.code == "soon" else found


def _beside(reason: Reason, hosts: Document | None) -> Reason:
    """A reason for which it matters what there is, with the hosts that are not up."""
    told = presence_in_words(hosts) if reason.code in OF_WHAT_THERE_IS else ""
    return reason._replace(text=f"{reason.text}; {told}", facts=reason.facts | {"hosts": hosts}) if told else reason


def reason_without_cycle(core: Core, job: JobRecord) -> Reason | None:
    """Why tasks of a job that has some wait, where no cycle has to be tried for it; None where one has to."""
    if job.startable:
        return _paused(core, job)
    if job.hold is not None:
        said = f": {job.hold}" if job.hold else ""
        return Reason("held", f"it is held{said}; `fairhold release {job.name}` lets it continue", {"hold": job.hold})
    if job.needs:
        return _dependency(core, job)
    if job.waiting:
        text = f"it runs {count(job.running, 'task')} at once, as many as its throttle allows"
        return Reason("throttle", text, {"throttle": job.terms.throttle})
    assert job.delays
    at = min(job.delays.values())
    text = f"{count(len(job.delays), 'task')} failed and will be tried again, the first at {format_instant(at)}"
    return Reason("backoff", text, {"at": at, "tasks": len(job.delays)})


def why_never_ready(summary: Mapping[str, Any]) -> Reason | None:
    """Why a job that is over could never start, by what is kept of it; None where that is not why it ended."""
    found = summary.get("never_ready")
    if found is None:
        return None
    ended, wish = {
        "done": ("is done", "failure"),
        "failed": ("failed", "success"),
    }.get(found["state"], ("was cancelled", "success"))
    return Reason("never_ready", f"job {found['job']} {ended}, and it waited for its {wish}", found)


def _paused(core: Core, job: JobRecord) -> Reason | None:
    if core.cluster.paused.get(job.resource_group, (False, False))[0]:
        text = f"grants are paused in {job.resource_group}; `fairhold resume` lets them continue"
        return Reason("paused", text, {"resource_group": job.resource_group})
    if core.orchestrator.is_closing:
        return Reason("paused", "the service is stopping and starts nothing more", {"resource_group": ""})
    return None


def _dependency(core: Core, job: JobRecord) -> Reason:
    needed = [name for name, _ in job.terms.after if name in core.cluster.jobs and not core.cluster.jobs[name].is_over]
    needed = list(dict.fromkeys(needed))
    text = f"it waits for {'job' if len(needed) == 1 else 'jobs'} {_names(needed)}"
    return Reason("dependency", text, {"jobs": needed})


def _in_leaf(look: Prospect, job: JobRecord) -> Reason:
    """Why a job that may start does not."""
    request = _first_request(job)
    if request is None:  # more gangs wait than there is room for, and those before it stand in the books
        return Reason("gang", "other gangs of this job come first", {"needs": job.units})
    soon = sum(look.granted.get(row, 0) for row in _requests(job)) // job.units
    if soon:
        return Reason("soon", f"the next cycle starts {count(soon, 'task')} of it", {"tasks": soon})
    if not look.has_host:
        text = f"no host of {look.group} may start anything now; `fairhold hosts` shows why"
        return Reason("no_host", text, {"resource_group": look.group})
    bound = _budget(look, job) or _user_limit(look, job) or _site(look, job, request)
    if bound is not None:
        return bound
    before = look.line(look.leaf_of(job)).before(request)
    cause = _leaf_waits(look, job)
    if before:
        text = f"{count(before, 'task')} of its leaf {'is' if before == 1 else 'are'} served before it; {cause.text}"
        return Reason("behind", text, {"before": before, "cause": cause.code} | cause.facts)
    return cause


def _budget(look: Prospect, job: JobRecord) -> Reason | None:
    """The budget on the way up that is used up and lets nothing start (R-BUDGET-2)."""
    rows, spending, row = look.books.rows, look.books.spending, look.leaf_of(job)
    if spending is None or not rows.controls.waits[row]:
        return None
    budgets = rows.controls.budgets
    while row not in rows.spent or row not in budgets or budgets[row].then != "wait":
        row = rows.tree.parent[row]
    path, budget = rows.path(row), budgets[row]
    ends = spending.period(budget.period, look.result.snapshot.now)[1]
    text = f"{path} has used its {budget.unit_hours} unit-hours of this {budget.period}; it goes on at "
    text += format_instant(ends)
    return Reason("budget", text, {"consumer": path, "unit_hours": budget.unit_hours, "ends": ends})


def _user_limit(look: Prospect, job: JobRecord) -> Reason | None:
    """The user of a job holds as much of its leaf as one may, or nearly (R-USER-1)."""
    books, user, leaf = look.books, job.terms.user, look.leaf_of(job)
    most, path = books.rows.controls.user_limit[leaf], job.consumer
    held = books.requests.used_by.get((leaf, books.requests.user_of.get(user, NO_USER)), 0)
    if not user or held + job.units <= most:
        return None
    text = f"{user} holds {count(held, 'slot')} in {path}, and one user may hold {most}"
    return Reason("user_limit", text, {"consumer": path, "user": user, "user_limit": most, "held": held})


def _site(look: Prospect, job: JobRecord, request: int) -> Reason | None:
    """No slot is where the job may stand, and none comes there (R-SITE-1 to R-SITE-4)."""
    found = site_in_words(look, job, request)
    return None if found is None else Reason("site", *found)


def _leaf_waits(look: Prospect, job: JobRecord) -> Reason:
    """Why the leaf of a job gets no unit, or not enough of them for it, from the next cycle."""
    leaf, (units, what) = look.leaf_of(job), _at_once(job)
    slots, idle = look.result.snapshot.slots, look.result.draft.idle
    if units > 1 and units > slots:
        text = f"{what}, and {look.group} has {slots} now"
        return Reason("gang", text, {"needs": units, "slots": slots})
    found = _held_for(look, job) or _limit(look, job) or _reclaiming(look, leaf) or _control(look, leaf)
    if found is not None:
        return found
    room = max(0, look.result.draft.quota[leaf] - look.result.draft.held[leaf])
    if units > 1 and (0 < idle < units or 0 < room < units):
        text = f"{what}; {_slots(idle)} idle, and its leaf can have {room} more"
        return Reason("gang", text, {"needs": units, "idle": idle, "room": room})
    return _quota(look, job)


def _held_for(look: Prospect, job: JobRecord) -> Reason | None:
    """Units are held for a task of the job (R-HOLD-1), or its tasks are larger than their leaf's quota (R-GANG-1)."""
    if job.gangs is None and not job.terms.min_count:
        return None
    draft, snapshot, (units, what) = look.result.draft, look.result.snapshot, _at_once(job)
    gangs = {row for row in _requests(job) if snapshot.books.requests.minimum[row]}
    for hold in draft.holds:
        if hold.gang in gangs:
            by = "" if hold.until is None else f", and it can start by {format_instant(hold.until)}"
            text = f"it has waited long: {hold.units} of the {units} slots that it needs at once are held for it{by}"
            return Reason("gang", text, {"needs": units, "held": hold.units, "by": hold.until})
    leaf = look.leaf_of(job)
    counts = snapshot.most[leaf] if snapshot.rows.is_fixed else snapshot.usable[leaf]
    quota, held = draft.quota[leaf], draft.held[leaf]
    if gangs and quota - held < units and counts < snapshot.counted[leaf]:
        beside = f" in addition to the {held} that it holds" if held else ""
        text = f"{what}, more than {job.consumer} could have now{beside}: "
        facts = {"needs": units, "quota": quota, "room": max(0, quota - held)}
        return Reason("gang", f"{text}it is not counted as demand", facts)
    return None


def _reclaiming(look: Prospect, leaf: int) -> Reason | None:
    """Units that come back to a leaf, or would, were reclaims not paused."""
    coming = look.coming_to(leaf)
    if coming:
        count, by = sum(each.units for each in coming), coming[-1].deadline
        text = f"{_slots(count)} on the way to its leaf, by {format_instant(by)}"
        return Reason("reclaiming", text, {"units": count, "deadline": by, "given": True})
    count, by = look.asked_for(leaf)
    if count and look.reclaims_are_paused:
        text = f"{_slots(count)} to be reclaimed for its leaf, but reclaims are paused in {look.group}; "
        text += "`fairhold resume` lets them continue"
        return Reason("paused", text, {"resource_group": look.group, "units": count})
    if count:
        text = (
            f"the next cycle asks for {count} {'slot' if count == 1 else 'slots'} for its leaf, by {format_instant(by)}"
        )
        return Reason("reclaiming", text, {"units": count, "deadline": by, "given": False})
    return None


def _control(look: Prospect, leaf: int) -> Reason | None:
    """A control of the plan that keeps units from a leaf for now."""
    control = restrained(look, leaf)
    return None if control is None else Reason("control", *control)


def _limit(look: Prospect, job: JobRecord) -> Reason | None:
    """The lowest consumer on the way up whose limit a task of the job would break."""
    rows, held = look.books.rows, look.result.draft.held
    row = look.leaf_of(job)
    while row > 0:
        limit = rows.plan.limit[row]
        if held[row] + job.units > limit:
            path = rows.path(row)
            text = f"{path} holds {_count(look, row)} of its limit of {limit}"
            return Reason("limit", text, {"consumer": path, "limit": limit, "held": held[row]})
        row = rows.tree.parent[row]
    return None


def _quota(look: Prospect, job: JobRecord) -> Reason:
    books, draft, leaf, path = look.books, look.result.draft, look.leaf_of(job), job.consumer
    quota, held = draft.quota[leaf], draft.held[leaf]
    others = [books.rows.path(row) for row in look.holders(leaf, MOST_NAMES)]
    if held >= quota:
        text = f"{path} holds {_count(look, leaf)}, its quota is {quota}"
    else:
        text = f"{path} holds {_count(look, leaf)} of its quota of {quota}, and "
        text += f"{_slots(draft.idle)} kept for reserves" if draft.idle else "no slot can be reclaimed"
    if others:
        text += f"; the others are with {_names(others, look.holding - (books.held[leaf] > 0))}"
    return Reason("quota", text, {"consumer": path, "quota": quota, "held": held, "holders": others})


def _count(look: Prospect, row: int) -> str:
    """What a consumer holds, and what it will hold where the next cycle grants it more."""
    now, soon = look.result.snapshot.held[row], look.result.draft.held[row]
    return str(now) if now == soon else f"{now} ({soon} with the next cycle)"


def _at_once(job: JobRecord) -> tuple[int, str]:
    """Slots that something of a job needs at once, and for what."""
    if job.terms.min_count and (missing := job.least - job.running) > 1:
        return missing, f"{missing} of its tasks start together"
    return job.units, f"each of its tasks needs {job.units} slots at once"


def _first_request(job: JobRecord) -> int | None:
    if job.gangs is None:
        return job.request
    return job.gangs[0][1] if job.gangs else None


def _requests(job: JobRecord) -> list[int]:
    return [job.request] if job.gangs is None else [row for _, row in job.gangs]


def place_of(core: Core, job: JobRecord) -> int | None:
    """Tasks of its leaf that are served before the first of a job that waits; None where it does not stand in line."""
    request = None if job.is_cancelled or not job.startable else _first_request(job)
    if request is None or job.resource_group == POOLED:
        return None
    look = prospect(core, job.resource_group)
    return look.line(look.leaf_of(job)).before(request)


def _slots(count: int) -> str:
    return "1 slot is" if count == 1 else f"{count} slots are"


def _names(names: list[str], count: int | None = None) -> str:
    """The first of so many."""
    more = (len(names) if count is None else count) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
