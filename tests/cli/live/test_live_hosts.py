"""The commands on hosts and groups as a user meets them, against a service that follows the contract."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fairhold.cli.live.machines import hosts_in_words
from tests.cli.live.test_live_commands import fairhold
from tests.client.fake import LATER

if TYPE_CHECKING:
    from typing import Any

    from tests.client.fake import Fake


def test_hosts_are_closed_drained_and_opened(fake: Fake) -> None:
    summary, gap, *lines = fairhold("hosts").stdout.splitlines()
    assert (summary, gap) == ("1 of 2 hosts is up; g2 is closed.", "")
    assert lines[2].split()[:2] == ["g2", "closed"]
    assert lines[2].endswith("starts fail")
    assert fairhold("hosts", "close", "g1", "--reason", "new disk").stdout == (
        "host g1: closed (new disk), 2 running\n"
    )
    assert fake.asked[-1][1:] == ("/v1/hosts/g1/close", {"reason": "new disk"})
    assert fairhold("hosts", "drain", "g1", "--until", LATER).stdout.startswith("host g1: draining (drained)")
    assert fake.asked[-1][2] == {"drain": True, "until": LATER}
    fairhold("hosts", "drain", "g1", "--reason", "gone", "--by", LATER)
    assert fake.asked[-1][2] == {"reason": "gone", "drain": True, "by": LATER}
    assert fairhold("hosts", "open", "g1").stdout.startswith("host g1: up")
    assert len(json.loads(fairhold("hosts", "--json").stdout)["hosts"]) == 2
    assert "reason" in fairhold("hosts", "close", "g1", exits=2).stderr


def test_limits_that_the_kernel_does_not_keep_are_shown(fake: Fake) -> None:
    fake.enforced = {"g1": {"memory": "sampled", "cpu": "none"}, "g2": {"memory": "kernel", "cpu": "kernel"}}
    *_, head, first, second = fairhold("hosts").stdout.splitlines()
    assert head.split()[-2:] == ["limits", "reason"]
    assert "memory:sampled cpu:none" in first
    assert second.split()[-3:] == ["-", "starts", "fail"]
    fake.enforced = {"g1": {"memory": "kernel"}}
    assert "limits" not in fairhold("hosts").stdout


def test_groups_are_paused_and_resumed(fake: Fake) -> None:
    assert fairhold("pause", "compute", "--reclaims").stdout == "compute: reclaims paused\n"
    assert fake.asked[-1][2] == {"grants": False, "reclaims": True}
    assert fairhold("pause").stdout == "compute: grants and reclaims paused\n"
    assert fairhold("resume", "--grants").stdout == "compute: goes on\n"


def host(name: str, state: str = "up", **others: Any) -> dict[str, Any]:
    return {"host": name, "state": state, "resource_groups": {"gpu": 8}, **others}


def rows(*hosts: dict[str, Any], is_full: bool = False) -> list[list[str]]:
    """What is printed, by words."""
    return [line.split() for line in hosts_in_words(hosts, is_full=is_full).splitlines()]


def test_hosts_that_are_alike_are_one_row_under_how_many_are_up() -> None:
    hosts = [host(f"g{at:02}", "up" if at <= 8 else "unseen", running=2 * (at in {3, 5})) for at in range(1, 41)]
    told = hosts_in_words(hosts, is_full=False).splitlines()
    assert told[:2] == ["8 of 40 hosts are up; g[09-40] were never seen.", ""]
    assert [line.split()[:4] for line in told[2:]] == [
        ["host", "hosts", "state", "slots"],
        ["g[01-02]", "2", "up", "gpu:8"],
        ["g03", "1", "up", "gpu:8"],
        ["g04", "1", "up", "gpu:8"],
        ["g05", "1", "up", "gpu:8"],
        ["g[06-08]", "3", "up", "gpu:8"],
        ["g[09-40]", "32", "never", "seen"],
    ]
    full = hosts_in_words(hosts, is_full=True).splitlines()
    assert full[0] == told[0]
    assert [line.split()[0] for line in full[3:]] == [each["host"] for each in hosts]


def test_only_what_is_alike_in_all_that_is_shown_is_one_row() -> None:
    """Group, amounts, why and since when, labels, what starts; names that differ in more than a number."""
    since = {"silent_since": "2026-01-05T09:00:00Z"}
    kinds: list[dict[str, Any]] = [
        {"state": "closed", "reason": "dust"},
        {"state": "closed", "reason": "disk"},
        {"state": "silent", **since},
        {"state": "silent", "silent_since": "2026-01-05T09:00:01Z"},
        {"state": "down"},
        {"state": "down", "resource_groups": {"cpu": 8}},
        {"state": "down", "resource_groups": {"gpu": 4}},
        {"labels": ["zone=a"]},
        {"labels": ["zone=b"]},
        {"labels": ["zone=b"], "starting": 1},
        {"state": "unknown", "resource_groups": {}},
    ]
    pairs = [host(f"h{2 * at + more}", **kind) for at, kind in enumerate(kinds) for more in (0, 1)]
    names = [row[0] for row in rows(*pairs) if row and row[0].startswith("h")][1:]
    folded = [f"h[{2 * at}-{2 * at + 1}]" for at in range(len(kinds))]
    assert names == [*folded[:9], "h18", "h19", folded[10]]
    assert [row[:2] for row in rows(host("a1"), host("b1"), host("a2"))[-2:]] == [["a[1-2]", "2"], ["b1", "1"]]


def test_where_every_host_is_up_and_has_a_row_the_table_is_all() -> None:
    assert [row[0] for row in rows(host("a1"), host("b1", running=1))] == ["host", "a1", "b1"]
    assert hosts_in_words([host("a1"), host("a2")], is_full=False).startswith("2 of 2 hosts are up.\n\n")
    assert rows(host("a1"), host("a2"), is_full=True)[0][0] == "host"
    lost = host("a1", "gone", gone_at="2020-01-05T09:00:00Z")
    told = hosts_in_words([lost, host("a2", "draining"), host("z", "unknown")], is_full=False)
    assert told.startswith("0 of 2 hosts are up; a1 is gone since 2020-01-0")
    own = host("-") | {"state": "connecting"}
    assert hosts_in_words([own], is_full=False).startswith("0 of 1 hosts are up; the service's own is connecting.")
    assert "; a2 is draining.\n\n" in told
