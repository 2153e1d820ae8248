"""`diff` on a scenario: it is played up to an instant, and from there on under both plans."""

import json
from pathlib import Path

import pytest

from fairhold.cli.differing import Look, print_diff
from fairhold.errors import InputError, UsageError
from fairhold.lab.cluster_at import scenario_file
from fairhold.lab.records import write_record
from tests.lab.logs import lines_of, recorded
from tests.lab.test_recording import story_of

FOLDER = Path(__file__).parents[2] / "examples" / "simulation"
APART, LENT = FOLDER / "apart.yaml", FOLDER / "lent.yaml"


def test_a_scenario_is_compared_at_an_instant(capsys: pytest.CaptureFixture[str]) -> None:
    assert scenario_file(FOLDER) == scenario_file(FOLDER / "scenario.yaml") == FOLDER / "scenario.yaml"
    print_diff(LENT, APART, FOLDER, Look("2h", at="4d14h"), as_json=True)
    found = json.loads(capsys.readouterr().out)["over_time"]
    (row,) = found["stops"]
    assert (row["request"], row["units"], row["reason"], row["anyway"]) == ("Research.179", 4, "limit", 0)
    assert found["assumes"][1].startswith("tasks run as long as the scenario says")
    assert found["assumes"][2] == "a checkpoint every 600 s"
    assert row["lost"] < 4 * 600


def test_what_cannot_be_asked_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--at 3d"):
        print_diff(LENT, APART, FOLDER, Look("2h"), as_json=True)
    with pytest.raises(UsageError, match="is for a scenario"):
        print_diff(LENT, APART, APART, Look("2h", at="1d"), as_json=True)
    with pytest.raises(InputError) as caught:
        print_diff(LENT, APART, FOLDER, Look("2h", at="2026-01-01T00:00:00Z"), as_json=True)
    assert [fault.code for fault in caught.value.faults] == ["out-of-range"]
    with pytest.raises(InputError) as wrong:
        print_diff(LENT, APART, FOLDER, Look("2h", at="tomorrow"), as_json=True)
    assert wrong.value.faults[0].place == ("--at",)
    with pytest.raises(InputError):
        print_diff(LENT, APART, tmp_path, Look("2h", at="1d"), as_json=True)
    with pytest.raises(UsageError, match="--checkpoint"):
        print_diff(LENT, APART, FOLDER, Look("2h", "often", "1d"), as_json=True)


@pytest.mark.parametrize("is_as_it_was", [True, False])
def test_a_record_is_compared_at_an_instant(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], *, is_as_it_was: bool
) -> None:
    experiment, text = story_of(3)
    write_record(tmp_path / "it", recorded(lines_of(experiment).all, text, 0))
    plan = json.loads(text)
    entry = plan["policies"][0]
    key = "owned" if entry["policy"] == "hybrid" else "share_ratio"
    entry["consumers"] = {"/A": {key: 6}, "/B": {key: 1}, "/C": {key: 1}}
    now, new = tmp_path / "now.yaml", tmp_path / "new.yaml"
    now.write_text(text if is_as_it_was else json.dumps(plan))
    new.write_text(json.dumps(plan) if is_as_it_was else text)
    print_diff(now, new, tmp_path / "it", Look("1h", at="40s"), as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert found["now"] == "1970-01-01T00:00:40Z"
    assert found["over_time"]["until"] == "1970-01-01T01:00:40Z"
    assert found["over_time"]["spans"]
