"""What a change of plan comes to: one line, equal windows and hosts once, and why the rest stays."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from hypothesis import given

from fairhold.cli.differing import Look, diff_text, print_diff
from fairhold.cli.plan_changes import first_line
from fairhold.cycle.diff import diff
from fairhold.cycle.document import run_cycle
from fairhold.cycle.plan_diff import changes
from fairhold.cycle.pooled.carrying import with_owned
from fairhold.cycle.summary import Sides, summary
from tests.examples import FEWER
from tests.pools.strategies import read
from tests.pools.test_diff import pairs

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

Document = dict[str, Any]
NOW = "2026-01-05T09:00:00Z"


def queues(bio: int, chem: int = 20) -> Document:
    deserved = {"bio": bio, "chem": chem, "phys": 4}
    return {
        "fairhold": 1,
        "resources": {"gpu": {}},
        "resource_groups": {"train": {"hosts": [{"name": "g[01-20]", "gpu": 2}]}},
        "consumers": {name: {"reclaim_grace": "30s"} for name in deserved},
        "policies": [
            {
                "resource_groups": ["train"],
                "policy": "fair_share",
                "consumers": {f"/{name}": {"deserved": {"gpu": amount}} for name, amount in deserved.items()},
            }
        ],
    }


def queue_state(**wanted: tuple[int, int]) -> Document:
    """Name → GPUs that it wants and holds, on hosts of its own."""
    hosts = iter(range(1, 21))
    requests, allocations = [], []
    for name, (count, held) in wanted.items():
        requests.append({"id": name, "consumer": f"/{name}", "unit": {"gpu": 1}, "count": count})
        for at in range(0, held, 2):
            row = {"request": name, "host": f"g{next(hosts):02}", "units": min(2, held - at)}
            allocations.append(row | {"started": "2026-01-05T08:00:00Z"})
    return {"fairhold_state": 1, "now": NOW, "requests": requests, "allocations": allocations}


class Compared:
    """Two plans compared on a state, as the command prints it."""

    def __init__(self, place: Path, capsys: pytest.CaptureFixture[str], *documents: Document) -> None:
        self._paths = [place / name for name in ("old.json", "new.json", "state.json")]
        for path, document in zip(self._paths, documents, strict=True):
            path.write_text(json.dumps(document))
        self._capsys = capsys
        self.text = self._printed()
        self.line = self.text.splitlines()[0]
        self.document: Document = json.loads(self._printed(as_json=True))
        self.summary: Document = self.document["summary"]

    def _printed(self, *, as_json: bool = False, is_full: bool = False) -> str:
        old, new, state = self._paths
        print_diff(old, new, state, Look("1d"), as_json=as_json, is_full=is_full)
        return self._capsys.readouterr().out

    def full(self) -> str:
        return self._printed(is_full=True)


def test_ten_more_for_one_who_waits_where_some_stand_idle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state = queue_state(bio=(14, 4), chem=(20, 20), phys=(4, 4))
    found = Compared(tmp_path, capsys, queues(4), queues(14), state)
    assert found.line == (
        "1 value changed: /bio deserved +10 gpu. Nothing is stopped: 12 gpu are idle, and the next cycle grants"
        " 10 units to /bio; nobody waits longer."
    )
    assert found.summary["nothing_taken"] == {"reason": "idle", "idle": {"gpu": 12}, "granted": {"/bio": 10}}
    assert "- /chem (20 gpu), /phys (4 gpu) keep theirs: they ask for no more than they have" in found.text


def test_ten_more_for_one_who_wants_no_more_changes_nothing_and_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = Compared(tmp_path, capsys, queues(4), queues(14), queue_state(bio=(4, 4), chem=(20, 20)))
    assert "Nothing is stopped: no consumer asks for more than it has; nobody waits longer." in found.line
    assert "- /bio keeps 4 gpu though its values change: it asks for no more than it has\n" in found.text
    assert "- /chem keeps 20 gpu: it asks for no more than it has\n" in found.text
    assert [(row["consumer"], row["changed"]) for row in found.summary["kept"]] == [("/bio", True), ("/chem", False)]


def test_ten_more_for_one_are_taken_from_who_has_more_than_it_deserves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = queue_state(bio=(40, 4), chem=(36, 36))
    found = Compared(tmp_path, capsys, queues(4, 4), queues(14, 4), state)
    stopped = found.document["over_time"]["alone"]["units"]
    assert stopped > 0
    assert re.fullmatch(
        rf"1 value changed: /bio deserved \+10 gpu\. {stopped} units stopped by 2026-01-05T09:00:30Z, "
        r"\d+\.\d gpu-hours lost; /chem waits longer\.",
        found.line,
    )
    (row,) = (line for line in found.text.splitlines() if line.startswith("/chem ") and " /bio " in line)
    hosts = {each["host"] for each in found.document["over_time"]["stops"]}
    assert ("g[" in row) == (len(hosts) > 1)
    assert "task" not in found.text.split("Stopped only by the new plan:\n")[1].splitlines()[0]
    assert len(found.full().splitlines()) > len(found.text.splitlines())


def slots(*owned: int, windows: tuple[str, ...] = ("Mon-Fri 08:00-18:00", "Sat 08:00-18:00", "")) -> Document:
    """A plan with one entry a window; /A owns so many in each."""
    entries = [
        {
            "resource_groups": ["c"],
            "policy": "hybrid",
            "consumers": {"/A": {"owned": amount}, "/B": {"owned": 10 - amount}},
        }
        | ({"window": window} if window else {})
        for amount, window in zip(owned, windows, strict=True)
    ]
    return {
        "fairhold": 1,
        "time_zone": "Europe/Zurich",
        "resource_groups": {"c": {"slots": 10}},
        "consumers": {"A": {}, "B": {}},
        "policies": entries,
    }


COUNTS: Document = {"fairhold_state": 1, "now": NOW, "demand": {"/A": {"c": 3}}, "allocated": {"/A": {"c": 3}}}


def test_of_many_who_keep_what_they_have_a_few_are_named_and_all_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"t{at}" for at in range(50)]

    def plan(first: int) -> Document:
        return {
            "fairhold": 1,
            "resource_groups": {"c": {"slots": 100}},
            "consumers": {name: {} for name in names},
            "policies": [{"resource_groups": ["c"], "policy": "hybrid", "consumers": {"/t0": {"owned": first}}}],
        }

    counts = {f"/{name}": {"c": 1} for name in names}
    state = {"fairhold_state": 1, "now": NOW, "demand": counts, "allocated": counts}
    found = Compared(tmp_path, capsys, plan(1), plan(2), state)
    assert "- /t1 (1), /t2 (1), /t3 (1) and 46 more keep theirs: they ask for no more than they have\n" in found.text
    assert (len(found.summary["kept"]), found.summary["kept_more"]) == (20, {"holds all": 30})


def test_what_is_the_same_in_several_windows_is_told_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = Compared(tmp_path, capsys, slots(4, 4, 4), slots(6, 6, 5), COUNTS)
    assert found.line.startswith("6 values changed: /A owned +2, /B owned -2, /A owned +1 and 1 more.")
    assert "policies[0].consumers./A.owned: the same in the window Sat 08:00-18:00\n" in found.text
    first = found.summary["changes"][0]
    assert (first["entries"], first["windows"]) == ([0, 1], ["Mon-Fri 08:00-18:00", "Sat 08:00-18:00"])
    assert first["places"] == ["policies[0].consumers./A.owned", "policies[1].consumers./A.owned"]
    assert "policies[1].consumers./A.owned" in found.full()
    switches = [line for line in found.text.splitlines() if re.match(r"(Mon|Tue) 2026", line)]
    assert len(switches) <= len(found.document["windows"])


def test_hosts_that_change_alike_are_one_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = queues(4)
    new = deepcopy(old)
    new["resource_groups"]["train"]["hosts"] = [{"name": "g[01-15]", "gpu": 3}, {"name": "g[16-20]", "gpu": 2}]
    found = Compared(tmp_path, capsys, old, new, queue_state(bio=(4, 4)))
    assert found.line.startswith("15 values changed: g[01-15] amounts +1 gpu.")
    assert "resource_groups.train.hosts.g[01-15].amounts" in found.text
    assert "g01.amounts" not in found.text
    assert "resource_groups.train.hosts.g01.amounts" in found.full()


def test_hosts_that_come_are_folded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = queues(4)
    new["resource_groups"]["train"]["hosts"] = [{"name": "g[01-23]", "gpu": 2}]
    line = Compared(tmp_path, capsys, queues(4), new, queue_state(bio=(4, 4))).line
    assert "train hosts +g[21-23], g[21-23] amounts +2 gpu" in line


@FEWER
@given(pairs())
def test_any_two_plans_of_pools_have_a_summary(case: tuple[Document, Document, Document]) -> None:
    before, after = (read(plan, case[2]) for plan in case[:2])
    one = run_cycle(*before)
    other = run_cycle(after[0], with_owned(after[1], after[0], one.after, before[0]))
    found = diff(one, other)
    told = changes(before[0], after[0], {})
    found["settings"] = [each.document() for each in told]
    sides = Sides((before[0], after[0]), (one, other), told, {}, after[1])
    found["summary"] = summary(sides, found)
    json.dumps(found["summary"])
    assert sum(len(row["places"]) for row in found["summary"]["changes"]) == found["summary"]["values"] == len(told)
    for is_full in (False, True):
        assert diff_text(found, is_full=is_full).startswith(first_line(found))


def test_every_kind_of_change_has_its_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = slots(4, windows=("",))
    changes: list[tuple[Any, str]] = [
        (lambda plan: plan["policies"][0]["consumers"]["/A"].update(limit=5), "/A limit none -> 5"),
        (
            lambda plan: plan["policies"][0].update(settings={"distribute_evenly": True}),
            "distribute_evenly false -> true",
        ),
        (lambda plan: plan["resource_groups"]["c"].update(slots=12), "c slots +2"),
        (lambda plan: plan["consumers"].update(C={}), "consumers +C"),
        (lambda plan: plan["consumers"]["A"].update(reclaim_grace="5s"), "/A reclaim_grace"),
        (lambda plan: plan.update(time_zone="UTC"), "time_zone Europe/Zurich -> UTC"),
    ]
    for change, said in changes:
        new = deepcopy(old)
        change(new)
        assert said in Compared(tmp_path, capsys, old, new, COUNTS).line, said


def test_nothing_more_is_stopped_where_the_same_is_stopped_anyway(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = {
        "fairhold_state": 1,
        "now": NOW,
        "demand": {"/A": {"c": 4}, "/B": {"c": 10}},
        "allocated": {"/B": {"c": 10}},
    }
    plan = slots(4, windows=("",))
    less = deepcopy(plan)
    less["policies"][0]["consumers"]["/B"]["limit"] = 9
    found = Compared(tmp_path, capsys, plan, less, state)
    assert found.line.endswith("Nothing is stopped because of it; nobody waits longer.")
    assert found.summary["nothing_taken"] is None


def test_who_waits_for_a_limit_asks_for_more_than_it_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def limited(cpu: int) -> Document:
        return {
            "fairhold": 1,
            "resources": {"cpu": {}},
            "resource_groups": {"g": {"hosts": [{"name": "h1", "cpu": 8}]}},
            "consumers": {"a": {}, "b": {}},
            "policies": [
                {
                    "resource_groups": ["g"],
                    "policy": "multidimensional",
                    "consumers": {"/a": {"share_limit": {"cpu": cpu}}, "/b": {}},
                }
            ],
        }

    asked = {"id": "a", "consumer": "/a", "unit": {"cpu": 1}, "count": 6}
    held = {"request": "a", "host": "h1", "units": 2, "started": "2026-01-05T08:00:00Z"}
    state = {"fairhold_state": 1, "now": NOW, "requests": [asked], "allocations": [held]}
    found = Compared(tmp_path, capsys, limited(2), limited(3), state)
    assert "the next cycle grants 1 unit to /a" in found.line
    assert "no consumer asks for more than it has" not in Compared(tmp_path, capsys, limited(2), limited(2), state).line
