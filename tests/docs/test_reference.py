"""The reference names every key of the formats, with its default, every command and every option."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from fairhold.cli.commands import app
from fairhold.cycle.explain import Bound
from fairhold.model.plan import PolicySettings
from fairhold.planio.schema import schema
from tests.docs.console import ROOT

if TYPE_CHECKING:
    import click

REFERENCE = ROOT / "docs/reference"
FIRST_CELL = re.compile(r"^\| `([^`|]+)`", re.MULTILINE)


def keys_of(node: Any) -> set[str]:
    """All keys that a schema names."""
    if isinstance(node, list):
        return set().union(*map(keys_of, node))
    if not isinstance(node, dict):
        return set()
    named = node.get("properties", {})
    inner = [value for key, value in node.items() if key != "properties"]
    return set(named) | keys_of(list(named.values())) | keys_of(inner)


@pytest.mark.parametrize("kind", ["plan", "state", "jobs"])
def test_every_key_of_a_format_is_explained_and_no_other(kind: str) -> None:
    text = (REFERENCE / f"{kind}.md").read_text()
    explained = {name for name in FIRST_CELL.findall(text) if not name.isupper()}  # variables
    assert explained == keys_of(json.loads(schema(kind)))


def words_of(command: click.Command) -> list[str]:
    """Arguments and options of a command, and those of the commands below it."""
    words = [
        word for each in command.params for word in (each.opts if each.opts[0].startswith("-") else [str(each.metavar)])
    ]
    below = command.commands if isinstance(command, TyperGroup) else {}
    return words + [word for name, each in below.items() for word in [f"{command.name} {name}", *words_of(each)]]


def test_every_command_argument_and_option_is_explained() -> None:
    text = "\n".join((REFERENCE / name).read_text() for name in ("commands.md", "service-commands.md"))
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    assert re.findall(r"^## (\w+)$", text, flags=re.MULTILINE) == list(group.commands)
    for name, command in group.commands.items():
        section = re.split(r"^## ", text.split(f"\n## {name}\n")[1], flags=re.MULTILINE)[0]
        words = words_of(command)
        assert words or name == "agent"
        assert [word for word in words if word not in section] == [], name


def test_every_bound_of_an_explanation_is_explained() -> None:
    text = (REFERENCE / "commands.md").read_text()
    told = text.split("\n`bound by` is one of")[1].split("\n\n")[0]
    assert [bound.value for bound in Bound if f"`{bound.value}`" not in told] == []


def test_defaults_of_the_settings_are_those_of_the_code() -> None:
    text = (REFERENCE / "plan.md").read_text()
    for field in fields(PolicySettings):
        default = "false" if field.default is False else f"`{'none' if field.default is None else field.default}`"
        row = next(line for line in text.splitlines() if line.startswith(f"| `{field.name}`"))
        assert row.split("|")[3].strip() == default
