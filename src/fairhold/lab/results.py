"""What a simulation leaves in a folder: the event log and the summary of every plan, all summaries, the report."""

from __future__ import annotations

import errno
import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from fairhold.lab.events import EventWriter, open_events
from fairhold.lab.report import report_page, save_plots
from fairhold.lab.whole import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    Document = dict[str, Any]

SUMMARY, REPORT, PLOTS = "summary.json", "report.html", "plots"
BEGUN = "begun.json"
"""What a run is made of while it is not over."""


class Results:
    """A folder of results; what an earlier run left there under the same names is replaced.

    folder : where it is

    Its summary and its report go at once: until they are written anew, the folder is that of a run that has not ended.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        for name in (SUMMARY, REPORT):
            (folder / name).unlink(missing_ok=True)

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


def expect_folder(folder: Path) -> None:
    """Raises OSError where a folder of results cannot be made or written to; nothing is made or written yet."""
    nearest = folder.absolute()
    while not nearest.exists():
        nearest = nearest.parent
    if not nearest.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(nearest))
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(nearest))


class PlanResults:
    """What is left of one plan, in a folder of its own.

    made : what its run is made of, see `lab.resuming`
    """

    def __init__(self, results: Path, plan: str, made: str) -> None:
        self.folder, self.made = results / _file_name(plan), made

    def kept(self) -> Document | None:
        """The summary of an earlier run that was played to its end, if that was made of the same; else None."""
        summary = self._made_of(SUMMARY).get("summary")
        return summary if isinstance(summary, dict) else None

    @contextmanager
    def events(self, *, resume: bool = False) -> Iterator[EventWriter]:
        """A sink for the event log; every whole part of it can be read, also after a crash.

        resume : parts that an interrupted run of the same left stay where they hold what is written to them again
        """
        is_begun = resume and bool(self._made_of(BEGUN) or self._made_of(SUMMARY))
        (self.folder / SUMMARY).unlink(missing_ok=True)
        self.folder.mkdir(exist_ok=True)
        self._write(BEGUN, {})
        with open_events(self.folder, keep=is_begun) as write:
            yield write

    def keep(self, summary: Document) -> None:
        """Write down that the plan was played to its end."""
        self._write(SUMMARY, {"summary": summary})
        (self.folder / BEGUN).unlink(missing_ok=True)

    def _made_of(self, name: str) -> Document:
        """What a file says where it was made of the same, else nothing."""
        try:
            document = json.loads((self.folder / name).read_bytes())
        except (OSError, ValueError):
            return {}
        return document if isinstance(document, dict) and document.get("made_of") == self.made else {}

    def _write(self, name: str, more: Document) -> None:
        write_whole(self.folder / name, (json.dumps({"made_of": self.made} | more) + "\n").encode())


def _file_name(plan: str) -> str:
    """A name of its own in the folder for every plan: other characters, and a point in front, are written as `%XX`."""
    name = "".join(each if each.isalnum() or each in "-_." else quote(each, safe="") for each in plan)
    if not name or name in {SUMMARY, REPORT, PLOTS} or name.startswith("."):
        name = f"%{ord(name[0]):02X}{name[1:]}" if name else "%"
    return name
