"""Commands are made out of their functions when they are called for: most starts need one of fifty."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from typer.core import TyperGroup
from typer.main import get_command_from_info, get_command_name, get_group_from_info

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import click
    import typer


def made_on_demand(declared: typer.Typer) -> type[TyperGroup]:
    """The class of a group that has the commands of `declared`, then its groups.

    Typer itself reads the arguments of every command at every start: half of the time that a completion may take.
    """

    class Group(TyperGroup):
        def __init__(self, **attributes: Any) -> None:  # noqa: ANN401 - Click's
            super().__init__(**attributes | {"commands": _Commands(declared)})

        def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - Click's
            """Their names, for which none is made."""
            return list(self.commands)

    return Group


class _Commands(Mapping[str, "click.Command"]):
    """Commands by name, each made when it is read first."""

    def __init__(self, declared: typer.Typer) -> None:
        style: dict[str, Any] = {
            "pretty_exceptions_short": declared.pretty_exceptions_short,
            "rich_markup_mode": declared.rich_markup_mode,
        }
        self._makers: dict[str, Callable[[], click.Command]] = {}
        self._made: dict[str, click.Command] = {}
        for command in declared.registered_commands:
            name = command.name or get_command_name(command.callback.__name__)  # type: ignore[union-attr]
            self._makers[name] = partial(get_command_from_info, command, **style)
        style["suggest_commands"] = declared.suggest_commands
        for group in declared.registered_groups:
            self._makers[str(group.name)] = partial(get_group_from_info, group, **style)

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)
