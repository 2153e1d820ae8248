"""The plan file at a start of the service, and what is said of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fairhold.errors import InputError
from fairhold.model.spec import Spec
from fairhold.orchestrator.events import JobSubmitted
from fairhold.runtime.live.opening import LiveSettings, open_live
from fairhold.runtime.live.submitting import Submission
from fairhold.units import SECOND, format_instant
from tests.live.serving import PLAN

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fairhold.runtime.live.core import Core

MORE = PLAN.replace("slots: 6", "slots: 8")


def start(place: Path, text: str, then: Callable[[Core], object] | None = None) -> tuple[list[str], int]:
    """Start with this file and stop again; what was said, and the version in force."""
    (place / "my plan.yaml").write_text(text)
    said: list[str] = []
    live = open_live(LiveSettings(place / "my plan.yaml", place / "state", launch=False, tell=said.append))
    try:
        version = live.core.version
        if then:
            live.desk.write(then).result(20)
    finally:
        live.close()
    return said, version


def apply(text: str, until: int = 0) -> Callable[[Core], object]:
    return lambda core: core.apply_plan(text, "ann", "two\nmore", core.version, until=until)


def test_nothing_is_said_where_the_file_is_the_plan_in_force(tmp_path: Path) -> None:
    assert start(tmp_path, PLAN) == ([], 1)
    assert start(tmp_path, PLAN, apply("# the same\n" + PLAN)) == ([], 1)
    assert start(tmp_path, PLAN) == ([], 2)


def test_a_plan_that_was_applied_meanwhile_stays_and_the_line_says_how_to_apply_the_file(tmp_path: Path) -> None:
    start(tmp_path, PLAN, apply(MORE))
    for _ in range(2):
        (line,), version = start(tmp_path, PLAN)
        assert version == 2
        assert line.startswith("plan 2 is in force, which ann applied at 20")
        assert "Z (two\\nmore); " in line
        assert line.endswith(
            f"/my plan.yaml differs and has not changed since the last start; "
            f"to put it in force: fairhold plan apply '{tmp_path}/my plan.yaml'"
        )


def test_a_changed_file_takes_the_place_of_what_was_applied(tmp_path: Path) -> None:
    start(tmp_path, PLAN, apply(MORE))
    (line,), version = start(tmp_path, MORE.replace("slots: 8", "slots: 9"))
    assert version == 3
    assert line.startswith(f"plan 3 is in force: {tmp_path}/my plan.yaml has changed since the last start; ")
    assert "it replaces plan 2, which ann applied at" in line


def test_a_plan_for_a_time_says_until_when(tmp_path: Path) -> None:
    ends: list[int] = []

    def for_an_hour(core: Core) -> None:
        ends.append(core.now() + 3600 * SECOND)
        apply(MORE, ends[0])(core)

    start(tmp_path, PLAN, for_an_hour)
    (line,), _ = start(tmp_path, PLAN)
    assert line.startswith(f"plan 2 is in force until {format_instant(ends[0])}, which ann applied at")


def test_a_file_without_a_leaf_that_has_jobs_is_refused_with_a_way_that_is_open_then(tmp_path: Path) -> None:
    spec = Spec("/A", ("true",), {}, "/")
    start(tmp_path, PLAN, lambda core: core.submit(Submission("ann", "", JobSubmitted("", "/A", "compute", 1), spec)))
    with pytest.raises(InputError) as caught:
        start(tmp_path, PLAN.replace("/A", "/New").replace("  A:", "  New:"))
    (fault,) = caught.value.faults
    assert (fault.code, fault.file) == ("consumer-in-use", str(tmp_path / "my plan.yaml"))
    assert fault.mend.startswith("start without the file; then move or cancel them, or ")
    assert fault.mend.endswith(f"`fairhold plan apply '{tmp_path}/my plan.yaml' --was NEW=/A`")
