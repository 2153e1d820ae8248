"""The reference names every key of the formats, with its default, every command and every option."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from fairhold.cli.commands import app
from fairhold.cycle.explain import Bound
from fairhold.cycle.settings_format import word
from fairhold.ledger.queue_terms import queue_terms_of
from fairhold.model.plan import ConsumerSettings, PolicySettings
from fairhold.model.queue import DEFAULT_PRIORITY, FairShareSettings
from fairhold.model.setting import Kind
from fairhold.planio.plan import parse_plan
from fairhold.planio.schema import schema
from fairhold.policies.fair_share.policy import OF_QUEUES
from fairhold.policies.registry import POLICIES
from fairhold.units import SECOND, UNLIMITED
from tests.docs.console import ROOT
from tests.planio.support import QUEUES, swapped

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


PAGES_OF_COMMANDS = ("commands.md", "scenario.md", "record.md", "service-commands.md", "workload.md", "import.md")


def test_every_command_argument_and_option_is_explained() -> None:
    text = "\n".join((REFERENCE / name).read_text() for name in PAGES_OF_COMMANDS)
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


def cells_of(place: str) -> dict[str, list[str]]:
    """Key → type, default and meaning, as the reference has them after some heading."""
    part = (REFERENCE / "plan.md").read_text().split(f"\n### {place}\n")[1].split("\n### ")[0]
    rows = (line.strip("| ").split(" | ") for line in part.splitlines() if line.startswith("| `"))
    return {key.strip("`"): cells for key, *cells in rows}


def default_of(key: str, place: str) -> str:
    """What the reference says of a key that stands after some heading."""
    return cells_of(place)[key][1]


SETTINGS = {"Settings of the policy": "of_entry", "Settings of a consumer": "of_consumer"}


@pytest.mark.parametrize("place", SETTINGS)
def test_settings_are_those_that_policies_read_and_take_what_is_said(place: str) -> None:
    told = cells_of(place)
    schemas = {policy.name: getattr(policy, SETTINGS[place]) for policy in POLICIES.values()}
    settings = [setting for schema in schemas.values() for setting in schema]
    assert set(told) == {setting.key for setting in settings}
    for setting in settings:
        kind, _, meaning = told[setting.key]
        words = [f"`{word}`" for word in setting.words] + (["`none`"] if setting.has_none else [])
        assert [word for word in words if word not in kind] == [], setting.key
        assert (setting.kind is Kind.FLAG) == (kind == "true or false"), setting.key
        only = re.match(r"`([a-z_]+)` only", meaning)
        readers = [name for name, schema in schemas.items() if setting in schema]
        assert only is None or readers == [only[1]], setting.key


def test_defaults_of_the_settings_are_those_of_the_code() -> None:
    for setting in {each.key: each for policy in POLICIES.values() for each in policy.of_entry}.values():
        value = word(setting, setting.default, ())
        default = {"False": "false", "None": "`none`", "0s": "`0`"}.get(str(value), f"`{value}`")
        assert default_of(setting.key, "Settings of the policy") == default, setting.key


def test_defaults_of_settings_are_those_of_the_fields_that_keep_them() -> None:
    for policy in POLICIES.values():
        noun = PolicySettings(fair_share=FairShareSettings())
        assert [each.key for each in policy.of_entry if each.of(noun) != each.default] == []
        assert [each.key for each in policy.of_consumer if each.of(ConsumerSettings()) != each.default] == []


def test_defaults_of_a_queue_are_those_of_the_code() -> None:
    stated = {
        "deserved": "0 of what is left out",
        "limit": "`none`",
        "over_quota_weight": "1 of what is left out",
        "priority": str(DEFAULT_PRIORITY),
        "reclaim_min_runtime": "`min_runtime`, else the parent's, else 0",
        "preempt_min_runtime": "`min_runtime`, else the parent's, else 0",
        "preemption_delay": "the parent's, else 0",
    }
    assert {key: default_of(key, "Settings of a consumer") for key in (each.key for each in OF_QUEUES)} == stated
    plan = parse_plan(swapped(QUEUES, "/A: {deserved: {cpu: 4, gpu: unlimited}, limit: {cpu: 9}", "/A: {}  #"), "f")[0]
    terms = queue_terms_of(plan, plan.policies[0])
    row = plan.tree.rows["/A"]
    assert [column[row] for column in (*terms.deserved, *terms.limit)] == [0, 0, UNLIMITED, UNLIMITED]
    assert [column[row] for column in terms.weight] == list(terms.weight_of_one)
    assert terms.priority[row] == DEFAULT_PRIORITY
    assert terms.reclaim_min_runtime[row] == terms.preempt_min_runtime[row] == terms.delay[row] == 0
    below = plan.tree.rows["/B"]  # says `min_runtime` and the other two
    assert (terms.reclaim_min_runtime[below], terms.preempt_min_runtime[below]) == (60 * SECOND, 30 * SECOND)
