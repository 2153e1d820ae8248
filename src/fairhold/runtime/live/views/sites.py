"""Why a job finds no host though its leaf may have more: labels, or room for a whole task on one host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.ledger.sited import hosts_for
from fairhold.model.siting import PACK, siting_of, words_of

if TYPE_CHECKING:
    from fairhold.orchestrator.tasks import JobRecord
    from fairhold.runtime.live.views.prospect import Prospect


def site_in_words(look: Prospect, job: JobRecord, request: int) -> tuple[str, dict[str, object]] | None:
    """What the job waits for, and its facts; None where it is not its hosts that it waits for.

    It is, where its hosts are full whatever anybody gives back: what it wants is no need then (R-SITE-2). Else it is
    only while its leaf may have more, and nothing is on its way to the leaf on these hosts: in a leaf that has its
    quota a free host would not help.

    request : its first one that waits
    """
    siting = siting_of(job.terms.siting)
    if not any(siting):
        return None
    hosts = hosts_for(look.books, siting)
    if not _never_counts(look, job, request):
        draft, leaf = look.result.draft, look.leaf_of(job)
        if draft.quota[leaf] - draft.held[leaf] < job.units or look.comes_to(leaf, hosts):
            return None
    free = [look.left[host] for host in hosts]
    facts: dict[str, object] = {"need": [*siting.need], "avoid": [*siting.avoid], "place": siting.place or None}
    where = f" {words_of(siting)}" if siting.need or siting.avoid else ""
    if job.units > 1 and siting.place == PACK:
        if max(free, default=0) < job.units:
            return f"it waits for a host{where} that has {job.units} idle slots at once", facts
    elif sum(free) < job.units and where:
        return f"it waits for a host{where}", facts
    return None


def _never_counts(look: Prospect, job: JobRecord, request: int) -> bool:
    """Whether the hosts that will do could take no further task of a job, were they given back by others."""
    requests = look.books.requests
    beyond = look.result.snapshot.unplaceable.get(look.leaf_of(job), {}).get(request, 0)
    return requests.count[request] - requests.held[request] - beyond < job.units
