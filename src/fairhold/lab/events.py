"""The event log of a run on disk: parts that are whole, in columns or as the lines themselves.

A part is written under another name and renamed when it is whole, so that whoever reads sees whole parts only, also
after a crash. Read back, the lines are the same bytes as `sim.log` wrote.
"""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any

from fairhold.errors import Fault, InputError, UsageError
from fairhold.lab.whole import write_whole
from fairhold.orchestrator import changes as said

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

ROWS = 100_000
"""Lines of a part."""
PARQUET, JSONL = "parquet", "jsonl"
COLUMNS = (
    *("instant", "event", "job", "task", "attempt", "consumer", "host", "units", "reason", "taker"),
    "body",
)
"""body: the fields of the line as they stand there; the other columns are copies of them, null where it has none."""
_NEEDS = "Parquet needs more than the base: pip install 'fairhold[sim]'"
_PART = re.compile(r"events-([0-9]{4,})\.(parquet|jsonl)")
_DRAFT = re.compile(r"\.events-[0-9]{4,}\.(parquet|jsonl)\.new")


@contextmanager
def open_events(
    folder: Path, form: str | None = None, rows: int = ROWS, *, keep: bool = False
) -> Iterator[EventWriter]:
    """A sink for lines of `sim.log.Log`, which fills a folder with parts.

    form : `parquet` or `jsonl`; None = `parquet` where Polars is installed
    rows : lines of a part
    keep : an earlier run was to write the same lines: parts of it stay where they hold them; else all are removed first

    What was written until the end of the block is there afterwards, whatever ended it. Raises UsageError where Polars
    is asked for and missing.
    """
    pl = _polars(is_needed=form == PARQUET) if form != JSONL else None
    folder.mkdir(parents=True, exist_ok=True)
    mine = JSONL if pl is None else PARQUET
    there = set()
    for path in sorted(folder.iterdir()):
        match = _PART.fullmatch(path.name)
        if match and keep and match[2] == mine:
            there.add(int(match[1]))
        elif match or _DRAFT.fullmatch(path.name):
            path.unlink()
    writer = EventWriter(folder, pl, rows, there)
    try:
        yield writer
    except BaseException:
        writer.stop()
        raise
    writer.close()


def read_events(folder: Path) -> Iterator[str]:
    """All lines of a folder's parts in order, each with its end, as they were written.

    Raises InputError where a part is missing or is none, UsageError where Polars would be needed.
    """
    parts = sorted((int(match[1]), match[2]) for path in folder.iterdir() if (match := _PART.fullmatch(path.name)))
    for expected, (number, form) in enumerate(parts, 1):
        path = _part(folder, number, form)
        if number != expected:
            missing = str(_part(folder, expected, form))
            raise InputError([Fault("cannot-read", "the part is missing", "restore it", file=missing)])
        yield from _lines_of(path)


class EventWriter:
    """Takes lines, and saves them part by part.

    kept   : numbers of parts that were there and hold the lines of this run: they were left as they are
    mended : numbers of parts that were there and held other lines: they were written anew
    """

    def __init__(self, folder: Path, pl: Any, rows: int, there: set[int]) -> None:  # noqa: ANN401 - may not be there
        self.kept: list[int] = []
        self.mended: list[int] = []
        self._folder, self._pl, self._rows, self._there = folder, pl, rows, there
        self._form = JSONL if pl is None else PARQUET
        self._lines: list[str] = []
        self._parts = 0

    def __call__(self, line: str) -> None:
        """Take a line in, with its end."""
        self._lines.append(line)
        if len(self._lines) >= self._rows:
            self._flush()

    def close(self) -> None:
        """Save the rest; the run is over, and what an earlier one left behind it goes."""
        self._flush()
        for number in self._there:
            if number > self._parts:
                _part(self._folder, number, self._form).unlink()

    def stop(self) -> None:
        """Save the rest of a run that was interrupted, unless an earlier one had come further."""
        self._flush(is_whole=False)

    def _flush(self, *, is_whole: bool = True) -> None:
        """Save what was collected as a part of its own, where it is not there."""
        if not self._lines:
            return
        lines, self._lines = self._lines, []  # what cannot be written is not tried again
        self._parts += 1
        path = _part(self._folder, self._parts, self._form)
        if self._parts in self._there:
            there = _lines_there(path)
            if there == lines or (not is_whole and there[: len(lines)] == lines):
                self.kept.append(self._parts)
                return
            if there != lines[: len(there)] or not there:
                self.mended.append(self._parts)
        if self._pl is None:
            content: bytes | memoryview = "".join(lines).encode()
        else:
            packed = BytesIO()
            _frame(self._pl, lines).write_parquet(packed)
            content = packed.getbuffer()
        write_whole(path, content)


def _part(folder: Path, number: int, form: str) -> Path:
    return folder / f"events-{number:04d}.{form}"


def _lines_there(path: Path) -> list[str]:
    """The lines of a part; none where it is damaged."""
    try:
        return list(_lines_of(path))
    except (InputError, UnicodeDecodeError):
        return []


def _frame(pl: Any, lines: list[str]) -> Any:  # noqa: ANN401
    """The lines in columns."""
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    instants, events, bodies = columns["instant"], columns["event"], columns["body"]
    copied = [columns[name] for name in COLUMNS[2:-1]]
    for line in lines:
        instant, event, *fields = json.loads(line)
        instants.append(instant)
        events.append(event)
        bodies.append(line[len(f'[{instant},"{event}",') : -2])
        for column, value in zip(copied, _PICK.get(event, _pick_nothing)(fields), strict=True):
            column.append(value)
    whole = {"instant", "task", "attempt", "units"}
    return pl.DataFrame(columns, schema={name: pl.Int64 if name in whole else pl.String for name in COLUMNS})


def _lines_of(path: Path) -> Iterator[str]:
    if path.suffix == f".{JSONL}":
        with path.open(encoding="utf-8", newline="\n") as lines:
            yield from lines
        return
    pl = _polars(is_needed=True)
    try:
        frame = pl.read_parquet(path, columns=["instant", "event", "body"])
    except (pl.exceptions.PolarsError, OSError) as error:
        what = f"this is not a part of an event log: {str(error).splitlines()[0]}"
        raise InputError([Fault("cannot-read", what, "restore it", file=str(path))]) from error
    for instant, event, body in frame.iter_rows():
        yield f'[{instant},"{event}",{body}]\n' if body else f'[{instant},"{event}"]\n'


def _polars(*, is_needed: bool) -> Any:  # noqa: ANN401
    try:
        import polars as pl  # noqa: PLC0415 - an extra, and slow to import
    except ImportError as error:
        if is_needed:
            raise UsageError(_NEEDS) from error
        return None
    return pl


# What of the fields goes into columns


_Picked = tuple[Any, ...]
_COLUMN_OF = {
    "job": "job",
    "task": "task",
    "attempt": "attempt",
    "consumer": "consumer",
    "host": "host",
    "machine": "host",
    "units": "units",
    "slots": "units",
    "reason": "reason",
    "taker": "taker",
}
"""Field → column."""
_OTHERS = {("Noticed", "job")}
"""Fields that mean something else than the column of their name: the job that units are on their way to."""


def _picker(kind: type[Any]) -> Callable[[list[Any]], _Picked]:
    """What copies the fields of one kind of change into the columns between `event` and `body`."""
    names: tuple[str, ...] = kind._fields
    of = {
        _COLUMN_OF[name]: at
        for at, name in enumerate(names)
        if name in _COLUMN_OF and (kind.__name__, name) not in _OTHERS
    }
    places = names.index("places") if "places" in names else None
    ways = [of.get(name) for name in COLUMNS[2:-1]]

    def pick(fields: list[Any]) -> _Picked:
        if places is None:
            return tuple([None if at is None else fields[at] for at in ways])
        hosts, units = " ".join(host for host, _ in fields[places]), sum(units for _, units in fields[places])
        return (*[None if at is None else fields[at] for at in ways[:4]], hosts, units, None, None)

    return pick


def _pick_nothing(_: list[Any]) -> _Picked:
    return (None,) * len(COLUMNS[2:-1])


_PICK = {name: _picker(kind) for name, kind in said.KINDS.items()}
