"""Jobs in the order of a column, over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fairhold.runtime.live.views import jobs as view

if TYPE_CHECKING:
    from tests.service.support import Bank

Row = dict[str, Any]


def filled(bank: Bank) -> list[Row]:
    """Jobs that wait, run, are held and are over, of several people."""
    for user, name, priority, count in (
        ("bob", "b", 3, 1),
        ("ann", "é", -1, 4),
        ("ann", "B", 3, 2),
        ("eve", "", 0, 1),
        ("bob", "a", 0, 9),
    ):
        bank.submit(user=user, name=name, priority=priority, count=count)
        bank.submit(user=user, name=name, priority=priority, count=count, hold=True, consumer="/Trading/FX")
    for job in (2, 3, 5):
        bank.post(f"/jobs/{job}/cancel")
    rows: list[Row] = bank.get("/jobs?all=1")["jobs"]
    assert {row["state"] for row in rows} >= {"cancelled", "held"}
    return rows


def value(row: Row, column: str) -> object:
    if column in {"tasks", "running", "waiting"}:
        return 0 if row["ended"] and column != "tasks" else row["tasks"][column]
    if column == "ended":
        return row["ended"] or "9999"
    return int(row["job"]) if column == "job" else row[column]


def paged(bank: Bank, query: str, limit: int) -> list[str]:
    seen: list[str] = []
    cursor = ""
    while cursor is not None:
        page = bank.get(f"/jobs?limit={limit}&cursor={cursor}&{query}")
        assert len(page["jobs"]) <= limit
        seen += [each["job"] for each in page["jobs"]]
        cursor = page["next"]
    return seen


@pytest.mark.parametrize("is_down", [False, True])
@pytest.mark.parametrize(
    "column",
    ["job", "name", "consumer", "user", "state", "priority", "tasks", "running", "waiting", "submitted", "ended"],
)
def test_every_column_orders_live_and_finished_jobs_in_pages(
    bank: Bank, column: str, *, is_down: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = filled(bank)
    monkeypatch.setattr(view, "MOST_LOOKS", 3)  # the desk looks at few at a time
    expected = sorted(rows, key=lambda row: (value(row, column), int(row["job"])), reverse=is_down)
    names = [row["job"] for row in expected]
    sort = f"sort={'-' if is_down else ''}{column}"
    assert paged(bank, f"{sort}&all=1", 1000) == names
    assert paged(bank, f"{sort}&all=1", 2) == names
    assert paged(bank, sort, 3) == [row["job"] for row in expected if not row["ended"]]
    assert paged(bank, f"{sort}&state=cancelled", 1) == [row["job"] for row in expected if row["ended"]]
    assert paged(bank, f"{sort}&all=1&user=ann&text=b", 1) == [
        row["job"] for row in expected if row["user"] == "ann" and "b" in row["name"].lower()
    ]


def test_a_page_goes_on_behind_a_row_that_has_gone(bank: Bank) -> None:
    filled(bank)
    first = bank.get("/jobs?sort=-priority&limit=2")
    bank.post(f"/jobs/{first['jobs'][-1]['job']}/cancel")
    rest = bank.get(f"/jobs?sort=-priority&cursor={first['next']}")
    found = [each["job"] for each in [*first["jobs"], *rest["jobs"]]]
    assert len(found) == len(set(found)) == 7


def test_a_cursor_of_another_order_is_refused(bank: Bank) -> None:
    filled(bank)
    cursor = bank.get("/jobs?sort=user&limit=2")["next"]
    for query in (
        f"sort=-user&cursor={cursor}",
        f"sort=name&cursor={cursor}",
        "sort=user&cursor=live-4",
        "sort=job&cursor=sort-x",
    ):
        assert bank.get(f"/jobs?{query}", 422)["code"] == "bad-cursor"
    assert bank.get("/jobs?sort=colour", 422)["code"] == "unknown-word"
