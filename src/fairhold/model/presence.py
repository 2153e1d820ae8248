"""Which hosts are up, and which are not, why and since when: as data, and in words (R-UP-1)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from fairhold.model.plan import Plan
    from fairhold.model.state import State

Document = dict[str, Any]
DOWN, CLOSED, SILENT, UNSEEN = "down", "closed", "silent", "unseen"
STATES = (UNSEEN, SILENT, DOWN, CLOSED)
"""Why a host is not up, in the order in which they are told."""
MOST_NAMED = 8
"""How many names or ranges of one kind are told in words."""
_NUMBERED = re.compile(r"(.*?)([0-9]+)([^0-9]*)", re.DOTALL)


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
    """`8 of 40 hosts are up; g09-g40 were never seen`; empty where all are up.

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
            texts.append(f"{folded(row['hosts'])} {'was' if is_one else 'were'} never seen")
        else:
            texts.append(f"{folded(row['hosts'])} {'is' if is_one else 'are'} {state}{since}")
    return "; ".join(texts)


def folded(names: Iterable[str]) -> str:
    """Names with those that count on from one another as one range: `g09-g40, h3`; of very many the first."""
    parts: list[tuple[str, str]] = []
    counts_on: tuple[str, int, str, int] | None = None
    for name in names:
        match = _NUMBERED.fullmatch(name)
        if match is None:
            parts.append((name, name))
            counts_on = None
            continue
        before, number, after = match.groups()
        here = (before, int(number), after, len(number))
        if counts_on is not None and here == counts_on:
            parts[-1] = (parts[-1][0], name)
        else:
            parts.append((name, name))
        following = str(here[1] + 1)
        counts_on = (before, int(following), after, max(len(number), len(following)))
    told = [first if first == last else f"{first}-{last}" for first, last in parts]
    more = len(told) - MOST_NAMED
    return ", ".join(told[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
