"""Why a job finds no host though slots are idle: labels, or room for a whole task on one host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.ledger.sited import hosts_for
from fairhold.model.siting import PACK, siting_of
from fairhold.orchestrator.fitting import words_of

if TYPE_CHECKING:
    from fairhold.orchestrator.tasks import JobRecord
    from fairhold.runtime.live.views.prospect import Prospect


def site_in_words(look: Prospect, job: JobRecord) -> tuple[str, dict[str, object]] | None:
    """What the job waits for, and its facts; None where it is not its hosts that it waits for.

    Where nothing is idle at all it waits for that, whatever hosts it wants.
    """
    siting = siting_of(job.terms.siting)
    draft, hosts = look.result.draft, look.books.hosts
    if not any(siting) or not draft.idle:
        return None
    left = [slots - used for slots, used in zip(hosts.slots, hosts.used, strict=True)]
    for grant in look.result.decision.grants:
        left[grant.host] -= grant.units
    free = [left[host] for host in hosts_for(look.books, siting)]
    facts: dict[str, object] = {"need": [*siting.need], "avoid": [*siting.avoid], "place": siting.place or None}
    where = f" with {words_of(siting)}" if siting.need or siting.avoid else ""
    if job.units > 1 and siting.place == PACK:
        if max(free, default=0) < job.units:
            return f"it waits for a host{where} that has {job.units} idle slots at once", facts
    elif sum(free) < job.units and where:
        return f"it waits for a host{where}", facts
    return None
