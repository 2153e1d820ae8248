"""The words of an explanation: one sentence, then the whole derivation."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING

from fairhold.cli.legend import legend
from fairhold.cli.pool_requests import OF_HOST, called, how_searched, told
from fairhold.cli.table import table
from fairhold.model.presence import hosts_in_words
from fairhold.runtime.explaining import Document, as_document, fraction, sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.explain import Explanation

__all__ = ["as_document", "document_in_words", "in_words", "sentence"]

_LEVEL = {
    "owners": "; λ = {} for each slot owned",
    "rest": "; owners get all that they want, then λ = {} for each",
    "enough": ", enough for all",
    "ratio": "; λ = {} for each unit of ratio",
    "leaves": ", by one filling over all leaves; λ = {} for the weight of the whole cluster",
    "fixed": ", as planned; λ = {}",
}

_CAUSE = {
    "quota": "its quota",
    "limit": "a limit",
    "window": "the switch of windows",
    "lost": "lost hosts",
}


def in_words(explanation: Explanation) -> str:
    """The whole explanation as text."""
    return document_in_words(as_document(explanation))


def document_in_words(document: Document, word: str = "request") -> str:
    """The same of its document, which the service gives, too.

    word : what requests are called
    """
    path, levels = document["consumer"], document["levels"]
    own = {column: text for level in levels for column, text in level.get("columns", {}).items()}
    explained = legend(dict.fromkeys(chain(*map(_columns, levels))), own=own)
    parts = [document["sentence"], *map(_level, levels), explained]
    num, den = document["scale"]
    if num != den and den:
        parts.append(
            f"Owned slots are scaled by {num}/{den}: the slots that there are, "
            f"divided by the slots that were planned for [R-SCALE-1]."
        )
    if loans := document.get("loans"):
        parts.append("Loans:\n" + "\n".join(f"  {_loan(loan)}" for loan in loans))
    holds = any(control["control"] == "hold_after" for control in document.get("controls", ()))
    parts.append(_reclaim(document["reclaim"], holds=holds))
    if controls := document.get("controls"):
        parts.append("Controls:\n" + "\n".join(f"  {_control(control)}" for control in controls))
    if document["moves"]:
        parts.append("Moves:\n" + "\n".join(f"  {_move(move)}" for move in document["moves"]))
    if document["search"]:
        parts.append("\n".join(_what_if(path, document | {"would_help": called(document["would_help"], word)})))
    return "\n\n".join(part for part in parts if part)


def _level(level: Document) -> str:
    if level["phase"] == "owned":
        return f"Under {level['parent']} each has its own, {level['amount']} together:\n{_owners(level)}"
    words = level.get("words") or _LEVEL[level["phase"]].format(_fraction(level["lambda"]))
    head = f"{level['parent']} divides {level['amount']}{words}:"
    if any("planned" in row for row in level["siblings"]):
        return f"{head}\n{_sharers(level)}"
    own = (*level.get("columns", ()),)
    first = ("consumer", "rank", "owned")
    names = (*first, "sure", "need", "limit", *(own or ("exact",)), "quota", "allocated", "bound")
    rows = [[_cell(row, name) for name in names] for row in level["siblings"]]
    columns = (*first, "sure of", *names[4:-1], "bound by")
    return f"{head}\n{table(columns, rows)}"


def _columns(level: Document) -> tuple[str, ...]:
    """What the table of a level has to explain."""
    if level["phase"] == "owned":
        return ("owned", "need", "own", "balance", "borrowed", "lent", "quota", "allocated", "bound by")
    first = ("planned",) if any("planned" in row for row in level["siblings"]) else ("owned", "sure of")
    own = (*level.get("columns", ()),)
    return (*first, "need", *(own or ("exact",)), "quota", "allocated", "bound by")


def _sharers(level: Document) -> str:
    names = ("consumer", "rank", "share_ratio", "planned", "need", "limit", "exact", "quota", "allocated", "bound")
    columns = ("consumer", "rank", "ratio", *names[3:9], "bound by")
    return table(columns, [[_cell(row, name) for name in names] for row in level["siblings"]])


def _owners(level: Document) -> str:
    names = ("consumer", "rank", "owned", "need", "limit", "own", "balance", "borrowed", "lent", "shared", "quota")
    rows = [[_cell(row, name) for name in (*names, "allocated", "bound")] for row in level["siblings"]]
    return table((*names, "allocated", "bound by"), rows)


def _cell(row: Document, name: str) -> object:
    """A number of a sibling as people read it."""
    value = row[name]
    if name in {"exact", "planned"}:
        return _fraction(value)
    return _peers(value) if name in {"borrowed", "lent"} else value


def _peers(slots: Document) -> str:
    return ", ".join(f"{units} {path}" for path, units in slots.items()) or "0"


def _fraction(text: str) -> str:
    return fraction(Fraction(text))


_LOAN = {
    "demand": "it needs no more",
    "lists": "the lists allow no more than {limit}",
    "needed": "{lender} needs all that it owns",
    "lent": "{lender} lends all that it does not need",
    "limit": "a branch above {borrower} is at its limit",
    "slots": "there are fewer slots than are owned, and none is left",
}


def _loan(loan: Document) -> str:
    """Who borrows how much from whom, by the quotas and now, and why not more."""
    now = "" if loan["allocated"] == loan["quota"] else f" (has {loan['allocated']} now)"
    head = f"{loan['borrower']} borrows {loan['quota'] or 'nothing'} of {loan['lender']}{now}"
    return f"{head}: {_LOAN[loan['bound']].format_map(loan)} [R-LEND-2]"


def _reclaim(reclaim: Document, *, holds: bool) -> str:
    said = []
    if reclaim["set_aside"]:
        whom = "its reserves and its gangs" if holds else "its reserves"
        said.append(f"{_count(reclaim['set_aside'], 'idle slot')} kept for {whom} [R-ASIDE-1]")
    if reclaim["missing"]:
        said.append(f"its deficit is {_count(reclaim['missing'], 'slot')} [R-RECLAIM-1]")
    if reclaim["gives"]:
        said.append(
            f"it gives {_count(reclaim['gives'], 'slot')} back (can give {reclaim['can_give']}, "
            f"must give {reclaim['must_give']}) [R-RECLAIM-4]"
        )
    if reclaim["protected"]:
        said.append(
            "what it has above its quota comes from rounding, and is not reclaimed for equal ranks [R-PROTECT-1]"
        )
    if reclaim["lacks"]:
        said.append(f"{_count(reclaim['lacks'], 'slot')} of its deficit cannot be reclaimed [R-RECLAIM-2]")
    return "Reclaim: " + "; ".join(said) + "." if said else ""


def _move(move: Document) -> str:
    slots, consumer = _count(move["units"], "slot"), move["consumer"]
    if move["kind"] == "grant":
        return f"{consumer} is granted {_count(move['units'], 'idle slot')} [R-GRANT-1]"
    if move["kind"] == "withdrawn":
        return f"{consumer} keeps {slots}: the notice is withdrawn [R-NOTICE-1]"
    goes = f"for {move['for']}" if move["for"] else f"because of {_CAUSE[move['reason']]}"
    verb = "gets notice" if move["kind"] == "notice" else "is under notice"
    return f"{consumer} {verb} to give {slots} back by {move['deadline']}, {goes} [R-GRACE-1]"


_CONTROL = {
    "max_reclaims": "{} gives {} back in a later cycle: the limit per cycle is reached",
    "dead_zone": "{} has a deficit of {}, too few to reclaim",
    "await_ends": "{} has a deficit of {}, and reclaims from {until} on if no task ends before",
    "observe_only": "{} would give {} back, but gets no notice: decisions are only observed",
    "budget.wait": "the budget of {} is used up: {} that {are} wanted {are} not granted before {until}",
    "budget.borrow_only": "the budget of {} is used up: until {until} it only gets what others leave",
    "budget.lowest_rank": "the budget of {} is used up: until {until} it comes last among its siblings",
    "user_limit": "{} wants {} beyond the user limit",
    "site.never": "{} wants {} for which there is no room on {hosts}, as far as they are up{away}",
    "site.now": "{} has a deficit of {} that cannot be reclaimed on {hosts}",
    "min_runtime": "{} keeps {}{where} that have not run long enough, the first until {until}",
    "gang": "{0} waits for {1} in gangs that are larger than its quota can be; they are not counted",
    "hold_after": "{0} holds {1} for a gang that has waited long; it can start by {until}",
}


def _control(control: Document) -> str:
    words = _CONTROL[control["control"]]
    until = control["until"] or "an instant that is not known"
    units = control["units"]
    told = words.format(
        *(control["consumer"], _count(units, "slot")),
        until=until,
        are="is" if units == 1 else "are",
        hosts=control.get("hosts", ""),
        away=_away(control["away"]) if "away" in control else "",
        where=f" on {control['hosts']}" if control.get("hosts") else "",
    )
    return f"{told} [{control['control']}, {control['rule']}]"


def _away(hosts: list[str]) -> str:
    """Hosts that would do and are not up."""
    are = "is" if len(hosts) == 1 else "are"
    return f"; {hosts_in_words(hosts)} would do, but {are} not up"


def _count(units: int, what: str) -> str:
    return f"{units} {what}" if units == 1 else f"{units} {what}s"


def _what_if(path: str, document: Document) -> Iterator[str]:
    for at, each in enumerate(document["would_help"] or ()):
        changes = " and ".join(map(_change, each["changes"]))
        loose = "" if each.get("is_smallest", True) else "; not every smaller change was tried"
        if at:
            yield f"Or with {changes}: a quota of {each['quota']}{loose}."
        else:
            yield f"One slot more: with {changes}, {path} would have a quota of {each['quota']}{loose}."
    search, helps = document["search"], bool(document["would_help"])
    yield from how_searched(search, f"{path} one slot more", helps=helps)
    if "only" in search and not helps:
        yield f"{path} has all that a limit allows, so other values were not tried."


def _change(change: Document) -> str:
    if change["what"] in OF_HOST:
        return f"{change['host']} {OF_HOST[change['what']]}"
    old, new = told(change["old"]), told(change["new"])
    if "host" in change:
        return f"host {change['host']}'s slots at {new} instead of {old}"
    if "lender" in change:
        return f"what {change['consumer']} may borrow of {change['lender']} at {new} instead of {old}"
    whose = change.get("consumer") or change.get("request")
    where = "the group's " if whose == "/" else f"{whose}'s " if whose else ""
    name = "number of slots" if change["what"] == "slots" else change["what"]
    return f"{where}{name} at {new} instead of {old}"
