"""`fairhold report usage` against a service that follows the contract."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.live.test_live_commands import fairhold
from tests.client.fake import LATER, NOW

if TYPE_CHECKING:
    from pathlib import Path

    from tests.client.fake import Fake


@pytest.fixture(autouse=True)
def kinds(fake: Fake) -> None:
    fake.kinds = ("own", "borrowed", "own", "lent")
    fake.currency = "CHF"


def test_a_report_is_tables_by_resource(fake: Fake) -> None:
    said = [line.split() for line in fairhold("report", "usage", "--from", NOW, "--by", "user").stdout.splitlines()]
    assert said[0] == ["usage", "from", NOW, "to", LATER + ",", "in", "hours"]
    at = said.index(["gpu", "own", "borrowed", "lent", "lost", "share", "CHF", "user"])
    assert said[at + 1 : at + 3] == [
        ["1.5", "1.5", "0", "0", "0", "75.0", "%", "3.00", "user2"],
        ["1.5", "1.5", "0", "0", "0", "75.0", "%", "3.00", "all"],
    ]
    assert ["gpu", "2", "75.0", "%", "5.0", "%", "20.0", "%", "0.0", "%"] in said
    at = said.index(["dominant", "share", "of", "cluster", "hours", "user"])
    assert said[at + 1 : at + 3] == [["75.0", "%", "gpu", "0.000495", "user2"], ["75.0", "%", "gpu", "0.000495", "all"]]
    assert fake.asked[-1][1].endswith("by=user%2Ckind")
    assert "cost in all" in fairhold("report", "usage", "--from", NOW, "--top", "1").stdout


def test_a_month_is_a_span_of_the_calendar(fake: Fake) -> None:
    fairhold("report", "usage", "--month", "2025-12", "--resource", "gpu")
    assert "from=2025-12-01T00%3A00%3A00Z&to=2026-01-01T00%3A00%3A00Z" in fake.asked[-1][1]
    assert fake.asked[-1][1].endswith("resource=gpu")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--month", "2026-13"), "write it as 2026-01"),
        (("--month", "1969-01"), "write it as 2026-01"),
        (("--month", "2026-01", "--to", NOW), "name a month, or a span"),
        (("--from", LATER, "--to", NOW), "swap them"),
        (("--by", "user,kind"), "leave it out"),
        (("--by", "colour"), "with commas between"),
        (("--format", "pdf"), "write one of table, csv, json, html"),
    ],
)
def test_what_no_report_can_be_of_is_a_wrong_call(fake: Fake, args: tuple[str, ...], said: str) -> None:
    assert said in fairhold("report", "usage", *args, exits=2).stderr
    assert fake.asked == []


def test_a_report_is_data_for_other_programs(fake: Fake, tmp_path: Path) -> None:
    file = tmp_path / "usage.csv"
    fairhold("report", "usage", "--from", NOW, "--by", "user", "--format", "csv", "--output", str(file))
    rows = list(csv.DictReader(io.StringIO(file.read_text())))
    assert [(row["user"], row["of"], row["resource"], row["own_hours"]) for row in rows][:2] == [
        ("user2", "", "gpu", "1.5"),
        ("", "all", "gpu", "1.5"),
    ]
    assert rows[0]["currency"] == "CHF"
    assert (rows[0]["dominant_share"], rows[0]["dominant_resource"], rows[0]["dominant_hours"]) == (
        "0.75",
        "gpu",
        "0.000495",
    )
    document = json.loads(fairhold("report", "usage", "--from", NOW, "--by", "user", "--format", "json").stdout)
    assert [row["cost"] for row in document["rows"] if row["resource"] == "gpu"] == ["3", "3"]
    assert document["utilisation"][0]["idle"] == "0.2"
    fake.prefix = "=1+"
    named = fairhold("report", "usage", "--from", NOW, "--by", "user", "--format", "csv").stdout
    assert "'=1+user2" in named


def test_a_page_has_plots_and_needs_no_network(fake: Fake, tmp_path: Path) -> None:
    pytest.importorskip("altair")
    fake.prefix = "<b>"
    file = tmp_path / "usage.html"
    fairhold("report", "usage", "--from", NOW, "--by", "user", "--format", "html", "--output", str(file))
    page = file.read_text()
    assert page.count("<svg") >= 4
    assert "Utilisation over time" in page
    assert "Dominant share" in page
    assert "<script" not in page
    assert "<b>user2" not in page
    assert "&lt;b&gt;user2" in page
    assert fake.asked[-1][1].endswith("by=consumer%2Chour%2Ckind")
