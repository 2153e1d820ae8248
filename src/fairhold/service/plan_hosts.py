"""What a new plan means for hosts as they are now: those that it drops, and those that nobody has seen yet."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fairhold.errors import Fault, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.model.plan import Plan
    from fairhold.sim.effect import Standing

_PLACE = ("resource_groups",)
_NAMED = 4


def hosts_told(standing: Standing, plan: Plan) -> Iterator[Fault]:
    """Warnings of hosts that only one of the two plans has: tasks run there, or no agent of it has connected."""
    before, after = _hosts_of(standing.plan), _hosts_of(plan)
    on: Counter[str] = Counter()
    for _, _, _, _, _, places, _ in standing.document["attempts"]:
        on.update({host for host, _ in places if host in before and host not in after})
    for host, tasks in sorted(on.items()):
        run = "1 task runs" if tasks == 1 else f"{tasks} tasks run"
        what = f"{run} on the host `{printable(host)}`, which this plan does not have: nothing new starts there"
        if host == standing.own:
            what += "; it is the service's own, and a start with --host needs a plan with it once nothing runs there"
        yield Fault("host-in-use", what, f"to empty it before: fairhold hosts drain {printable(host)}", _PLACE)
    seen = {name for name, *_ in standing.document["machines"]}
    new = [host for host in after if host not in before and host not in seen and host != standing.own]
    if new:
        named = ", ".join(f"`{printable(host)}`" for host in new[:_NAMED])
        others = f" and {len(new) - _NAMED} more" if len(new) > _NAMED else ""
        what = f"no agent of {named}{others} has connected: nothing starts there until then, and the numbers here "
        what += "count it as up"
        yield Fault("host-not-seen", what, "start their agents: fairhold agent", _PLACE)


def _hosts_of(plan: Plan) -> dict[str, None]:
    """The names of all hosts, in inventory order."""
    return dict.fromkeys(host.name for group in plan.resource_groups.values() for host in group.hosts)
