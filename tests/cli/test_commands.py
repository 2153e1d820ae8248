"""The commands as a user meets them: output, exit codes, faults."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TextIO

import pytest

ROOT = Path(__file__).parents[2]
PLAN = str(ROOT / "examples/tutorial/plan.yaml")
STATE = str(ROOT / "examples/tutorial/state.yaml")


def fairhold(*args: str, exits: int = 0, stdin: TextIO | None = None) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "fairhold", *args], stdin=stdin, capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == exits, done.stderr
    assert "Traceback" not in done.stderr
    return done


def test_check_prints_the_balance_of_every_parent() -> None:
    out = fairhold("check", PLAN).stdout
    assert "good; 4 consumers, 1 policy entry" in out
    assert out.splitlines()[-1].split() == ["compute", "60", "60", "0", "/Trading"]
    balances = json.loads(fairhold("check", PLAN, "--json").stdout)["balances"]
    assert [(row["consumer"], row["balance"]) for row in balances] == [("/", 0), ("/Trading", 0)]


def test_check_knows_scenarios_and_tenants_and_what_is_checked_by_others(tmp_path: Path) -> None:
    assert "good; a scenario with 2 plans" in fairhold("check", "examples/simulation/scenario.yaml").stdout
    assert json.loads(fairhold("check", "examples/simulation/tenants.yaml", "--json").stdout)["tenants"] == 2
    broken = tmp_path / "scenario.yaml"
    broken.write_text("fairhold_scenario: 1\nplan: none.yaml\nworkload: {kind: swf, file: none.swf}\nend: soon\n")
    errors = fairhold("check", str(broken), exits=1).stderr
    assert all(code in errors for code in ("[duration]", "[cannot-read]"))
    assert "unknown-key" not in errors
    assert "expected a plan, found a state" in fairhold("check", STATE, exits=1).stderr


def test_a_file_of_another_kind_is_one_fault() -> None:
    scenario = "examples/simulation/scenario.yaml"
    errors = fairhold("diff", PLAN, PLAN, scenario, exits=1).stderr
    assert "scenario.yaml:1: fairhold_scenario: expected a state, found a scenario [version]" in errors
    assert "--at" in errors
    assert len(errors.splitlines()) == 2
    assert "expected a scenario, found a plan" in fairhold("simulate", PLAN, exits=1).stderr


def test_quota_shows_every_consumer_with_its_numbers() -> None:
    result = json.loads(fairhold("quota", PLAN, STATE, "--json").stdout)
    consumers = result["resource_groups"]["compute"]["consumers"]
    assert list(consumers) == ["/", "/Trading", "/Trading/Risk", "/Trading/FX", "/Research"]
    assert consumers["/Research"] == {
        "demand": 90,
        "need": 90,
        "owned": 40,
        "reserve": 0,
        "limit": None,
        "allocated": 85,
        "quota": 50,
        "free": 0,
    }
    assert consumers["/Trading"]["limit"] == 80


def test_a_cycle_goes_on_from_the_state_that_it_prints(tmp_path: Path) -> None:
    first = json.loads(fairhold("cycle", PLAN, STATE, "--json").stdout)
    assert first["grants"] == [{"consumer": "/Trading/Risk", "resource_group": "compute", "units": 3}]
    assert [(row["consumer"], row["units"], row["for"]) for row in first["reclaims"]] == [
        ("/Research", 35, "/Trading/Risk")
    ]
    after = tmp_path / "after.json"
    after.write_text(json.dumps(first["state"]))
    second = json.loads(fairhold("cycle", PLAN, str(after), "--json").stdout)
    assert (second["grants"], second["reclaims"], second["withdrawn"], second["stops"]) == ([], [], [], [])
    after.write_text(json.dumps(first["state"] | {"now": "2026-01-05T09:00:10Z"}))
    third = json.loads(fairhold("cycle", PLAN, str(after), "--json").stdout)
    assert third["stops"] == [{"consumer": "/Research", "resource_group": "compute", "units": 35}]
    assert third["grants"] == [{"consumer": "/Trading/Risk", "resource_group": "compute", "units": 35}]


def test_the_state_after_a_cycle_replaces_a_file_whole_and_never_a_device(tmp_path: Path) -> None:
    """As root, a file that takes the place of `/dev/stdout` would break the machine for everybody."""
    after, link, pipe = tmp_path / "after.json", tmp_path / "link.json", tmp_path / "pipe"
    after.write_text("older\n")
    after.chmod(0o640)
    link.symlink_to(after)
    fairhold("cycle", PLAN, STATE, "--after", str(after))
    written = after.read_text()
    assert json.loads(written)["now"] == "2026-01-05T09:00:00Z"
    assert after.stat().st_mode & 0o777 == 0o640
    after.write_text("older\n")
    fairhold("cycle", PLAN, STATE, "--after", str(link))
    assert link.is_symlink()
    assert after.read_text() == written
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True) as reader:
        fairhold("cycle", PLAN, STATE, "--after", str(pipe))
        assert reader.communicate()[0] == written
    assert pipe.is_fifo()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["after.json", "link.json", "pipe"]
    fault = fairhold("cycle", PLAN, STATE, "--after", str(tmp_path / "none/after.json"), exits=1).stderr
    assert "after.json: cannot write it: No such file or directory [cannot-write]" in fault


def test_the_state_after_a_cycle_never_replaces_the_plan(tmp_path: Path) -> None:
    plan, link = tmp_path / "plan.yaml", tmp_path / "link.yaml"
    plan.write_text(Path(PLAN).read_text())
    link.symlink_to(plan)
    for after in (plan, link):
        fault = fairhold("cycle", str(plan), STATE, "--after", str(after), exits=2).stderr
        assert fault == f"--after names the plan: {after}; name another file [usage]\n"
    assert plan.read_text() == Path(PLAN).read_text()


def test_a_dash_is_standard_input_and_output(tmp_path: Path) -> None:
    after = tmp_path / "after.json"
    fairhold("cycle", PLAN, STATE, "--after", str(after))
    with Path(STATE).open() as state:
        done = fairhold("cycle", PLAN, "-", "--after", "-", stdin=state)
    assert done.stdout == after.read_text()
    piped = subprocess.run(
        f"{sys.executable} -m fairhold cycle {PLAN} {STATE} --after - | {sys.executable} -m fairhold quota {PLAN} -",
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    )
    assert piped.stdout == fairhold("quota", PLAN, str(after)).stdout
    with Path(PLAN).open() as plan:
        assert "/dev/stdin: good" in fairhold("check", "-", stdin=plan).stdout


def test_verify_accepts_a_result_and_rejects_a_changed_one(tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    document = json.loads(fairhold("cycle", PLAN, STATE, "--json").stdout)
    result.write_text(json.dumps(document))
    assert "obeys the rules" in fairhold("verify", PLAN, STATE, str(result)).stdout
    document["resource_groups"]["compute"]["consumers"]["/Research"]["quota"] += 1
    result.write_text(json.dumps(document))
    out = fairhold("verify", PLAN, STATE, str(result), exits=1).stdout
    assert "/Research" in out
    assert "R-" in out


def test_verify_refuses_what_is_no_result(tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    result.write_text("{}")
    assert "[not-a-result]" in fairhold("verify", PLAN, STATE, str(result), exits=1).stderr


def test_explain_says_why_and_what_would_give_one_more() -> None:
    out = fairhold("explain", PLAN, STATE, "/Research").stdout
    assert out.startswith("/Research in compute: quota 50, holds 85, wants 90: ")
    assert "One slot more: with " in out
    (document,) = json.loads(fairhold("explain", PLAN, STATE, "/Research", "--json").stdout)
    assert document["levels"][0]["lambda"] == "5/4"
    assert document["reclaim"]["gives"] == 35


def test_explain_of_a_request_for_slots_begins_with_what_it_asks_for(tmp_path: Path) -> None:
    state = tmp_path / "state.yaml"
    job = "{id: night, consumer: /Research, resource_group: compute, count: 90, min_count: 4}"
    state.write_text(f"fairhold_state: 1\nnow: 2026-01-05T09:00:00Z\nrequests: [{job}]\n")
    first, of_leaf, *_ = fairhold("explain", PLAN, str(state), "night").stdout.split("\n\n")
    assert first == "Request night of /Research: 90 slots (at least 4) of compute. The numbers are its leaf's."
    assert of_leaf.startswith("/Research in compute: quota ")


def test_more_demand_does_not_help_a_request_that_waits(tmp_path: Path) -> None:
    """It may give its leaf a larger quota, and its leaf is told so."""
    plan, state = tmp_path / "plan.yaml", tmp_path / "state.yaml"
    hosts = 'hosts: [{name: "g[1-5]", slots: 4}]'
    owned = "/Trading: {owned: 10, limit: 12}, /Research: {owned: 10}"
    plan.write_text(
        f"fairhold: 1\nresource_groups: {{compute: {{{hosts}}}}}\nconsumers: {{Trading: {{}}, Research: {{}}}}\n"
        f"policies: [{{resource_groups: [compute], policy: hybrid, consumers: {{{owned}}}}}]\n"
    )
    job = "{id: night, consumer: /Research, count: 6, need: [gpu]}, {id: day, consumer: /Research, count: 2}"
    state.write_text(f"fairhold_state: 1\nnow: 2026-01-05T09:00:00Z\nrequests: [{job}]\n")
    assert "with /Research's demand at 9 instead of 8" in fairhold("explain", str(plan), str(state), "/Research").stdout
    of_request = fairhold("explain", str(plan), str(state), "night").stdout
    assert "demand" not in of_request.partition("\n\nOne slot more")[2]
    assert "with request night's need at none instead of gpu" in of_request


def test_diff_shows_who_gains_who_loses_and_what_is_reclaimed(tmp_path: Path) -> None:
    new = tmp_path / "new.yaml"
    new.write_text(
        Path(PLAN)
        .read_text()
        .replace("/Research: {owned: 40}", "/Research: {owned: 40, limit: 30}")
        .replace("owned: 40, limit: 30", "owned: 30, limit: 30")
    )
    document = json.loads(fairhold("diff", PLAN, str(new), STATE, "--json").stdout)
    assert document["resource_groups"]["compute"]["consumers"]["/Research"]["quota"] == [50, 30]
    assert [(row["consumer"], row["units"]) for row in document["reclaims"]["added"]] == [("/Research", 20)]
    assert document["reclaims"]["removed"] == []
    assert "/Research  -20" in fairhold("diff", PLAN, str(new), STATE).stdout
    same = fairhold("diff", PLAN, PLAN, STATE).stdout
    assert same.startswith("No value changed. Nothing is stopped because of it; nobody waits longer.\n")
    assert "No numbers change now" in same
    assert "no numbers change" in fairhold("diff", PLAN, PLAN, STATE, "--full").stdout


@pytest.mark.parametrize(
    ("args", "code", "exits"),
    [
        (("quota", "nowhere.yaml", STATE), "cannot-read", 1),
        (("explain", PLAN, STATE, "/Reserch"), "[unknown-consumer]\n    did you mean `/Research`?", 2),
        (("explain", PLAN, STATE, "/Research", "--group", "computer"), "did you mean `compute`?", 2),
        (("schema", "plans"), "there is no schema of `plans`; ask for plan, state, jobs or access [usage]", 2),
        (("quota", PLAN), "missing argument `STATE` [usage]\n    `", 2),
        (("quota", "", STATE), "the name is empty [usage]", 2),
        (("cycle", PLAN, STATE, "--after", ""), "the name is empty [usage]", 2),
        (("run", PLAN, STATE, "--output", ""), "the name is empty [usage]", 2),
        (("forecast", "3", "--at", "2026-01-05T09:00:00Z"), "--at is an instant of a record; name it by --record", 2),
        (("nonsense",), "no such command `nonsense` [usage]", 2),
        (("check", "--jsn", PLAN), "no such option: --jsn", 2),
    ],
)
def test_faults_go_to_stderr_with_their_exit_code(args: tuple[str, ...], code: str, exits: int) -> None:
    done = fairhold(*args, exits=exits)
    assert code in done.stderr
    assert done.stdout == ""


def test_every_fault_of_a_plan_is_told_with_its_line(tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(Path(PLAN).read_text().replace("reserved: 10", "reservd: 10").replace("rank: 1", "rank: first"))
    lines = fairhold("check", str(plan), exits=1).stderr.splitlines()
    assert f"{plan}:10: consumers.Trading.consumers.FX.rank" in lines[0]
    assert any("did you mean `reserved`?" in line for line in lines)


def test_schema_is_json() -> None:
    for kind in ("plan", "state", "jobs"):
        assert json.loads(fairhold("schema", kind).stdout)["$schema"].startswith("https://json-schema.org/")


def test_no_command_on_files_imports_an_extra() -> None:
    program = (
        "import sys; from fairhold.cli.commands import app; "
        f"app(['cycle', {PLAN!r}, {STATE!r}], standalone_mode=False); "
        "assert not {'numpy', 'numba', 'pydantic'} & set(sys.modules), 'an extra is imported'"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


def test_a_state_that_does_not_fit_the_new_plan_alone_is_said_to_be_at_odds_with_that_one(tmp_path: Path) -> None:
    new = tmp_path / "new.yaml"
    new.write_text(Path(PLAN).read_text().replace("Research", "Science"))
    fault = fairhold("diff", PLAN, str(new), STATE, exits=1).stderr
    assert f"there is no consumer `/Research`, under the plan {new} [unknown-consumer]" in fault


HOSTS = """\
fairhold: 1
resource_groups: {gpu: {hosts: [{name: "g[1-2]", slots: 4}]}}
consumers: {A: {}, B: {}}
policies: [{resource_groups: [gpu], policy: hybrid, consumers: {/A: {owned: 4}}}]
"""
LOST = """\
fairhold_state: 1
now: 2026-01-05T09:00:00Z
hosts_down: [g1]
requests: [{id: r1, consumer: /A, resource_group: gpu, count: 4}, {id: r2, consumer: /B, count: 4}]
allocations: [{request: r1, host: g1, units: 4, started: 2026-01-05T08:00:00Z}]
"""


def test_units_on_hosts_that_are_down_are_said_to_fill_slots(tmp_path: Path) -> None:
    plan, state = tmp_path / "plan.yaml", tmp_path / "state.yaml"
    plan.write_text(HOSTS)
    state.write_text(LOST)
    lines = fairhold("cycle", str(plan), str(state)).stdout.splitlines()
    assert lines[0] == "gpu: 8 slots, 0 idle after this cycle (4 units still held on hosts that are down)"
    assert "gpu: 1 of 2 hosts is up; g1 is down" in lines


def test_all_moves_have_their_columns_in_one_order(tmp_path: Path) -> None:
    plan, state = tmp_path / "plan.yaml", tmp_path / "state.yaml"
    plan.write_text(HOSTS)
    notice = "{request: r1, host: g1, units: 1, deadline: 2026-01-05T08:59:00Z}"
    state.write_text(f"{LOST.replace('hosts_down: [g1]', '')}reclaims: [{notice}]\n")
    lines = fairhold("cycle", str(plan), str(state)).stdout.splitlines()
    heads = [lines[at + 1].split() for at, line in enumerate(lines) if line.startswith(("Stopped", "Granted"))]
    assert heads == [["consumer", "resource_group", "request", "host", "units"]] * 2


def test_serve_without_its_extra_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['fastapi'] = None; sys.argv = ['fairhold', 'serve', 'examples/bank.yaml'];"
        "from fairhold.cli.main import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.stderr == "the service needs more than the base: pip install 'fairhold[service]' [usage]\n"
    assert done.returncode == 2


def test_the_agent_gets_its_words_as_they_are() -> None:
    done = fairhold("agent", "--directory", exits=2)
    assert "usage: python -m fairhold.agent" in done.stderr


def test_the_agent_says_how_it_is_called() -> None:
    done = fairhold("agent", "--help")
    assert (done.stdout.startswith("usage: python -m fairhold.agent --directory DIR"), done.stderr) == (True, "")
