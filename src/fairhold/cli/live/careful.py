"""Commands that take no empty option: nobody means one, and it is what a variable gives a script that is not set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from typer.core import TyperCommand, TyperGroup

from fairhold.errors import UsageError

if TYPE_CHECKING:
    import typer


class Careful(TyperCommand):
    """A command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the arguments in; raises UsageError."""
        refuse_empty(self, ctx, args)
        return super().parse_args(ctx, args)


class CarefulGroup(TyperGroup):
    """A command with others below it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the arguments in; raises UsageError."""
        refuse_empty(self, ctx, args)
        return super().parse_args(ctx, args)


def refuse_empty(command: click.Command, ctx: click.Context, args: list[str]) -> None:
    """Raise UsageError where an option is given and empty. A line that a shell completes is not looked at."""
    if ctx.resilient_parsing:
        return
    given: dict[str, Any] = command.make_parser(ctx).parse_args(args=list(args))[0]
    for param in command.params:
        value = given.get(param.name or "")
        if isinstance(param, click.Option) and (value == "" or (isinstance(value, list) and "" in value)):
            raise UsageError(f"{param.opts[-1]} is empty: write what is meant, or leave it out")


def all_careful(app: typer.Typer) -> None:
    """Let all commands of an application be so."""
    for each in app.registered_commands:
        each.cls = Careful
