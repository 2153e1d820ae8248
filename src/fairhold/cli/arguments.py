"""Arguments that name files, which several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import click
import typer

from fairhold.cli.writing import STANDARD_OUTPUT


class FileName(click.Path):
    """The name of a file or directory, which is not empty.

    dash : what `-` stands for, None = a file of that name
    """

    def __init__(self, dash: Path | None = None) -> None:
        super().__init__(readable=False, path_type=Path)  # who reads it says why it cannot be read
        self._dash = dash

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - Click's
        """Return the path that is meant."""
        if value == "":
            self.fail("the name is empty", param, ctx)
        if value == "-" and self._dash:
            return self._dash
        return super().convert(value, param, ctx)


INPUT = FileName(Path("/dev/stdin"))
AFTER = FileName(STANDARD_OUTPUT)
DIRECTORY = FileName()
PlanFile = Annotated[Path, typer.Argument(metavar="PLAN", click_type=INPUT, help="Plan file, YAML or JSON.")]
StateFile = Annotated[Path, typer.Argument(metavar="STATE", click_type=INPUT, help="State file, YAML or JSON.")]
