"""Which hosts are up, and which are not, why and since when: as data, and in words (R-UP-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.model.hostnames import fold

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from fairhold.model.plan import Plan
    from fairhold.model.state import State

Document = dict[str, Any]
DOWN, CLOSED, SILENT, UNSEEN = "down", "closed", "silent", "unseen"
GONE, DRAINING, CONNECTING = "gone", "draining", "connecting"
STATES = (UNSEEN, CONNECTING, SILENT, GONE, DOWN, CLOSED, DRAINING)
"""Why a host is not up, in the order in which they are told; only lists of hosts tell `gone` and `draining` apart."""
MOST_NAMED = 8
"""How many names or ranges of one kind are told in words."""


def presence(names: Iterable[str], away: Mapping[str, tuple[str, str | None]]) -> Document:
    """How many hosts are up, and which are not.

    names : of all hosts
    away  : host that is not up → (why, instant since when or None)
    """
    found: dict[tuple[str, str | None], list[str]] = {}
    every = list(names)
    for name in every:
        if name in away:
            found.setdefault(away[name], []).append(name)
    kinds = sorted(found, key=lambda kind: (STATES.index(kind[0]), kind[1] or ""))
    rows = [{"state": state, "since": since, "hosts": found[state, since]} for state, since in kinds]
    return {"up": len(every) - sum(map(len, found.values())), "all": len(every), "not_up": rows}


def absent_by(plan: Plan, state: State, only: Collection[str] | None = None) -> Document:
    """As a part of a document: the resource groups that policies share of which some hosts are not up by a state.

    only : resource groups, None = all
    """
    if not state.hosts_down and not state.hosts_closed:
        return {}
    shared = {group for entry in plan.policies for group in entry.resource_groups}
    away: dict[str, tuple[str, str | None]] = dict.fromkeys(state.hosts_closed, (CLOSED, None))
    away |= dict.fromkeys(state.hosts_down, (DOWN, None))
    away |= dict.fromkeys(state.hosts_down & state.hosts_never_seen, (UNSEEN, None))
    groups = [each for each in plan.resource_groups.values() if each.name in shared]
    return not_up_in(
        {
            group.name: presence((host.name for host in group.hosts), away)
            for group in groups
            if only is None or group.name in only
        }
    )


def not_up_in(found: Mapping[str, Document]) -> Document:
    """As a part of a document: resource group → its hosts, where some are not up; nothing where all are."""
    absent = {name: told for name, told in found.items() if told["not_up"]}
    return {"hosts": absent} if absent else {}


def presence_in_words(told: Document | None, clock: Callable[[str], object] = str) -> str:
    """`8 of 40 hosts are up; g[09-40] were never seen`; empty where all are up.

    clock : an instant as people read it
    """
    if not told or not told["not_up"]:
        return ""
    are = "is" if told["up"] == 1 else "are"
    texts = [f"{told['up']} of {told['all']} hosts {are} up"]
    for row in told["not_up"]:
        is_one, state = len(row["hosts"]) == 1, row["state"]
        since = f" since {clock(row['since'])}" if row["since"] else ""
        if state == UNSEEN:
            texts.append(f"{hosts_in_words(row['hosts'])} {'was' if is_one else 'were'} never seen")
        else:
            texts.append(f"{hosts_in_words(row['hosts'])} {'is' if is_one else 'are'} {state}{since}")
    return "; ".join(texts)


def hosts_in_words(hosts: Iterable[str]) -> str:
    """Names folded into ranges; of very many the first."""
    told = fold(hosts)
    more = len(told) - MOST_NAMED
    return ", ".join(told[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
