"""When owners of hosts stay the same, wherever units are placed (R-ADJUST-1 to R-ADJUST-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairhold.rules.pools.adjusting import Level
    from fairhold.rules.pools.holdings import Target


def is_exact(level: Level) -> bool:
    """Whether every consumer owns exactly its target, and each of its hosts can only belong to one entry.

    Then adjusting gives the same owners again, wherever units are placed: no consumer has too much. One that releases
    hosts takes the same ones back first, as they were its own, and then has its target, so that it takes nothing that
    others release. Entries by host name are not checked.
    """
    if level.named or level.named_below:
        return False
    if any(len({key.entry.resource_group for key in keys}) < len(keys) for keys in level.entries.values()):
        return False
    return all(_has_just(level, key) for key in level.holds)


def _has_just(level: Level, key: Target) -> bool:
    holding, entry = level.holds[key], key.entry
    if key in level.target:
        return len(holding) == level.target[key] and all(level.space[host] == holding[host] for host in holding)
    if entry.per_host:
        nothing = (0,) * level.books.terms.dimensions
        hosts = level.hosts.get(entry.resource_group, ())
        return all(holding.get(host, nothing) == level.part_of(entry, host) for host in hosts)
    has_some = all(any(amounts[at] for at, _ in entry.total) for amounts in holding.values())
    return has_some and all(sum(each[at] for each in holding.values()) == most for at, most in entry.total)
