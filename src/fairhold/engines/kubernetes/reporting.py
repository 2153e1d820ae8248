"""What the service is told of gangs, and of what nodes hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.engines.kubernetes.gangs import in_words
from fairhold.orchestrator.events import Held, MachineGone, MachineReported, TaskCancelled
from fairhold.ports.governor import AWAITED, GangChanged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.engines.kubernetes.fleet import Fleet
    from fairhold.engines.kubernetes.gangs import Gangs, Key
    from fairhold.engines.kubernetes.works import Works
    from fairhold.ports.governor import Report


def look_at_gang(gangs: Gangs, works: Works, key: Key) -> Iterator[Report]:
    """How many pods of a gang start together, whether so many are there, and which tasks it goes on without."""
    job = gangs.job_of.get(key, "")
    members = works.members(job) if job else []
    if not members:
        return
    found = gangs.least(key, [work.pod for work in members])
    least = works.least[job] = found or works.least[job]
    awaited, lacks = works.vacancies.held(job), ""
    goes_on = any(work.attempt and not work.stopping for work in members)
    if not found and not goes_on:
        lacks = f"its {in_words(key)} is not there any more"
    elif len(members) >= least:
        for seat in awaited:
            works.vacancies.leave(seat)
            yield TaskCancelled(*seat)
    elif awaited:
        lacks = AWAITED
    elif not goes_on:
        lacks = f"{len(members)} of the {least} pods of its {in_words(key)} are there"
    yield GangChanged(job, least, lacks)


def look_at_machines(fleet: Fleet, works: Works, spool: str, *, is_fresh: bool) -> Iterator[Report]:
    """What has happened to nodes, and to what they hold; spool, is_fresh: see `Governor` and `Fleet.events`."""
    happened = list(fleet.events(is_fresh=is_fresh))
    held = _held_by_node(works) if any(isinstance(each, str) for each in happened) else {}
    for said in happened:
        if isinstance(said, str):
            yield MachineReported(said, fleet.nodes[said].boot, 0, tuple(held.get(said, ())), spool, fleet.labels(said))
            continue
        if isinstance(said, MachineGone):
            works.lose_host(said.machine)
            yield from works.take_news()
        yield said
    fleet.forget_gone(lambda: {work.host for work in works.of.values() if work.attempt})


def _held_by_node(works: Works) -> dict[str, list[Held]]:
    """What nodes hold: all that was let go to one, or is about to be, and whose end is not recorded."""
    found: dict[str, list[Held]] = {}
    for work in works.of.values():
        if work.attempt and not work.is_recorded:
            held = Held(work.attempt, work.pod.is_running and not work.is_told, work.end)
            found.setdefault(work.host, []).append(held)
    return found
