"""`lint`: files of KAI-Scheduler, read as KAI reads them."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from fairhold.cli.files import fault_document, print_json, print_text
from fairhold.errors import count
from fairhold.planio.document import read_text
from fairhold.planio.kaifiles import lint_kai

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def lint_files(paths: Sequence[Path], *, as_json: bool) -> int:
    """Print the findings; 1 where there are any, or a file could not be read, else 0.

    What could not be read is reported on standard error; the other files are checked all the same.
    """
    findings, objects, unread = lint_kai((partial(read_text, path), str(path)) for path in paths)
    for fault in unread:
        sys.stderr.write(f"{fault}\n")
    if as_json:
        told = {"findings": findings, "unread": unread}
        print_json({"objects": objects} | {name: list(map(fault_document, each)) for name, each in told.items()})
    else:
        for finding in findings:
            print_text(str(finding))
        looked = count(objects, "object")
        found = "1 finding" if len(findings) == 1 else f"{len(findings) or 'no'} findings"
        files = len({fault.file for fault in unread})
        some = count(files, "file")
        rest = f"; objects that cannot be read in {some} were ignored"
        print_text(f"{looked}, {found}{rest if files else ''}")
    return 1 if findings or unread else 0
