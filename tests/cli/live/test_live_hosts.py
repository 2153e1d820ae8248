"""The commands on hosts and groups as a user meets them, against a service that follows the contract."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.cli.live.test_live_commands import fairhold
from tests.client.fake import LATER

if TYPE_CHECKING:
    from tests.client.fake import Fake


def test_hosts_are_closed_drained_and_opened(fake: Fake) -> None:
    lines = fairhold("hosts").stdout.splitlines()
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
    head, first, second = fairhold("hosts").stdout.splitlines()
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
