"""What is drawn where there is little room, and words for what went wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairhold.cli.legend import legend
from fairhold.cli.live.drawing import plain, screen
from fairhold.cli.live.endings import how_ended
from fairhold.cli.live.names import meant
from fairhold.cli.live.top import _KEY, _lines
from tests.client.fake import Document, consumer

LEAVES = [f"/Trading/Desk{at}" for at in range(20)]


def cluster(*, waiting: int = 3) -> Document:
    rows = [consumer("/Trading", leaf=False), *(consumer(path, owned=2, allocated=3, borrowed=1, waiting=waiting)
            for path in LEAVES)]  # fmt: skip
    paused = {"grants": False, "reclaims": True}
    return {"resource_groups": {"compute": {"slots": 99, "idle": 9, "paused": paused, "consumers": rows}}}


def test_a_long_tree_is_scrolled_to_its_end_and_no_further() -> None:
    top, most = screen(cluster(), "", 80, 12)
    lines = top.plain.split("\n")
    assert lines[0] == "compute  99 slots, 9 idle; no reclaims: paused"
    assert len(lines) == 12 - 1
    assert most == 23 - 10
    assert f"↑↓ {most} more" in "\n".join(lines)
    end, _ = screen(cluster(), "", 80, 12, 1000)
    assert end.plain.split("\n")[-2].split()[0] == "Desk19"
    assert "the service is away" in screen(cluster(), "the service is away", 80, 40)[0].plain


def test_owned_is_scaled_here_and_what_the_plan_says_in_tables_of_files() -> None:
    assert "\nowned: guaranteed by the plan, scaled as the policy says; " in plain(cluster(), 100)
    assert legend(["owned"]) == "owned: guaranteed by the plan"


def test_the_reference_shows_the_legend_that_is_printed() -> None:
    page = Path(__file__).parents[3] / "docs/reference/service-commands.md"
    printed = plain(cluster(), 100).rpartition("\n\n")[2]
    assert f"\n\n{printed}\n```\n" in page.read_text()


def amounts(owned: Document, allocated: Document, **others: Document) -> Document:
    names = ("owned", "allocated", "borrowed", "lent", "waiting", "reclaiming", "entitled")
    return {"amounts": {name: {} for name in names} | {"owned": owned, "allocated": allocated} | others}


def pools(**more: Document) -> Document:
    row = consumer("/Trading", allocated=9) | amounts({"cpu": 64, "gpu": 4}, {"cpu": 0.5, "gpu": 4}, **more)
    resources = {"cpu": {"total": 64, "used": 0.5}, "gpu": {"total": 4, "used": 4}}
    group = {"slots": 4, "idle": 0, "resources": resources, "consumers": [row]}
    return {"resource_groups": {"gpu": group}}


def test_resources_are_told_by_amounts_and_never_by_units() -> None:
    lines = plain(pools(waiting={"gpu": 2}), 120).splitlines()
    assert lines[0] == "gpu  cpu 0.5/64, gpu 4/4 used"
    assert " ".join(lines[2].split()) == "Trading cpu 64, gpu 4 · cpu 0.5, gpu 4 · · gpu 2 ████··"
    assert "entitled: quota or fair share now" in "\n".join(lines)


def test_where_there_is_little_room_columns_show_one_resource() -> None:
    lines = plain(pools(waiting={"gpu": 2}), 80).splitlines()
    assert lines[0] == "gpu  cpu 0.5/64, gpu 4/4 used; columns show gpu"
    assert " ".join(lines[2].split()) == "Trading 4 · 4 · · 2 ████··"
    assert all(len(line) <= 80 for line in lines)


def test_without_gpus_it_is_the_resource_in_most_demand() -> None:
    document = pools()
    (group,) = document["resource_groups"].values()
    group["resources"] = {"cpu": {"total": 64, "used": 0.5}, "memory": {"total": 10, "used": 9.5}}
    assert "columns show memory" in plain(document, 80).splitlines()[0]


def test_keys_that_come_together_count_each() -> None:
    keys = _KEY.findall(b"\x1b[B\x1b[Bj\x1b[6~\x1bOA")
    assert [_lines(key, 20) for key in keys] == [1, 1, 1, 10, -1]
    assert _KEY.findall(b"\x1b") == [b"\x1b"]


@pytest.mark.parametrize("room", [32, 44, 60, 100])
def test_bars_stay_where_columns_go(room: int) -> None:
    lines = plain(cluster(waiting=10_000), room).splitlines()
    assert all(len(line) <= room for line in lines if line.startswith("  Desk"))
    assert "██▓" in lines[3]


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        ({"reason": "failed", "code": 3}, "exit code 3"),
        ({"reason": "failed", "signal": 11}, "signal 11 (SIGSEGV)"),
        ({"reason": "memory", "signal": 9, "detail": "it used more than 20 MiB"}, "memory: it used more than 20 MiB"),
        ({"reason": "host_lost", "detail": ""}, "host_lost"),
        ({"reason": "supervisor_lost", "detail": "it was killed"}, "supervisor_lost: it was killed"),
    ],
)
def test_endings_are_told(attempt: Document, words: str) -> None:
    assert how_ended(attempt) == words


@pytest.mark.parametrize(
    ("said", "path"),
    [
        ("Trading/Desk7", "/Trading/Desk7"),
        ("desk7", "/Trading/Desk7"),
        ("/Tradin/Desk19", "/Trading/Desk19"),
        ("x", ""),
    ],
)
def test_the_path_that_was_meant(said: str, path: str) -> None:
    assert meant(said, LEAVES) == path
