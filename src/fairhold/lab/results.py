"""What a simulation leaves in a folder: the event log of every plan, the summaries, the report."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fairhold.lab.events import open_events
from fairhold.lab.report import report_page, save_plots

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    Document = dict[str, Any]


class Results:
    """A folder of results; what an earlier run left there under the same names is replaced."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def events(self, plan: str) -> Iterator[Callable[[str], object]]:
        """A sink for the event log of a plan; every whole part of it can be read, also after a crash."""
        with open_events(self._folder / _file_name(plan)) as write:
            yield write

    def finish(self, documents: Mapping[str, Document]) -> None:
        """Write the summaries, as `summary.json`."""
        text = json.dumps({"plans": documents}, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        self._write("summary.json", f"{text}\n")

    def report(self, documents: Mapping[str, Document], title: str, *, plots: bool) -> None:
        """Write the page `report.html`, and its plots as pictures; raises UsageError without the extra `sim`."""
        self._write("report.html", report_page(documents, title))
        if plots:
            folder = self._folder / "plots"
            folder.mkdir(exist_ok=True)
            save_plots(folder, documents)

    def _write(self, name: str, text: str) -> None:
        """All of a file or none of it."""
        draft = self._folder / f".{name}.new"
        draft.write_text(text, encoding="utf-8")
        os.replace(draft, self._folder / name)  # noqa: PTH105 - the atomic one


def _file_name(plan: str) -> str:
    return "".join(each if each.isalnum() or each in "-_." else "_" for each in plan)
