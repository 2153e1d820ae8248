"""When ownership of hosts was adjusted last, and to what (SPEC §6.7, R-ADJUST-5)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from fairhold.model.vector import own_document

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from fairhold.model.plan import Plan, PolicyEntry


@dataclass(frozen=True, slots=True)
class Adjusted:
    """The last adjustment of a resource group.

    at : instant
    of : what was to be owned of what, as `print_of` names it
    """

    at: int
    of: str


def print_of(plan: Plan, entry: PolicyEntry, groups: Sequence[str], down: Collection[str]) -> str:
    """A short name of what is to be owned of what: another one, and plan, group or hosts have changed.

    groups : that the entry shares now
    down   : hosts that are down
    """
    tree = plan.tree
    said = [
        [[each.name, each.base, str(each.step)] for each in plan.resources],
        [[path, plan.default_rank if rank is None else rank] for path, rank in zip(tree.paths, tree.rank, strict=True)],
        [
            [tree.paths[row], settings.rank, [own_document(plan.resources, each) for each in settings.own]]
            for row, settings in sorted(entry.consumers.items())
            if settings.own or settings.rank is not None
        ],
        [
            [name, [[host.name, *host.amounts] for host in plan.resource_groups[name].hosts if host.name not in down]]
            for name in groups
        ],
    ]
    return sha256(json.dumps(said).encode()).hexdigest()[:16]
