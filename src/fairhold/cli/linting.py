"""`lint`: files of KAI-Scheduler, read as KAI reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cli.files import fault_document, print_json, print_text
from fairhold.planio.document import read_text
from fairhold.planio.kaifiles import lint_kai

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def lint_files(paths: Sequence[Path], *, as_json: bool) -> int:
    """Print the findings; 1 where there are any, else 0."""
    findings, objects = lint_kai((read_text(path), str(path)) for path in paths)
    if as_json:
        print_json({"objects": objects, "findings": [fault_document(fault) for fault in findings]})
    else:
        for finding in findings:
            print_text(str(finding))
        looked = "1 object" if objects == 1 else f"{objects} objects"
        found = "1 finding" if len(findings) == 1 else f"{len(findings) or 'no'} findings"
        print_text(f"{looked}, {found}")
    return 1 if findings else 0
