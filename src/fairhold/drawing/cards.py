"""Hosts and pools as boxes: a bar for every resource, in it who owns how much, and who uses it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairhold.drawing.colours import colour, key_mark, reserved, used
from fairhold.drawing.letters import cut, width, wrap
from fairhold.drawing.marks import BODY, FAINT, INK, PAPER, RULE, SMALL, Block, below, box, line, put, text, titled
from fairhold.model.vector import amount_text
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.drawing.holdings import Share, Stock, Told
    from fairhold.kernels.vectors import Vector
    from fairhold.model.tree import ConsumerTree
    from fairhold.model.vector import Resource

CARD, GAP = 236, 12
_PAD, _HEAD, _BETWEEN, _LINE = 8, 24, 4, 15
_LABEL, _TINY = 92, 10
_MOST_LINES = 6
_NOTICE = 185
_NOTE = 80
"""Room for how many hosts a box stands for."""
_FEW_NAMES = 30
NO_OWNER, TIMES = "nobody", "\N{MULTIPLICATION SIGN}"


@dataclass(frozen=True, slots=True)
class Look:
    """What all boxes of a picture have in common.

    keys    : consumer → key of its colour
    label   : width of what stands beside bars
    is_used : whether there are units to be shown
    now     : the instant that is drawn
    """

    tree: ConsumerTree
    resources: Sequence[Resource]
    keys: Mapping[int, int]
    label: int
    is_used: bool
    now: int

    @property
    def bar(self) -> int:
        """Height of a bar."""
        return 28 if self.is_used else 18


def label_width(resources: Sequence[Resource], stocks: Sequence[Stock]) -> int:
    """How wide what stands beside bars becomes."""
    amounts = [vector for stock in stocks for vector in (stock.total, stock.owned)]
    found = [_label(each, units) for vector in amounts for each, units in zip(resources, vector, strict=True)]
    return min(_LABEL, max((width(each, _TINY) for each in found), default=0))


def _label(resource: Resource, units: int) -> str:
    return f"{resource.name} {amount_text(resource, units)}"


def host_card(look: Look, stock: Stock) -> Block:
    """A host, or several that are told as one."""
    several = len(stock.names) > 1
    note = "down" if stock.is_down else f"{len(stock.names)} hosts" if several else ""
    lines = [] if stock.is_down else _bars(look, stock, stock.total)
    lines += _unit_lines(look, stock)
    some = ", ".join(stock.names[:_FEW_NAMES]) + (" …" if len(stock.names) > _FEW_NAMES else "")
    said = f"{some}: {'down' if stock.is_down else _said(look, stock)}"
    return _card((_host_name(stock), note), lines, said, "host", is_stack=several, is_dashed=stock.is_down)


def _host_name(stock: Stock) -> str:
    """The name of a host, or of the first and the last of neighbours, where there is room for both."""
    first, last = stock.names[0], stock.names[-1]
    if first == last:
        return first
    both = f"{first} … {last}"
    room = CARD - 2 * _PAD - _NOTE
    return both if stock.is_row and width(both, BODY, bold=True) <= room else f"{first}, …"


def pool_card(look: Look, pool: int, stock: Stock, notes: Sequence[str], onwards: str) -> Block:
    """A pool; its bars stand for all that the hosts have together.

    onwards : where its idle part goes
    """
    lines = _bars(look, stock, stock.owned) if any(stock.owned) else [_note("nothing is in it", FAINT)]
    lines += [_note(each, INK) for note in notes for each in wrap(note, CARD - 2 * _PAD, SMALL)]
    if onwards:
        lines.append(_onwards(onwards))
    name, path = ("private pool of ", look.tree.paths[pool]) if pool else ("public pool", "")
    room = CARD - 2 * _PAD - width(name, BODY, bold=True)
    shown = name + cut(path, room, BODY, bold=True)
    return _card((shown, ""), lines, f"{name}{path}: {_said(look, stock)}", "pool")


def _card(
    heading: tuple[str, str],
    lines: Sequence[Block],
    said: str,
    kind: str,
    *,
    is_stack: bool = False,
    is_dashed: bool = False,
) -> Block:
    name, note = heading
    inner = below(lines, _BETWEEN)
    height = _HEAD + inner.height + (_PAD if inner.height else 0)
    aside = width(note, SMALL) + 8 if note else 0
    parts = [box(x, x, CARD - 5, height, rx=5, fill=PAPER, stroke=RULE) for x in (5, 3) if is_stack]
    frame = {"fill": PAPER, "stroke": RULE, "stroke_dasharray": "4 3" if is_dashed else None}
    parts.append(box(0, 0, CARD - 5 if is_stack else CARD, height, rx=5, class_=kind, **frame))
    room = CARD - 2 * _PAD - aside - 5 * is_stack
    parts.append(text(_PAD, 17, cut(name, room, BODY, bold=True), BODY, font_weight="bold"))
    if note:
        parts.append(text(CARD - _PAD - 5 * is_stack, 17, note, SMALL, fill=FAINT, text_anchor="end"))
    parts.append(put(inner, _PAD, _HEAD))
    return Block(CARD, height + 5 * is_stack, (titled(said, parts),))


def _bars(look: Look, stock: Stock, labels: Vector) -> list[Block]:
    """A bar for each resource that there is any of."""
    return [
        _bar(look, stock, at, _label(resource, labels[at]))
        for at, resource in enumerate(look.resources)
        if stock.total[at]
    ]


def _bar(look: Look, stock: Stock, at: int, label: str) -> Block:
    left, full = look.label + 6, CARD - 2 * _PAD - 5 - look.label - 6
    parts = [text(0, look.bar // 2 + 4, cut(label, look.label, _TINY), _TINY)]
    done, x = 0, left
    for share in stock.shares.values():
        begin, done = done, done + share.amounts[at]
        start, x = left + full * begin // stock.total[at], left + full * done // stock.total[at]
        parts += _segment(look, share, at, start, x - start)
    if x < left + full:
        parts.append(box(x, 0, left + full - x, look.bar, fill=PAPER, stroke=RULE, stroke_dasharray="2 4"))
    return Block(left + full, look.bar, tuple(parts))


def _segment(look: Look, share: Share, at: int, x: int, wide: int) -> list[str]:
    """What one owner has of a bar, and who uses it."""
    if not wide:
        return []
    key = look.keys.get(share.owner, 0)
    shown = colour(key)
    dash = None if share.owner else "2 2"
    parts = [box(x, 0, wide, look.bar, fill=shown.light, stroke=shown.strong, stroke_dasharray=dash)]
    parts += _owner_label(look, share.owner, x, wide)
    done = 0
    for (user, kind), amounts in share.uses.items():
        begin, done = done, done + amounts[at]
        start = x + wide * begin // share.amounts[at] if share.amounts[at] else x
        end = x + wide * done // share.amounts[at] if share.amounts[at] else x
        if end > start:
            parts += used(look.keys.get(user, 0), (start, look.bar - 13, end - start, 12), kind)
    if share.bound:
        parts.append(reserved(x, 0, wide, look.bar))
    return parts


def _owner_label(look: Look, owner: int, x: int, wide: int) -> list[str]:
    """The owner's key and name, or as much of it as there is room for."""
    key = look.keys.get(owner, 0)
    name = look.tree.name[owner] if owner else NO_OWNER
    foot = 12 if look.is_used else look.bar // 2 + 4
    for label in (f"{key} {name}" if key else name, str(key) if key else ""):
        if label and width(label, _TINY) + 6 <= wide:
            return [text(x + wide // 2, foot, label, _TINY, text_anchor="middle")]
    return []


def _unit_lines(look: Look, stock: Stock) -> list[Block]:
    """What stands there, request by request, or where there are many consumer by consumer."""
    if len(stock.units) <= _MOST_LINES:
        return [_unit_line(look, told, units) for told, units in stock.units.items()]
    sums: dict[int, list[int]] = {}
    for told, units in stock.units.items():
        of_leaf = sums.setdefault(told.leaf, [0, 0, 0])
        for at, counts in enumerate((True, bool(told.lenders), told.deadline >= 0)):
            of_leaf[at] += units if counts else 0
    lines = []
    for leaf in sorted(sums, key=lambda leaf: look.keys.get(leaf, 0)):
        units, lent, noticed = sums[leaf]
        said = f"{units} units" + (f", {lent} of them lent" if lent else "")
        lines.append(_keyed(look, leaf, [said, *([f"{noticed} under notice"] if noticed else [])]))
    return lines


def _unit_line(look: Look, told: Told, units: int) -> Block:
    """How many of which request, and who lends, after the key of who holds them; under it the notice."""
    lent = f", lent by {', '.join(look.tree.name[row] for row in told.lenders)}" if told.lenders else ""
    lines = [f"{units} {TIMES} {told.request}{lent}"]
    if told.deadline >= 0:
        taker = f", for {told.taker}" if told.taker else ""
        lines += wrap(f"stops by {_clock(look.now, told.deadline)}{taker}", _NOTICE, SMALL)
    return _keyed(look, told.leaf, lines)


def _keyed(look: Look, leaf: int, lines: Sequence[str]) -> Block:
    """Lines after the key of a consumer, all but the first in italics."""
    wide, mark = key_mark(look.keys.get(leaf, 0), 0, 1, 13)
    room = CARD - 2 * _PAD - 5 - wide - 6
    style = (None, "italic")
    told = (
        text(wide + 6, 12 + at * _LINE, cut(each, room, SMALL), SMALL, font_style=style[min(at, 1)])
        for at, each in enumerate(lines)
    )
    return Block(CARD - 2 * _PAD, _LINE * len(lines), (mark, *told))


def _clock(now: int, instant: int) -> str:
    """An instant; of the same day the time alone."""
    today, then = format_instant(now), format_instant(instant)
    return then[11:] if then[:10] == today[:10] else then


def _onwards(where: str) -> Block:
    """An arrow upwards, and where it leads."""
    arrow = line("M", 5, 14, "V", 3, "M", 1, 7, "L", 5, 2, "L", 9, 7, stroke=INK, stroke_width=2)
    lines = wrap(where, CARD - 2 * _PAD - 16, SMALL)
    told = (text(16, 12 + at * _LINE, each, SMALL) for at, each in enumerate(lines))
    return Block(CARD - 2 * _PAD, _LINE * len(lines), (arrow, *told))


def _note(said: str, fill: str) -> Block:
    return Block(CARD - 2 * _PAD, _LINE - _BETWEEN, (text(0, 11, said, SMALL, fill=fill),))


def _said(look: Look, stock: Stock) -> str:
    """Who owns how much of it, in words."""
    found = []
    for share in stock.shares.values():
        amounts = ", ".join(
            _label(each, units) for each, units in zip(look.resources, share.amounts, strict=True) if units
        )
        bound = {"": "", "reserved": ", reserved", "inside": ", reserved above"}[share.bound]
        found.append(f"{look.tree.paths[share.owner] if share.owner else NO_OWNER} {amounts}{bound}")
    return "; ".join(found) or "nothing"


def grid(cards: Sequence[Block], columns: int) -> Block:
    """Boxes in rows, from left to right."""
    rows = [cards[at : at + columns] for at in range(0, len(cards), columns)]
    blocks = [
        Block(
            len(row) * (CARD + GAP) - GAP,
            max(card.height for card in row),
            tuple(put(card, place * (CARD + GAP), 0) for place, card in enumerate(row)),
        )
        for row in rows
    ]
    return below(blocks, GAP)
