"""The words for one request: where its units stand, what comes, why it waits and what would help."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from fairhold.cli.pools import percent
from fairhold.cycle.explain.parameter import DENSE
from fairhold.cycle.explain.pooled.whatif import GROUPS
from fairhold.runtime.explaining_pools import WHY, counted, listed, where, why

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairhold.cli.pools import Document

OF_HOST = {
    "hosts_down": "up instead of down",
    "hosts_never_seen": "up, which was never seen",
    "hosts_closed": "open instead of closed",
}
"""List of the state that names a host → what it is when the list does not name it any more."""
_NAMED = 6
"""Consumers of whom the same is said that are named; the others are counted."""


def request_text(request: Document) -> str:
    """One request."""
    gang = at_least(request)
    waits = f", {request['waiting']} {'waits' if request['waiting'] == 1 else 'wait'}" if request["waiting"] else ""
    coming = f", {request['on_the_way']} of them on the way" if request["on_the_way"] else ""
    head = (
        f"{request['title']} of {request['consumer']}: {counted(request['count'])}{gang} of "
        f"{listed(request['unit'])}; holds {request['held']}{waits}{coming}."
    )
    lines = [head, *map(_stands, _told_once(request["stands"]))]
    if request["on_hosts_down"]:
        lines.append(f"  {request['on_hosts_down']} on hosts that are down or not in the plan, in no pool")
    lines += [line for coming in request["coming"] for line in _coming(coming)]
    lines += [f"  {each['units']} kept for it on {each['host']} [R-HELD-1]" for each in request["kept"]]
    if request["waits"] and request["waits"]["reason"] != "on the way":
        lines += _waits(request)
    return "\n".join(lines)


def at_least(request: Document) -> str:
    """The minimum of a gang, or of each of several that are told together."""
    each = "each " if "together" in request else ""
    return f" ({each}at least {request['min_count']})" if request["min_count"] else ""


def called(told: Any, word: str) -> Any:  # noqa: ANN401 - any part of a document
    """A document with each request called `request 1`; of the live service, where requests are jobs, `job 1`."""
    if isinstance(told, list):
        return [called(each, word) for each in told]
    if not isinstance(told, dict):
        return told
    found = {name: called(value, word) for name, value in told.items()}
    found |= {name: f"{word} {told[name]}" for name in ("request", "for") if isinstance(told.get(name), str)}
    return found | {"title": f"{word.capitalize()} {told['request']}"} if "request" in found else found


def pool_name(pool: str) -> str:
    """A level in words."""
    if pool == "own":
        return "what it owns"
    return "the public pool" if pool == "/" else f"the private pool of {pool}"


def _told_once(rows: Sequence[Document]) -> Iterator[Document]:
    """Where units stand; rows that differ only in what parcels they have of the host are told as one."""
    found: dict[str, Document] = {}
    for row in rows:
        told = {name: each for name, each in row.items() if name not in {"units", "parcels", "lenders"}}
        key = f"{told} {sorted(row['lenders'])}"
        if key in found:
            units, lenders = found[key]["units"] + row["units"], found[key]["lenders"]
            summed = {path: lenders[path] + more for path, more in row["lenders"].items()}
            found[key] |= {"units": units, "lenders": summed}
        else:
            found[key] = dict(row)
    yield from found.values()


def _stands(row: Document) -> str:
    """Units that stand alike."""
    where = "on its own" if row["pool"] == "own" else f"in {pool_name(row['pool'])}"
    lenders = ", ".join(f"{units} on what {path} owns" for path, units in row["lenders"].items())
    grace, new = row["grace"], ", new" if row["is_new"] else ""
    whose = f"the {grace['setting']}" + (f" of {grace['consumer']}" if grace["consumer"] else "")
    notice = row["notice"]
    told = ""
    if notice:
        goes = f"for {notice['for']} of {notice['consumer']}" if notice["for"] else "for nobody"
        told = f"; under notice until {notice['deadline']}, {goes} [{notice['rule']}]"
    elif row["pool"] != "own":
        told = f"; gives it back within {grace['within']}, {whose} [{grace['rule']}]"
    return f"  {row['units']} on {row['host']} {where}{f' ({lenders})' if lenders else ''}{new}{told}"


def _coming(coming: Document) -> Iterator[str]:
    where = "of its own" if coming["pool"] == "own" else f"in {pool_name(coming['pool'])}"
    yield f"  {coming['units']} on the way to {coming['host']}, {where} [{coming['rule']}]"
    for each in coming["from"]:
        yield f"    when {each['units']} of {each['request']} ({each['consumer']}) have gone, by {each['deadline']}"


def _waits(request: Document) -> Iterator[str]:
    waits = request["waits"]
    left = request["waiting"] - request["on_the_way"]
    if "never" in waits or not waits["levels"]:
        beyond = " beyond that" if left < request["count"] else ""
        yield f"  {counted(left)}{beyond}: {why(waits)}"
    else:
        yield f"  {counted(left)} {'waits' if left == 1 else 'wait'}, level by level:"
    for level in waits["levels"]:
        yield from _level(level)
    yield from what_would_help(request)


def _level(level: Document) -> Iterator[str]:
    preference = f" with preference {level['preference']}" if "preference" in level else ""
    yield (
        f"    {pool_name(level['pool'])}{preference}: {WHY[level['reason']]}{_detail(level)}"
        f"{where(level)} [{level['rule']}]"
    )
    for each in level.get("passed_over", ()):
        owner, bound = each["owner"] or "nobody", each["bound"]
        whose = f" of {bound['consumer']}" if bound["consumer"] else ""
        yield f"      skipped: what {owner} owns, as the {bound['setting']}{whose} is {bound['within']} [R-LEND-6]"
    yield from _comparisons(level.get("comparisons", ()))


def _detail(level: Document) -> str:
    """The numbers of a share limit or a gang."""
    if limit := level.get("limit"):
        return f": {' and '.join(map(_used, (limit, *level.get('further_limits', ()))))}"
    if (gang := level.get("gang")) and level["reason"] == "gang":
        return f": {gang['units']} wanted, room for {gang['room_for']}"
    return ""


def _used(limit: Document) -> str:
    """What a consumer has of its share limit, and what is on the way to it beside that."""
    coming = f" with {limit['on_the_way']} more on the way" if limit["on_the_way"] else ""
    return f"{limit['consumer']} has {limit['used']} of {limit['limit']} {limit['resource']}{coming}"


def _comparisons(rows: Sequence[Document]) -> Iterator[str]:
    """Those who have units: whether they can give units back; those together of whom the same is said."""
    alike: dict[tuple[str, str], list[Document]] = {}
    for each in rows:
        alike.setdefault((_comparison(each), each["rule"]), []).append(each)
    for (said, rule), those in alike.items():
        named = [f"{each['consumer']} ({counted(each['units'])})" for each in those[:_NAMED]]
        others = those[_NAMED:]
        if others:
            units = counted(sum(each["units"] for each in others))
            named.append(f"{len(others)} {'other' if len(others) == 1 else 'others'} ({units})")
        who = f"{', '.join(named[:-1])} and {named[-1]}" if len(named) > 1 else named[0]
        keep = "" if those[0]["may_give"] else f" {'keeps' if len(those) == 1 else 'keep'} them:"
        yield f"      {who}{keep} {said} [{rule}]"


def _comparison(each: Document) -> str:
    """That one who has units can give units back, or why not, with both numbers."""
    if each["may_give"]:
        return "can give units back"
    if each["because"] == "order":
        first, second = (percent(value) for value in each["after"])
        ours, theirs = each["compared"]
        return f"after a take {theirs} would have {second}, weighed by ratio, and {ours} {first}"
    return f"{each['of']} has {percent(each['usage_as_moved'])} of a quota of {percent(each['usage_quota'])}"


def what_would_help(request: Document) -> Iterator[str]:
    """What was tried and gives more."""
    if "together" in request:
        yield "  To see how they differ, name one of them instead of the consumer, or use --json."
    if "would_help" not in request:
        return
    helps, who, search = request["would_help"], request.get("together"), request["search"]
    if helps:
        yield f"  {who or 'It'} would have more, with one of:"
        for each in helps:
            coming = f", {each['on_the_way']} on the way" if each["on_the_way"] else ""
            loose = "" if each.get("is_smallest", True) else "; not every smaller change was tried"
            yield f"    {' and '.join(_changes(each['changes']))}: holds {each['held']}{coming}{loose}"
    yield from (f"  {line}" for line in how_searched(search, f"{who or 'it'} more", helps=bool(helps)))


def how_searched(search: Document, more: str, *, helps: bool) -> Iterator[str]:
    """What a search leaves out where something helps, or else what it tried in vain.

    more : what nothing gives, `it more`
    """
    tried = f"{search['values']} values of the plan and the state in {search['cycles']} cycles"
    if helps and search["is_complete"]:
        yield from _not_tried(search)
    elif search["is_complete"] and not search["in_part"]:
        yield f"No single value gives {more}: {tried} were tried."
    elif search["is_complete"]:
        part = f"of {search['in_part']} not every step beyond {DENSE}"
        yield f"No single value that was tried gives {more}: {tried} were, {part}."
    elif not helps:
        yield f"Nothing that was tried gives {more}."
    if not search["is_complete"]:
        yield f"The search stopped early, after {tried}: {', '.join(search['of'])}."


def _not_tried(search: Document) -> Iterator[str]:
    """Which other values were not all tried, as these help."""
    left = search["left_out"]
    if len(left) == len(GROUPS):
        yield "These are the values that the reasons name; because they help, no others were tried."
    elif left:
        yield f"Because these help, these kinds of values were not tried: {', '.join(left)}."
    if search["in_part"]:
        yield f"Of {search['in_part']} values, not every step beyond {DENSE} was tried."


def _changes(changes: list[Document]) -> Iterator[str]:
    """What is changed; resources of one host or unit together."""
    for _, group in groupby(changes, key=lambda change: (change["what"], change.get("host"), change.get("request"))):
        rows = list(group)
        if rows[0]["what"] == "amount":
            values = ", ".join(f"{row['resource']} {row['new']} instead of {row['old']}" for row in rows)
            yield f"{values} on {rows[0]['host']}" if "host" in rows[0] else f"a unit with {values}"
        else:
            yield from map(_change, rows)


def told(value: object) -> object:
    """A value as files write it; a list in one line."""
    if isinstance(value, list | tuple):
        return ", ".join(value) or "none"
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else value


def _change(change: Document) -> str:
    name = change["what"]
    if name == "reserved" and not change["new"]:
        return f"nothing of what {change['consumer']} owns in {change['resource_group']} reserved"
    if name in OF_HOST:
        return f"{change['host']} {OF_HOST[name]}"
    if name == "hosts" and "host" in change:
        group, hosts = change["resource_group"], "host" if change["new"] == 1 else "hosts"
        return f"{change['new']} {hosts} instead of {change['old']} in {group}, the new ones like {change['host']}"
    resource = f" {change['resource']}" if "resource" in change else ""
    whose = change.get("consumer") or change.get("request")
    if "resource_group" in change:
        whose = f"what {whose} owns in {change['resource_group']}"
    old, new = (told(change[side]) for side in ("old", "new"))
    return f"{name}{resource} {new} instead of {old}{f' for {whose}' if whose else ''}"
