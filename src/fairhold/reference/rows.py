"""The moves that a result of a cycle of slots tells, and whether they are those of the rules.

Where the rules leave a choice, every choice is accepted: on which of the hosts that come next the requests of one leaf
stand, which host's notices go where hosts are given whole, and one of several reasons.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from fairhold.reference.compare import differences
from fairhold.reference.document import MalformedError, instant, rows, text, whole
from fairhold.reference.finding import Finding
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fairhold.reference.document import DocumentReader
    from fairhold.reference.situation import Situation
    from fairhold.reference.slots.cycle import SlotCycle

Key = tuple[str, str, str]
"""A resource group, a request, or the leaf where a state has plain counts, and a host."""
RULES = {
    "stops": "R-SETTLE-1",
    "grants": "R-GRANT-3",
    "withdrawn": "R-NOTICE-1",
    "reclaims": "R-RECLAIM-4",
    "observed": "R-CONTROL-4",
}
PLACE_KEYS = {"consumer", "resource_group", "units", "request", "host"}
NOTICE_KEYS = PLACE_KEYS | {"for", "deadline", "reason"}


class Told:
    """The rows of a result.

    moves   : kind of move → units by group, request and host
    notices : new notices, those that are only observed included
    """

    def __init__(self, reader: DocumentReader, result: Mapping[str, Any], found: Mapping[str, SlotCycle]) -> None:
        """Read them all. Raises MalformedError."""
        self.moves: dict[str, Counter[Key]] = {kind: Counter() for kind in RULES}
        self.notices: list[dict[str, Any]] = []
        for kind in RULES:
            is_notice = kind in {"reclaims", "observed"}
            told = result.get(kind, [] if kind == "observed" else None)
            for row in rows(told, NOTICE_KEYS if is_notice else PLACE_KEYS):
                self.moves[kind][_key(row, found)] += whole(row.get("units"), least=1)
                if is_notice:
                    text(row.get("reason"))
                    if "for" not in row:
                        raise MalformedError("a notice says for whom it is")
                    reader.check_taker(row["for"])
                    self.notices.append(row | {"deadline": instant(row.get("deadline")), "is_told": kind == "reclaims"})

    def of(self, kind: str, group: str) -> Counter[tuple[str, str]]:
        """(request, host) → units of one kind of a group."""
        return Counter({(name, host): n for (of, name, host), n in self.moves[kind].items() if of == group})


def _key(row: Mapping[str, Any], found: Mapping[str, SlotCycle]) -> Key:
    """Raises MalformedError if a row names another consumer than its request has."""
    group, leaf = text(row.get("resource_group")), text(row.get("consumer"))
    name = text(row.get("request", leaf))
    if group not in found or ("request" in row and found[group].before.wishes.get(name) is None):
        raise MalformedError(f"`{name}` of {group} is not known")
    wish = found[group].before.wishes.get(name)
    if wish is None or wish.leaf != leaf or wish.is_count == ("request" in row):
        raise MalformedError(f"`{name}` is not of {leaf}")
    return group, name, text(row.get("host", ""))


def check_rows(mine: SlotCycle, told: Told) -> Iterator[Finding]:
    """All moves of one group."""
    group = mine.before.group
    expected = {"stops": mine.stops, "grants": mine.grants, "withdrawn": mine.withdrawn}
    for kind, units in (expected | {"reclaims": mine.new, "observed": mine.observed}).items():
        said, right = _shown(mine, kind, told.of(kind, group)), _shown(mine, kind, units)
        yield from differences(RULES[kind], f"{kind} {group}", said, right)
    if not mine.are_hosts_open:
        packing = mine.before.consumers["/"].entry.settings.packing
        rule = {"balanced": "R-PLACE-2", "exclusive": "R-HOSTS-1"}.get(packing, "R-PLACE-1")
        said, right = by_leaf(mine.before, told.of("grants", group)), by_leaf(mine.before, mine.grants)
        yield from differences(rule, f"grants {group}", said, right)
    yield from _check_notices(mine, [row for row in told.notices if row["resource_group"] == group])


def _shown(mine: SlotCycle, kind: str, units: Counter[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """Rows without what is open: hosts of grants, and of whole hosts whose units of a leaf."""
    before = mine.before
    is_exclusive = before.consumers["/"].entry.settings.packing == "exclusive"
    is_open = (is_exclusive and kind not in {"stops", "grants"}) or (mine.are_hosts_open and kind == "grants")
    found: Counter[tuple[str, str]] = Counter()
    for (name, host), number in units.items():
        found[before.wishes[name].leaf if is_open else name, "" if is_open or kind == "grants" else host] += number
    return dict(found)


def by_leaf(situation: Situation, units: Mapping[tuple[str, str], int]) -> dict[tuple[str, str], int]:
    """(request, host) as (leaf, host)."""
    found: Counter[tuple[str, str]] = Counter()
    for (name, host), number in units.items():
        found[situation.wishes[name].leaf, host] += number
    return dict(found)


def _check_notices(mine: SlotCycle, notices: list[dict[str, Any]]) -> Iterator[Finding]:
    """Deadlines, for whom units go, and reasons."""
    takers: Counter[tuple[str, str]] = Counter()
    for row in notices:
        leaf, taker = row["consumer"], row["for"] or ""
        takers[leaf, taker] += row["units"]
        right, where = mine.deadlines[leaf], f"reclaims {leaf}"
        if row["deadline"] != right:
            said = format_instant(row["deadline"])
            yield Finding("R-GRACE-1", where, said, format_instant(right), "has another deadline")
        reasons = ("quota",) if taker else mine.reasons(leaf)
        if row.get("reason") not in reasons:
            text_ = "is not a reason that this notice can have"
            yield Finding("R-NOTICE-1", where, row.get("reason"), " or ".join(reasons), text_)
    yield from differences("R-FOR-1", "for", dict(takers), dict(mine.takers))
