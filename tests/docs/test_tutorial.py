"""Every command that a page shows prints what the page says, and every file that it shows is that file.

`FAIRHOLD_UPDATE_DOCS=1 pytest tests/docs` rewrites the pages instead; the difference is to be read before it is kept.
"""

import shutil
from pathlib import Path

import pytest

from tests.docs.console import (
    IS_UPDATE,
    PAGES,
    ROOT,
    Command,
    blocks_of,
    files_of,
    folder_of,
    matches,
    name_of,
    run,
    updated,
    with_files,
)

WITH_COMMANDS = [page for page in PAGES if blocks_of(page.read_text())]


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=name_of)
def test_commands_print_what_the_page_says(page: Path, tmp_path: Path) -> None:
    text = page.read_text()
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    blocks = blocks_of(text)
    commands = [command for block in blocks for command in block]
    outputs = run(commands, tmp_path / folder_of(text))
    if IS_UPDATE:
        shown = [output for command, output in zip(commands, outputs, strict=True) if not command.is_hidden]
        page.write_text(updated(text, shown))
        return
    for command, output in zip(commands, outputs, strict=True):
        if not matches(command.expected, output):
            assert output == command.expected, f"$ {command.text}"


@pytest.mark.parametrize("page", [page for page in PAGES if files_of(page.read_text())], ids=name_of)
def test_files_shown_are_those_of_the_examples(page: Path) -> None:
    text = page.read_text()
    if IS_UPDATE:
        page.write_text(with_files(text))
    else:
        assert with_files(text) == text


def test_the_tutorial_shows_every_command() -> None:
    blocks = blocks_of((ROOT / "docs/tutorial.md").read_text())
    shown = {command.text.split()[1] for block in blocks for command in block if command.text.startswith("fairhold ")}
    assert shown >= {"check", "quota", "cycle", "explain", "verify", "diff", "run"}


def test_the_tutorial_of_the_service_shows_what_is_used_every_day() -> None:
    blocks = blocks_of((ROOT / "docs/tutorial-service.md").read_text())
    shown = {command.text.split()[1] for block in blocks for command in block if command.text.startswith("fairhold ")}
    assert shown >= {"submit", "jobs", "show", "logs", "top", "explain", "plan", "usage", "cancel", "stop"}


def test_outputs_are_compared_exactly_but_for_dots_and_times() -> None:
    assert matches("a\nb\n", "a\nb\n")
    assert not matches("a\nb\n", "a\nc\n")
    assert not matches("a\n", "a\nb\n")
    assert not matches("", "a\n")
    assert matches("a\n...\nd\n", "a\nb\nc\nd\n")
    assert matches("out in .../x\n", "out in /a/b/x\n")
    assert matches("   0.502s  started\n", "  12.001s  started\n")
    assert not matches("10s\n", "11s\n")


def test_what_differs_every_time_stands_for_its_kind() -> None:
    assert matches("at        took\n16:01:02  1.0s\n", "at        took\n09:30:00  11.0s\n")
    assert not matches("16:01:02  done\n", "16:01:02  failed\n")
    assert matches("1.000001  own\n", "  12.500000  own\n")
    assert matches("until 2026-01-05T09:00:00.123456Z\n", "until 2027-01-05T09:00:00.1Z\n")
    assert matches("deadline  to\n09:00:11  A\n", "deadline             to\n2026-11-24 00:00:01  A\n")  # of tomorrow
    assert not matches("until 2026-01-05T09:00:00Z\n", "until 2026-01-05T09:00:01Z\n")


def test_a_hidden_command_runs_where_it_stands_and_is_not_shown() -> None:
    page = "```console\n$ a\n```\n\n<!-- $ b -->\n\n```console\n$ c\nold\n```\n"
    assert [command.text for block in blocks_of(page) for command in block] == ["a", "b", "c"]
    assert updated(page, ["", "new\n"]) == page.replace("old", "new")


def test_a_page_is_rewritten_only_where_it_differs() -> None:
    page = "a\n```console\n$ x\n...\n$ y\nold\n```\nb\n"
    assert blocks_of(page) == [[Command("x", "...\n"), Command("y", "old\n")]]
    assert updated(page, ["1\n2\n", "new\n"]) == "a\n```console\n$ x\n...\n$ y\nnew\n```\nb\n"
