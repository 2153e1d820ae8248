"""A question that a process of its own answers: it reads a JSON document, and writes one.

The service that asks goes on meanwhile. The process gives way to everything else on the machine.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

from fairhold.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

NICE = 10


def answer_once(answer: Callable[[Mapping[str, Any]], dict[str, Any]]) -> None:
    """Answer what standard input asks to standard output; of an InputError, its `faults`: code, what, mend."""
    os.nice(NICE)
    try:
        found = answer(json.load(sys.stdin))
    except InputError as error:
        found = {"faults": [[each.code, each.what, each.mend] for each in error.faults]}
    json.dump(found, sys.stdout)
