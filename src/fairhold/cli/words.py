"""The words of an explanation: one sentence, then the whole derivation."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.cli.table import table
from fairhold.runtime.explaining import as_document, fraction, sentence
from fairhold.units import UNLIMITED, format_instant

if TYPE_CHECKING:
    from fairhold.cycle.explain import Change, Counterfactual, Explanation, Level, Move

__all__ = ["as_document", "in_words", "sentence"]

_LEVEL = {
    "owners": "; λ = {} for each slot owned",
    "rest": "; owners have their fill, then λ = {} for each",
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
    parts = [sentence(explanation), *map(_level, explanation.levels)]
    if explanation.scale_num != explanation.scale_den:
        parts.append(
            f"Owned slots count {explanation.scale_num}/{explanation.scale_den} of what is configured: "
            f"so many slots there are, and so many were planned for [R-SCALE-1]."
        )
    parts.append(_reclaim(explanation))
    if explanation.moves:
        parts.append("Moves:\n" + "\n".join(f"  {_move(move)}" for move in explanation.moves))
    if explanation.levels:
        parts.append(_what_if(explanation.path, explanation.counterfactual))
    return "\n\n".join(part for part in parts if part)


def _level(level: Level) -> str:
    if level.phase == "owned":
        return f"Under {level.parent} each has its own, {level.amount} together:\n{_owners(level)}"
    head = f"{level.parent} divides {level.amount}{_LEVEL[level.phase].format(fraction(level.water))}:"
    if any(row.planned is not None for row in level.siblings):
        return f"{head}\n{_sharers(level)}"
    rows = [
        (
            row.path,
            row.rank,
            row.owned,
            row.floor,
            row.need,
            None if row.limit >= UNLIMITED else row.limit,
            fraction(row.exact),
            row.quota,
            row.held,
            row.bound.value,
        )
        for row in level.siblings
    ]
    columns = ("consumer", "rank", "owned", "sure of", "need", "limit", "exact", "quota", "holds", "bound by")
    return f"{head}\n{table(columns, rows)}"


def _sharers(level: Level) -> str:
    rows = [
        (
            row.path,
            row.rank,
            row.ratio,
            fraction(row.planned or Fraction(0)),
            row.need,
            None if row.limit >= UNLIMITED else row.limit,
            fraction(row.exact),
            row.quota,
            row.held,
            row.bound.value,
        )
        for row in level.siblings
    ]
    columns = ("consumer", "rank", "ratio", "planned", "need", "limit", "exact", "quota", "holds", "bound by")
    return table(columns, rows)


def _owners(level: Level) -> str:
    rows = [
        (
            row.path,
            row.rank,
            row.owned,
            row.need,
            None if row.limit >= UNLIMITED else row.limit,
            row.parts.own,
            row.parts.balance,
            _peers(row.parts.borrowed),
            _peers(row.parts.lent),
            row.parts.shared,
            row.quota,
            row.held,
            row.bound.value,
        )
        for row in level.siblings
        if row.parts is not None
    ]
    names = ("consumer", "rank", "owned", "need", "limit", "own", "balance", "borrowed", "lent", "shared", "quota")
    return table((*names, "holds", "bound by"), rows)


def _peers(slots: dict[str, int]) -> str:
    return ", ".join(f"{units} {path}" for path, units in slots.items()) or "0"


def _reclaim(explanation: Explanation) -> str:
    said = []
    if explanation.set_aside:
        said.append(f"{_count(explanation.set_aside, 'idle slot')} kept for its reserves [R-ASIDE-1]")
    if explanation.missing:
        said.append(f"it misses {_count(explanation.missing, 'slot')} [R-RECLAIM-1]")
    if explanation.gives:
        said.append(
            f"it is to give {_count(explanation.gives, 'slot')} back (it can give {explanation.can_give}, "
            f"must give {explanation.must_give}) [R-RECLAIM-4]"
        )
    if explanation.protected:
        said.append("what it holds above its quota is rounding alone and stays for equal ranks [R-PROTECT-1]")
    if explanation.lacks:
        said.append(f"{_count(explanation.lacks, 'slot')} that it misses nobody can give [R-RECLAIM-2]")
    return "Reclaim: " + "; ".join(said) + "." if said else ""


def _move(move: Move) -> str:
    slots = _count(move.units, "slot")
    if move.kind == "grant":
        return f"{move.consumer} is granted {_count(move.units, 'idle slot')} [R-GRANT-1]"
    if move.kind == "withdrawn":
        return f"{move.consumer} may keep {slots} that it had notice for [R-NOTICE-1]"
    goes = f"for {move.taker}" if move.taker else f"because of {_CAUSE[move.reason]}"
    verb = "gets notice" if move.kind == "notice" else "is under notice"
    return f"{move.consumer} {verb} to give {slots} back until {format_instant(move.deadline)}, {goes} [R-GRACE-1]"


def _count(units: int, what: str) -> str:
    return f"{units} {what}" if units == 1 else f"{units} {what}s"


def _what_if(path: str, counterfactual: Counterfactual | None) -> str:
    if counterfactual is None:
        return (
            f"Nothing alone gives {path} one slot more: not more demand, and not a higher limit, a better rank, more "
            f"owned slots or a higher share ratio for it or a consumer above it, and not more slots in the group."
        )
    told = " and ".join(_change(change) for change in counterfactual.changes)
    return f"One slot more: with {told}, {path} would have a quota of {counterfactual.quota}."


def _change(change: Change) -> str:
    if change.host:
        return f"host {change.host}'s slots at {change.new} instead of {change.old}"
    if change.lender:
        return f"what {change.consumer} may borrow of {change.lender} at {change.new} instead of {change.old}"
    where = "the group's" if change.consumer == "/" else f"{change.consumer}'s"
    name = {"slots": "number of slots", "configured_slots": "configured_slots"}.get(change.what, change.what)
    return f"{where} {name} at {change.new} instead of {change.old}"
