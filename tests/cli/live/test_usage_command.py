"""`fairhold usage` against a service that follows the contract."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.cli.live.test_live_commands import fairhold
from tests.client.fake import LATER, NOW

if TYPE_CHECKING:
    from tests.client.fake import Fake


def test_usage_of_slots_and_of_resources_is_told_apart(fake: Fake) -> None:
    lines = fairhold("usage", "--from", NOW, "--by", "user,kind").stdout.splitlines()
    assert [line.split() for line in lines] == [
        ["slot-hours", "from", NOW, "to", LATER],
        ["slots", "kind", "user"],
        ["0.003472", "kind0", "user0"],
        ["1", "kind1", "user1"],
        [],
        ["resource-hours", "from", NOW, "to", LATER],
        ["gpu", "memory", "GiB", "dominant", "kind", "user"],
        ["1.5", "1", "42.1", "%", "gpu", "kind2", "user2"],
        [],
        ["dominant:", "largest", "part", "that", "it", "held", "of", "all", "there", "is", "of", "a", "resource"],
    ]
    assert fake.asked[0][1].endswith("by=user%2Ckind")
    assert json.loads(fairhold("usage", "--json").stdout)["rows"][0]["resource_seconds"] == "12.5"
    assert "with commas between" in fairhold("usage", "--by", "colour", exits=2).stderr


def test_usage_by_labels_and_by_days_is_asked_for(fake: Fake) -> None:
    fairhold("usage", "--by", "label:team,day,kind")
    assert fake.asked[-1][1].endswith("by=label%3Ateam%2Cday%2Ckind")
    for wrong in ("label:", "label:team,label:team", "hour,hours"):
        assert "label:NAME" in fairhold("usage", "--by", wrong, exits=2).stderr


def test_usage_says_what_it_cost_where_there_are_prices(fake: Fake) -> None:
    fake.currency = "CHF"
    lines = [line.split() for line in fairhold("usage", "--by", "user,kind").stdout.splitlines()]
    assert lines[1:4] == [
        ["slots", "cost", "CHF", "kind", "user"],
        ["0.003472", "1.23", "kind0", "user0"],
        ["1", "0.00", "kind1", "user1"],
    ]
    assert ["gpu", "memory", "GiB", "dominant", "cost", "CHF", "kind", "user"] in lines
    assert ["cost", "in", "all:", "-4.23", "CHF;", "without", "a", "price:", "memory"] in lines


def test_usage_says_why_lent_is_not_borrowed(fake: Fake) -> None:
    fake.unbalanced = "nobody looked"
    assert "lent and borrowed gpu differ: nobody looked" in fairhold("usage").stdout


def test_usage_of_one_resource_is_asked_for(fake: Fake) -> None:
    said = fairhold("usage", "--resource", "gpu").stdout
    assert "slot-hours" not in said
    assert said.splitlines()[1].split() == ["gpu", "dominant", "kind", "consumer"]
    fairhold("usage", "--resource", "gpu", "--resource", "memory")
    assert fake.asked[-1][1].endswith("resource=gpu%2Cmemory")


def test_usage_of_a_span_that_ends_before_it_begins_is_a_wrong_call(fake: Fake) -> None:
    early = "2026-01-05T10:00:00+02:00"  # 08:00 UTC
    assert "--to is before --from" in fairhold("usage", "--from", NOW, "--to", early, exits=2).stderr
    assert fake.asked == []
    fairhold("usage", "--from", early, "--to", NOW)


def test_usage_says_the_instants_for_which_it_is_exact(fake: Fake) -> None:
    fake.begin = "2026-01-05T08:00:00Z"  # the border of a span, farther back than the log goes
    assert fairhold("usage", "--from", NOW).stdout.startswith(f"slot-hours from {fake.begin} to ")
    assert fairhold("usage").stdout.startswith("slot-hours from the start to ")
