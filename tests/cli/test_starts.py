"""What a command imports: a shell waits for every completion, and a start is mostly imports."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from fairhold.cli.commands import commands

PLAN, STATE = "examples/tutorial/plan.yaml", "examples/tutorial/state.yaml"
PROGRAM = """
import sys
before = set(sys.modules)
sys.argv[0] = "fairhold"
from fairhold.cli.main import main
try:
    main()
finally:
    print(*sys.modules.keys() - before, file=sys.stderr)
"""
FROM_OTHERS = {"annotated_doc", "click", "shellingham", "typer", "typing_extensions"}
"""What Typer itself imports."""
OF_NO_USE = {"asyncio", "concurrent", "http", "logging", "multiprocessing", "rich", "socket", "sqlite3", "ssl", "yaml"}


def imported(*args: str, **environment: str) -> set[str]:
    """Every module that a call of the command imports."""
    command = [sys.executable, "-c", PROGRAM, *args]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)
    assert done.stdout
    return set(done.stderr.split())


def packages(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


BASH = {"_FAIRHOLD_COMPLETE": "complete_bash", "COMP_CWORD": "1"}
COMPLETIONS = [
    BASH | {"COMP_WORDS": "fairhold qu"},
    BASH | {"COMP_WORDS": "fairhold submit --l", "COMP_CWORD": "2"},
    {"_FAIRHOLD_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "fairhold qu"},
    {
        "_FAIRHOLD_COMPLETE": "complete_fish",
        "_TYPER_COMPLETE_ARGS": "fairhold qu",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    },
]


@pytest.mark.parametrize("environment", COMPLETIONS, ids=lambda each: each["_FAIRHOLD_COMPLETE"])
def test_a_completion_imports_nothing_but_the_declarations_of_commands(environment: dict[str, str]) -> None:
    found = imported(**environment)
    ours = {name for name in found if name.startswith("fairhold")}
    declarations = {name for name in ours if name.startswith("fairhold.cli") and name.endswith(("command", "commands"))}
    around = {"arguments", "live", "live.careful", "live.options", "live.register", "main", "ondemand", "writing"}
    below = {"fairhold", "fairhold.cli", "fairhold.errors", "fairhold.runtime", "fairhold.runtime.outlet"}
    assert ours == declarations | {f"fairhold.cli.{name}" for name in around} | below
    assert packages(found) - {"fairhold"} <= sys.stdlib_module_names | FROM_OTHERS
    assert not packages(found) & OF_NO_USE


def test_a_command_on_files_imports_neither_the_live_service_nor_what_draws() -> None:
    found = imported("quota", PLAN, STATE)
    assert not packages(found) & (OF_NO_USE - {"yaml"})
    assert not {
        name for name in found if name.startswith(("fairhold.client", "fairhold.runtime.live", "fairhold.store"))
    }


def test_a_command_of_the_live_service_imports_none_of_the_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRHOLD_SERVICE", "http://127.0.0.1:1")
    found = imported("jobs", "--help")
    assert not {name for name in found if name.startswith(("fairhold.cycle", "fairhold.planio", "fairhold.rules"))}


def test_only_the_command_that_is_called_is_made() -> None:
    program = (
        "from fairhold.cli.commands import app; from typer.main import get_command; group = get_command(app); "
        "group(['quota', '--help'], standalone_mode=False); print(*group.commands._made)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == "quota"


def test_every_command_stands_under_a_heading_of_the_help() -> None:
    groups = {command.rich_help_panel for command in commands.registered_commands}
    groups |= {group.rich_help_panel for group in commands.registered_groups}
    assert groups == {"Plans and states, as files", "Simulation", "The live service"}
