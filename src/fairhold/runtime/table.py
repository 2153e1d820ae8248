"""A run as a live table on a terminal."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from fairhold.kernels.vectors import add
from fairhold.ledger.vectors import POOLED
from fairhold.orchestrator.owned import owned_slots
from fairhold.runtime.holdings import amounts_text, holdings_now
from fairhold.runtime.lines import line_of
from fairhold.runtime.outlet import silence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairhold.ledger.books import Books
    from fairhold.orchestrator.handle import Orchestrator
    from fairhold.runtime.holdings import Columns
    from fairhold.runtime.tally import News, Tally

LEAST_WIDTH = 40
"""Cells of a terminal below which lines say more than a table."""
_COLUMNS = ("owned", "held", "borrowed", "lent", "reclaimed", "waiting")
_BY_WEIGHT = ("held", "waiting", "owned", "borrowed", "reclaimed", "lent")
"""Which columns a narrow terminal keeps; the bars come last."""
_BAR, _LEAST_BAR = 40, 8
_GAP = 2
_FRAME = 6
"""Lines of the screen that are not rows of consumers."""


class TableView:
    """Draws one row a consumer, again and again in its place; failures are lines above it (see `loop.View`).

    Slots are counted: what a parent shows is the sum of its leaves, but for what it owns. Of resources of hosts there
    are amounts, as `top` shows them: of all where there is room for every column, else of the one that bars show.
    """

    pace = 0.25

    def __init__(self, orchestrator: Orchestrator, tally: Tally, title: str) -> None:
        self._orchestrator = orchestrator
        self._tally = tally
        self._title = title
        self._start: int | None = None
        self._next = 0.0
        self._console = Console()
        self._live = Live(
            console=self._console,
            auto_refresh=False,
            redirect_stderr=sys.stderr.isatty(),  # else what goes to a file would come to the screen
        )
        self._is_open = True
        self._live.start()

    def tell(self, news: Sequence[News]) -> None:
        """Keep the start, and show what failed."""
        for each in news:
            if self._start is None:
                self._start = each.at
            if each.kind == "failed" and self._is_open:
                try:
                    self._console.print(Text(line_of(each, self._start), style="red"))
                except OSError:
                    self._give_up()

    def refresh(self) -> None:
        """Draw anew, where the last time is long enough ago."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + self.pace * 0.9
            self._draw()

    def close(self) -> None:
        """Draw a last time and give the terminal back; may be called twice."""
        self._draw()
        if self._is_open:
            self._is_open = False
            with suppress(OSError):
                self._live.stop()

    def _draw(self) -> None:
        if self._is_open:
            try:
                self._live.update(self._table(), refresh=True)
            except OSError:
                self._give_up()

    def _give_up(self) -> None:
        """The terminal is gone; the run is not."""
        self._is_open = False
        silence(sys.stdout)
        with suppress(OSError):
            self._live.stop()

    def _table(self) -> Table:
        rows, of = self._all_rows(), ""
        most = max(1, self._console.height - _FRAME)
        name, columns, bar = _fitting(rows[:most], self._console.width)
        if POOLED in self._orchestrator.books and not (bar and len(columns) == len(_COLUMNS)):
            of = _of_bars(self._orchestrator.books[POOLED])
            rows = self._all_rows(of)
            name, columns, bar = _fitting(rows[:most], self._console.width)
        shown = rows[:most]
        heading = self._heading().append(f"; amounts are of {of}" if of else "")
        table = Table(title=heading, title_justify="left", box=None, padding=(0, _GAP, 0, 0))
        table.add_column("consumer", no_wrap=True, overflow="ellipsis", width=name)
        for column in columns:
            table.add_column(_COLUMNS[column], justify="right", no_wrap=True)
        if bar:
            table.add_column("running", no_wrap=True)
        for row in shown:
            cells = (row.numbers[column] for column in columns)
            table.add_row(row.name, *cells, *([_bar(row.slots, bar)] if bar else []))
        if len(rows) > len(shown):
            table.add_row(f"… {len(rows) - len(shown)} more")
        return table

    def _heading(self) -> Text:
        jobs = self._orchestrator.jobs.values()
        over = sum(job.finished + job.failed for job in jobs)
        waiting, running = sum(job.waiting for job in jobs), sum(job.running for job in jobs)
        failed = sum(job.failed for job in jobs)
        counts = f"{running} running, {waiting} waiting, {over} ended" + (f", {failed} failed" if failed else "")
        return Text(f"{self._title}  {counts}", style="bold")

    def _all_rows(self, only: str = "") -> list[_Row]:
        """Those of all groups; only: the one resource of which there are amounts, empty = all."""
        found: list[_Row] = []
        for group, books in self._orchestrator.books.items():
            if len(self._orchestrator.books) > 1:
                found.append(_Row(Text(books.rows.group.name, style="italic"), ("",) * len(_COLUMNS), None))
            found += self._unit_rows(books, only) if group == POOLED else self._rows(group)
        return found

    def _unit_rows(self, books: Books, only: str) -> Iterator[_Row]:
        """Amounts of resources; bars show one, of all that is held of it."""
        columns = holdings_now(self._orchestrator.cluster, self._orchestrator.now)
        columns["reclaimed"] = self._reclaimed(books)
        resources = [each.name for each in books.rows.source.resources]
        bar = resources.index(_of_bars(books))
        base = books.rows.source.resources[bar].base
        for row in books.rows.tree.path[1:]:
            path = books.rows.path(row)
            vectors = [columns["allocated" if name == "held" else name][path] for name in _COLUMNS]
            if only:
                vectors = [[amount if at == bar else 0 for at, amount in enumerate(vector)] for vector in vectors]
            texts = (amounts_text(books, vector).removeprefix(f"{only} " if only else "") for vector in vectors)
            sizes = (columns[name][where][bar] for name, where in (
                ("allocated", path), ("borrowed", path), ("reclaiming", path), ("allocated", "/")
            ))  # fmt: skip
            held, loans, noticed, everything = (-(-size // base) for size in sizes)
            parts = (held - loans, loans, noticed, everything) if books.rows.is_leaf(row) else None
            yield _Row(_name_of(path), tuple("·" if text == "0" else text for text in texts), parts)

    def _reclaimed(self, books: Books) -> Columns:
        """Path → what was taken back of it and of those below it."""
        tree = books.rows.source.tree
        found = {path: (0,) * len(books.rows.source.resources) for path in tree.paths}
        for row in range(len(tree) - 1, 0, -1):
            path = tree.paths[row]
            leaf = self._tally.leaves.get((POOLED, path))
            found[path] = add(found[path], leaf.amounts["reclaimed"]) if leaf else found[path]
            above = tree.paths[tree.parent[row]]
            found[above] = add(found[above], found[path])
        return {path: [*vector] for path, vector in found.items()}

    def _rows(self, group: str) -> Iterator[_Row]:
        books = self._orchestrator.books[group]
        rows, slots = books.rows, books.slots
        loans = self._tally.lending(group)
        columns = [[0] * len(rows) for _ in range(4)]
        for leaf in rows.leaves:
            taken = self._tally.leaves[group, rows.path(leaf)].reclaimed
            waiting = max(0, books.demand[leaf] - books.held[leaf])
            for column, value in zip(columns, (books.held[leaf], taken, waiting, books.noticed[leaf]), strict=True):
                column[leaf] = value
        for row in range(len(rows) - 1, 0, -1):
            for column in columns:
                column[rows.tree.parent[row]] += column[row]
        owned_of = owned_slots(rows, slots)
        for row in rows.tree.path[1:]:
            held, taken, waiting, noticed = (column[row] for column in columns)
            borrowed = loans.borrowed.get(row, 0)
            numbers = (owned_of[row], held, borrowed, loans.lent.get(row, 0), taken, waiting)
            texts = tuple(str(number) if number else "·" for number in numbers)
            bar = (held - borrowed, borrowed, noticed, slots) if rows.is_leaf(row) else None
            yield _Row(_name_of(rows.path(row)), texts, bar)


def _name_of(path: str) -> Text:
    """The last part of a path, as far in as it is deep."""
    return Text("  " * (path.count("/") - 1) + path.rpartition("/")[2])


def _of_bars(books: Books) -> str:
    """The resource that bars show: GPUs, where there are any, else the first."""
    plan = books.rows.source
    names = [each.name for each in plan.resources]
    at = names.index("gpu") if "gpu" in names else 0
    hosts = (host.amounts for group in plan.resource_groups.values() for host in group.hosts if host.amounts)
    return names[at] if any(amounts[at] for amounts in hosts) else names[0]


class _Row(NamedTuple):
    """One row of the table.

    numbers : texts in the order of `_COLUMNS`
    slots   : held and own, borrowed, under notice, and all of the group; None where there is no bar
    """

    name: Text
    numbers: tuple[str, ...]
    slots: tuple[int, int, int, int] | None


def _fitting(rows: Sequence[_Row], room: int) -> tuple[int, list[int], int]:
    """What fits into a line: cells for the name, columns in their order, cells for a bar, 0 = no bars."""
    name = min(max([len("consumer"), *(row.name.cell_len for row in rows)]), max(12, room // 3))
    left = room - name - _GAP
    kept = set()
    for word in _BY_WEIGHT:
        column = _COLUMNS.index(word)
        need = max([len(word), *(len(row.numbers[column]) for row in rows)]) + _GAP
        if need > left:
            break
        left -= need
        kept.add(column)
    return name, sorted(kept), min(_BAR, left - _GAP) if left - _GAP >= _LEAST_BAR else 0


def _bar(parts: tuple[int, int, int, int] | None, room: int) -> Text:
    """Slots held: own, borrowed, and of these what is under notice at the end."""
    if parts is None:
        return Text()
    own, borrowed, noticed, slots = parts
    scale = max(1, -(-slots // room))
    firm = max(0, borrowed - noticed)
    bar = Text("█" * -(-(own - max(0, noticed - borrowed)) // scale), style="green")
    bar.append("█" * -(-firm // scale), style="yellow")
    bar.append("█" * -(-noticed // scale), style="red")
    bar.truncate(room)  # parts are rounded up one by one
    return bar
