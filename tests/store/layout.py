"""What a store holds, as text: kinds of entries with their fields, and what writes the rest.

`python -m tests.store.layout > tests/store/format_N.txt` fixes it for format N.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import sys
import textwrap
from dataclasses import fields
from typing import TYPE_CHECKING

from fairhold.model.spec import Spec
from fairhold.orchestrator import (
    accounting,
    attempts,
    budgets,
    changes,
    freeze,
    frozen_terms,
    histories,
    kept_units,
    loans,
    spans,
    tasks,
    vectors,
)
from fairhold.runtime.live import archive, closings, reclaims, recovery, specs, usage, windows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WRITERS: list[Callable[..., object]] = [
    freeze.Columns.add,
    freeze.Columns.document,
    frozen_terms.freeze_terms,
    freeze.freeze_rest,
    freeze._shortages,
    freeze.changed_of,
    freeze._attempt,
    freeze._in_order,
    tasks.JobRecord.progress,
    budgets.freeze_spending,
    histories.freeze_histories,
    histories._told,
    vectors.freeze_vectors,
    vectors.freeze_unit,
    vectors.ownership_told,
    kept_units.freeze_kept,
    kept_units.kept_told,
    loans.told,
    loans.shortages_told,
    accounting.Accounting.freeze,
    spans.Span.document,
    usage.packed,
    windows.windows_of,
    reclaims.Reclaims.freeze,
    reclaims.detail_text,
    recovery.Frozen.__init__,
    recovery.Frozen.text,
    specs.spec_document,
    archive.finished_job,
    archive.counts,
    archive.sited,
]
"""All that makes snapshots, specs and what is kept of finished jobs."""


def layout() -> Iterator[str]:
    """A line for each thing; a change of what is written changes a line."""
    for name, kind in sorted(changes.KINDS.items()):
        yield f"entry {name}: {', '.join(kind._fields)}"
    for name, replayed in sorted(recovery._OTHERS.items()):
        yield f"entry {name}: {', '.join(each.strip('_') for each in list(inspect.signature(replayed).parameters)[2:])}"
    for part in (closings.Closing, closings.Return, reclaims.Reclaim, attempts.Notice, spans.Key):
        yield f"part {part.__name__}: {', '.join(part._fields)}"
    yield f"spec: {', '.join(each.name for each in fields(Spec))}"
    for writer in WRITERS:
        module = writer.__module__.removeprefix("fairhold.")
        yield f"written by {module}.{writer.__qualname__}: {_digest(writer)}"


def _digest(writer: Callable[..., object]) -> str:
    """Of the source without its documentation and without blanks."""
    lines = textwrap.dedent(inspect.getsource(writer)).splitlines()
    function = ast.parse("\n".join(lines)).body[0]
    assert isinstance(function, ast.FunctionDef)
    if ast.get_docstring(function):
        del lines[function.body[0].lineno - 1 : function.body[0].end_lineno]
    return hashlib.sha256("".join("".join(lines).split()).encode()).hexdigest()[:12]


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in layout())
