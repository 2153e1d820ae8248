"""`docs/reference/errors.md` explains every code, with what is really printed."""

from __future__ import annotations

import ast
import os
import re
from dataclasses import replace
from functools import cache
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from fairhold.cli.files import print_cycle, verify_result
from fairhold.errors import Fault, InputError
from fairhold.planio.codes import CODES
from fairhold.planio.consumers import MOST_CHARACTERS
from fairhold.planio.document import LARGEST_FILE, read_text
from fairhold.planio.installed import read_entry_points
from fairhold.planio.jobs import parse_jobs
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from fairhold.service.problems import STATUS, status_of
from tests.docs.console import IS_UPDATE, ROOT
from tests.docs.faults import PLAN, SAMPLES, STATE, Sample

PAGE = ROOT / "docs/reference/errors.md"
SERVICE_PAGE = ROOT / "docs/reference/service-errors.md"
NOT_FROM_TEXT = {
    "cannot-read": "the file is not there",
    "file-too-large": "the file has 256 MiB and a byte",
    "not-utf-8": "the byte `FF`",
    "tree-too-large": "names and levels that make long paths",
    "not-a-result": "the state in place of a result",
    "cannot-write": "the folder of `--after` is not there",
    "installed-policy": "`policy: lottery`, and an entry point that names no policy",
}
IMPLIED = {
    "children-reserve-more": ("children-own-more",),
    **dict.fromkeys(("oversubscribed", "unlimited-twice", "limit-below-deserved"), ("deserved-left-out",)),
}
"""Faults whose samples have another one, too."""
ELSEWHERE = {
    "not-a-result": "a file is not a result of a command",
    "cannot-write": "a file that a command was asked to write cannot be written",
}


def faults_of(sample: Sample) -> tuple[Fault, ...]:
    try:
        if sample.kind == "plan":
            return parse_plan(sample.text, "plan.yaml", places=sample.places)[1]
        plan = parse_plan(sample.plan, "plan.yaml")[0]
        if sample.kind == "state":
            parse_state(sample.text, plan, "state.yaml", places=sample.places)
        else:
            parse_jobs(sample.text, plan, "jobs.yaml")
    except InputError as error:
        return error.faults
    return ()


def read_what_is_no_text(code: str, folder: Path) -> None:
    """Read an input that is more than a text."""
    path, state = folder / "plan.yaml", folder / "state.yaml"
    path.write_text(PLAN)
    state.write_text(STATE)
    if code == "file-too-large":
        os.truncate(path, LARGEST_FILE + 1)
    elif code == "installed-policy":
        path.write_text(PLAN.replace("policy: hybrid", "policy: lottery"))
    elif code == "not-utf-8":
        path.write_bytes(PLAN.encode() + b"\xff")
    elif code == "cannot-write":
        print_cycle(path, state, folder / "nowhere/after.json", as_json=True)
    elif code == "not-a-result":
        verify_result(path, state, state, as_json=False)
    parse_plan(read_text(folder / "plan.yml" if code == "cannot-read" else path), "plan.yaml")


def fault_not_from_text(code: str, folder: Path) -> Fault:
    with pytest.raises(InputError) as caught:
        read_what_is_no_text(code, folder)
    (fault,) = caught.value.faults
    what = fault.what.replace("20 characters", f"{MOST_CHARACTERS:,} characters")
    return replace(fault, what=what, file=Path(fault.file).name)


@cache
def sections() -> dict[str, str]:
    """Text of the page below the heading of every code."""
    parts = re.split(r"^### `([a-z0-9-]+)`\n", PAGE.read_text(), flags=re.MULTILINE)
    below = (re.split(r"^#+ ", text, maxsplit=1, flags=re.MULTILINE)[0] for text in parts[2::2])
    return dict(zip(parts[1::2], below, strict=True))


def rendered(code: str, example: str, fault: Fault) -> str:
    """How the section of a code starts."""
    meaning = (CODES | ELSEWHERE)[code]
    text = f"\n{meaning[0].upper()}{meaning[1:]}. Example: {example}.\n\n```text\n{fault}\n```\n"
    return re.sub(r"x{20,}", "xxx…", text)


def check(code: str, start: str) -> None:
    said = sections()[code]
    if said.startswith(start):
        return
    if IS_UPDATE:
        rest = said.rpartition("```\n")[2].strip("\n")
        section = f"{start}\n{rest}\n\n" if rest else f"{start}\n"
        PAGE.write_text(PAGE.read_text().replace(f"### `{code}`\n{said}", f"### `{code}`\n{section}"))
        sections.cache_clear()
    else:
        assert said == start


@pytest.mark.parametrize("code", SAMPLES)
def test_the_page_shows_what_a_faulty_input_prints(code: str) -> None:
    faults = [fault for fault in faults_of(SAMPLES[code]) if fault.code not in IMPLIED.get(code, ())]
    assert [fault.code for fault in faults] == [code]
    check(code, rendered(code, SAMPLES[code].example, faults[0]))


@pytest.mark.parametrize("code", NOT_FROM_TEXT)
def test_the_page_shows_what_other_inputs_print(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if code == "installed-policy":
        point = EntryPoint("lottery", "json:dumps", "fairhold.policies")
        monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [point] if group == point.group else [])
        read_entry_points.cache_clear()
    if code == "tree-too-large":
        monkeypatch.setattr("fairhold.planio.consumers.MOST_CHARACTERS", 20)
    check(code, rendered(code, NOT_FROM_TEXT[code], fault_not_from_text(code, tmp_path)))


def test_every_code_is_explained_once() -> None:
    headings = re.findall(r"^### `([a-z0-9-]+)`$", PAGE.read_text(), flags=re.MULTILINE)
    assert sorted(headings) == sorted(CODES | ELSEWHERE)
    assert sorted(SAMPLES.keys() | NOT_FROM_TEXT.keys()) == sorted(headings)


def test_every_status_is_the_one_that_is_answered() -> None:
    row = re.compile(r"^\| (`[^|]+`) \| ([0-9, ]*) ?\| ", re.MULTILINE)
    told = {
        code: set(statuses.strip().split(", "))
        for codes, statuses in row.findall(SERVICE_PAGE.read_text())
        for code in re.findall(r"`([a-z0-9-]+)`", codes)
    }
    assert len(told) > 50
    for code, statuses in told.items():
        if statuses != {""}:
            assert str(answered(code)) in statuses, code
    assert [code for code in STATUS if code not in CODES and told.get(code, {""}) == {""}] == []


def answered(code: str) -> int:
    """The status that comes with a code: of a failure, else of a fault of what was asked."""
    return 500 if code == "internal" else status_of(code, is_addressed=True)


def faults_without_mend(source: str) -> list[str]:
    """Faults that a module makes and does not say how to mend."""
    made = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    faults = [node for node in made if isinstance(node.func, ast.Name) and node.func.id in {"Fault", "refused"}]
    poor = [node for node in faults if len(node.args) < 3 or ast.unparse(node.args[2]) == "''"]
    return [ast.unparse(node) for node in poor if all(each.arg != "mend" for each in node.keywords)]


@pytest.mark.parametrize("package", ["service", "runtime/live", "orchestrator", "planio"])
def test_whatever_a_service_can_refuse_says_how_to_mend_it(package: str) -> None:
    paths = (ROOT / "src/fairhold" / package).rglob("*.py")
    poor = [each for path in paths for each in faults_without_mend(path.read_text())]
    assert [each for each in poor if "'cannot-read'" not in each] == [], "a file that is not there is no request"


def test_every_code_in_the_source_is_explained() -> None:
    """A code is text in small letters with a hyphen, where a fault or a refusal is made."""
    made = re.compile(
        r"""(?:Fault|[Rr]efus\w*|_\w*fault|StoreError)\((?:[a-z_]+, )?(?:\d+, )?["']([a-z]+(?:-[a-z]+)+)["']"""
    )
    used = {code for path in (ROOT / "src/fairhold").rglob("*.py") for code in made.findall(path.read_text())}
    others = [
        ROOT / "docs/reference" / name for name in ("lint.md", "import.md", "workload.md", "record.md", "scenario.md")
    ]
    pages = "".join(page.read_text() for page in (SERVICE_PAGE, *others))
    elsewhere = set(re.findall(r"`([a-z]+(?:-[a-z]+)+)`", pages))
    assert used - CODES.keys() - ELSEWHERE.keys() <= elsewhere
    assert ELSEWHERE.keys() <= used
    assert len(used) > 45, "the expression still finds them"
