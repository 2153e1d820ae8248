"""JSON Schemas (draft 2020-12) of the files, for editors.

They describe form; what needs more than one value (known paths, sums) only the readers check.
"""

from __future__ import annotations

from importlib.resources import files

KINDS = ("plan", "state", "jobs")


def schema(kind: str) -> str:
    """Return the schema of one kind of file as JSON text; raises KeyError where `kind` is none of `KINDS`."""
    if kind not in KINDS:
        raise KeyError(kind)
    return files("fairhold.planio").joinpath("schema", f"{kind}.json").read_text(encoding="utf-8")
