"""What a simulation leaves in a folder: the event log and the summary of every plan, all summaries, the report."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from fairhold.lab.events import open_events
from fairhold.lab.report import report_page, save_plots
from fairhold.lab.whole import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    Document = dict[str, Any]

SUMMARY, REPORT, PLOTS = "summary.json", "report.html", "plots"


class Results:
    """A folder of results; what an earlier run left there under the same names is replaced.

    folder : where it is

    Its summary and its report go at once: until they are written anew, the folder is that of a run that is not over.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        for name in (SUMMARY, REPORT):
            (folder / name).unlink(missing_ok=True)

    def kept(self, plan: str, made: str) -> Document | None:
        """The summary of a plan that an earlier run played to its end, if that was made of the same; else None."""
        try:
            document = json.loads((self.folder / _file_name(plan) / SUMMARY).read_bytes())
        except (OSError, ValueError):
            return None
        if not isinstance(document, dict) or document.get("made_of") != made:
            return None
        summary = document.get("summary")
        return summary if isinstance(summary, dict) else None

    def keep(self, plan: str, made: str, summary: Document) -> None:
        """Write down that a plan was played to its end.

        made : what the run was made of
        """
        self._write(f"{_file_name(plan)}/{SUMMARY}", json.dumps({"made_of": made, "summary": summary}) + "\n")

    @contextmanager
    def events(self, plan: str) -> Iterator[Callable[[str], object]]:
        """A sink for the event log of a plan; every whole part of it can be read, also after a crash."""
        folder = self.folder / _file_name(plan)
        (folder / SUMMARY).unlink(missing_ok=True)
        with open_events(folder) as write:
            yield write

    def finish(self, documents: Mapping[str, Document]) -> None:
        """Write the summaries, as `summary.json`."""
        text = json.dumps({"plans": documents}, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        self._write(SUMMARY, f"{text}\n")

    def report(self, documents: Mapping[str, Document], title: str, *, plots: bool) -> None:
        """Write the page `report.html`, and its plots as pictures; raises UsageError without the extra `sim`."""
        self._write(REPORT, report_page(documents, title))
        if plots:
            folder = self.folder / PLOTS
            folder.mkdir(exist_ok=True)
            save_plots(folder, documents)

    def _write(self, name: str, text: str) -> None:
        write_whole(self.folder / name, text.encode())


def _file_name(plan: str) -> str:
    """A name of its own in the folder for every plan: other characters, and a point in front, are written as `%XX`."""
    name = "".join(each if each.isalnum() or each in "-_." else quote(each, safe="") for each in plan)
    if not name or name in {SUMMARY, REPORT, PLOTS} or name.startswith("."):
        name = f"%{ord(name[0]):02X}{name[1:]}" if name else "%"
    return name
