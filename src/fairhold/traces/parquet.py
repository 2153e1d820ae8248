"""Parquet files, through Polars, which the extra `sim` brings."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

from fairhold.traces.findings import EXTRA, SYNTAX, Findings, refuse
from fairhold.traces.tables import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

INSTALL = 'pip install "fairhold[sim]"'


def parquet_table(data: bytes, name: str) -> Table:
    """Read all columns as text: instants in RFC 3339, lengths of time in seconds. Raises InputError."""
    try:
        import polars as pl  # noqa: PLC0415 - an extra, and slow to import
    except ImportError as error:
        what = "Parquet files are read by Polars, which is not installed"
        raise refuse(EXTRA, name, what, f"install it: {INSTALL}; or write the file as CSV") from error
    try:
        frame = pl.read_parquet(BytesIO(data))
        columns: dict[str, Sequence[str]] = {
            column.name: _texts(pl, column).fill_null("").to_list()
            for column in frame.iter_columns()
            if not column.dtype.is_nested()  # lists and structures are no cells
        }
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise refuse(SYNTAX, name, f"this is not a Parquet file: {reason}", "name another file or `kind:`") from error
    findings = Findings(name, "row")
    findings.rows = frame.height
    return Table(columns, range(1, frame.height + 1), findings)


def _texts(pl: Any, column: Any) -> Any:  # noqa: ANN401 - of a package that may not be there
    kind = column.dtype
    if isinstance(kind, pl.Datetime):
        utc = column.dt.convert_time_zone("UTC") if kind.time_zone else column
        return utc.dt.strftime("%Y-%m-%dT%H:%M:%S%.6f" + ("+00:00" if kind.time_zone else ""))
    if isinstance(kind, pl.Duration):
        return (column.dt.total_microseconds().cast(pl.Decimal(38, 6)) / 1_000_000).cast(pl.String)
    return column.cast(pl.String)
