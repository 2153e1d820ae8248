"""`diff`: what another plan does to a state, and what a service tells of one, in words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.cli.files import moves_table, open_plan, print_json, print_text, unknown
from fairhold.cli.plan_changes import Clock, as_it_is, brief_text, first_line
from fairhold.cli.plan_timeline import coming_text
from fairhold.cli.pools import changed_pools, hands_text
from fairhold.cli.queue_tables import changed_queues
from fairhold.cli.table import table
from fairhold.cli.values import settings_text
from fairhold.errors import ArgumentError, Fault, InputError, UsageError, printable
from fairhold.planio.report import shown
from fairhold.planio.state import read_state

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from fairhold.model.plan import Plan

Document = dict[str, Any]
_OF_SLOTS = ("owned", "reserve", "limit", "quota")
_FULL = "`--full` shows every place, switch, notice and task; `--json` all numbers."


class Look(NamedTuple):
    """How far is looked.

    ahead : duration; checkpoint: duration between two states that tasks save, empty = they save none
    at    : of a scenario, the instant or duration up to which it is simulated; empty = it is not a scenario
    """

    ahead: str
    checkpoint: str = ""
    at: str = ""


def print_diff(
    plan_path: Path,
    new_path: Path,
    state_path: Path,
    look: Look,
    *,
    as_json: bool,
    is_full: bool = False,
    was: Mapping[str, str] | None = None,
) -> None:
    """`diff`: what the new plan changes for the state, now and over time.

    state_path : of a state, or of a scenario or its folder
    was        : new path → old path of consumers that the new plan calls otherwise
    """
    old, new = (open_plan(path, places=True) for path in (plan_path, new_path))
    moved = _moved(was or {}, old, new)
    scenario = _scenario(state_path) if look.at or state_path.is_dir() else None
    if scenario is not None:
        document = _diff_in_scenario((old, new), scenario, look, moved)
    elif look.at:
        raise UsageError(f"`--at` is for a scenario, and `{shown(str(state_path))}` is not one")
    else:
        document = _diff_of_state((old, new), state_path, new_path, look, moved)
    if as_json:
        print_json(document)
        return
    print_text(diff_text(document, is_full=is_full))


def _diff_of_state(
    plans: tuple[Plan, Plan], state_path: Path, new_path: Path, look: Look, moved: dict[str, str]
) -> Document:
    from fairhold.cli.windows import duration_of  # noqa: PLC0415
    from fairhold.cycle.diff import diff  # noqa: PLC0415
    from fairhold.cycle.document import run_cycle  # noqa: PLC0415
    from fairhold.cycle.plan_diff import changes  # noqa: PLC0415
    from fairhold.cycle.plan_timeline import Assumed, Compared, instants_of, over_time  # noqa: PLC0415
    from fairhold.cycle.pooled.carrying import with_owned  # noqa: PLC0415
    from fairhold.cycle.projection import course_of  # noqa: PLC0415
    from fairhold.cycle.summary import Sides, summary  # noqa: PLC0415
    from fairhold.cycle.window_preview import diff_windows, side  # noqa: PLC0415

    old, new = plans
    stated = read_state(state_path, old, places=True)
    before = run_cycle(old, stated)
    try:
        state = with_owned(read_state(state_path, new, old, moved), new, before.after, old, moved)
    except InputError as error:  # that it fits the other plan was seen above
        under = f"under the plan {new_path}"
        faults = [replace(fault, what=f"{fault.what}, {under}") for fault in error.faults]
        raise InputError(_other_kinds(old, new, new_path) or faults) from None
    after = run_cycle(new, state)
    document, changed = diff(before, after, moved), changes(old, new, moved)
    document["settings"] = [each.document() for each in changed]
    compared = Sides(plans, (before, after), changed, moved, state if after.pooled else None)
    document["summary"] = summary(compared, document)
    sides, until = (side(old, before.after), side(new, after.after)), state.now + duration_of(look.ahead)
    coming = diff_windows(*sides, state.now, until, moved)
    if coming is not None:
        document["windows"] = coming
    instants = instants_of(old, new, state.now, until)
    courses = (
        Compared(old, course_of(old, stated, before, instants)),
        Compared(new, course_of(new, state, after, instants)),
    )
    assumed = Assumed(checkpoint=duration_of(look.checkpoint, "--checkpoint") if look.checkpoint else 0)
    document["over_time"] = over_time(*courses, instants, moved, assumed)
    return document


def _scenario(path: Path) -> Path | None:
    from fairhold.lab.cluster_at import scenario_file  # noqa: PLC0415

    return scenario_file(path)


def _diff_in_scenario(plans: tuple[Plan, Plan], path: Path, look: Look, moved: dict[str, str]) -> Document:
    from fairhold.cli.windows import duration_of  # noqa: PLC0415
    from fairhold.cycle.plan_timeline import STATED, Assumed  # noqa: PLC0415
    from fairhold.lab.cluster_at import standing_at  # noqa: PLC0415
    from fairhold.planio.nodes import with_nodes  # noqa: PLC0415
    from fairhold.sim.effect import effect_of, effect_over_time  # noqa: PLC0415

    if not look.at:
        raise UsageError("a scenario needs the time up to which it is simulated first: `--at 3d`, or an instant")
    old, new = plans
    ahead = duration_of(look.ahead)
    played = standing_at(path, old, look.at)
    new = with_nodes(new, played.nodes)
    checkpoint = duration_of(look.checkpoint, "--checkpoint") if look.checkpoint else played.work.checkpoint
    assumed = Assumed(STATED, checkpoint)
    found = effect_of(played.standing, new, moved, ahead)
    coming = effect_over_time(played.standing, new, moved, ahead, assumed=assumed, end_of=played.end_of)
    return found | {"over_time": coming}


def _other_kinds(old: Plan, new: Plan, new_path: Path) -> list[Fault]:
    """Groups that one plan shares in slots and the other in resources: what is held of them fits one of the two."""
    faults = []
    for name in new.resource_groups:
        kinds = [
            "resources" if plan.resource_groups[name].shares_vectors else "slots"
            for plan in (old, new)
            if name in plan.resource_groups
        ]
        if len(set(kinds)) > 1:
            what = f"`{shown(name)}` is shared in {kinds[1]} here and in {kinds[0]} there: the state fits only one plan"
            mend = "give the group another name, or run `cycle` under each plan with its own state"
            faults.append(Fault("slots-and-vectors", what, mend, ("resource_groups", name), str(new_path)))
    return faults


def _moved(was: Mapping[str, str], old: Plan, new: Plan) -> dict[str, str]:
    """Old path → new path; raises ArgumentError where one of the plans does not have it, or it goes to two."""
    strange = [
        replace(unknown("consumer", path, plan.tree.paths), place=("--was",))
        for pair in was.items()
        for path, plan in zip(pair, (new, old), strict=True)
        if path not in plan.tree.rows
    ]
    moved = {before: after for after, before in was.items()}
    if strange:
        raise ArgumentError(strange)
    if len(moved) < len(was):
        raise UsageError("--was: one consumer cannot become two; leave one of them out")
    return moved


def diff_text(document: Document, clock: Clock = as_it_is, *, is_full: bool = True) -> str:
    """A difference of two plans in words: what it comes to, then what matters of it.

    clock   : how instants are shown; is_full : with every place, switch, notice and task
    """
    obstacles = [_obstacles_text(document["in_the_way"])] if document.get("in_the_way") else []
    if "summary" not in document:  # an older service
        return "\n\n".join((*obstacles, _full_text(document)))
    line = first_line(document, clock)
    if is_full:
        return "\n\n".join((line, *obstacles, _full_text(document)))
    told = brief_text(document, _changed_now, _when, clock)
    return "\n\n".join((line, *obstacles, told, _FULL))


def _full_text(document: Document) -> str:
    """What the plans say, what is otherwise now, and at the coming windows, and over time."""
    windows = (f"{_when(each)}\n{_diff_text(each)}" for each in document.get("windows") or ())
    said = [settings_text(document["settings"])] if "settings" in document else []
    coming = [coming_text(document["over_time"])] if document.get("over_time") else []  # a plan in force has none
    return "\n\n".join((*said, _diff_text(document), *windows, *coming))


def _when(switch: Document) -> str:
    from fairhold.cli.windows import windows_text  # noqa: PLC0415

    return windows_text(switch)


def _obstacles_text(faults: list[Document]) -> str:
    """What keeps a plan from being in force."""
    lines = (f"- {printable(each['what'])}\n  {printable(each['mend'])}" for each in faults)
    return "\n".join(("These prevent the plan from being applied; the numbers below count them as cancelled:", *lines))


def _changed_now(document: Document) -> list[str]:
    """Tables of those whose numbers differ, and of what changes hands."""
    texts = []
    for group, result in document["resource_groups"].items():
        texts += [*changed_queues(group, result), *_changed_slots(group, result)]
    texts += changed_pools(document, is_full=False)
    hands = document.get("ownership")
    return [*texts, hands_text(hands)] if hands else texts


def _changed_slots(group: str, result: Document) -> Iterator[str]:
    """A table of those whose numbers differ in a group that is shared in slots."""
    rows = []
    for path, values in result["consumers"].items():
        if "quota" not in values:  # a queue
            continue
        was, will = values["quota"]
        change = f"{will - was:+d}" if will != was else "="
        cells = [f"{old} -> {new}" if old != new else new for old, new in (values[key] for key in _OF_SLOTS)]
        name = f"{path} (was {values['was']})" if "was" in values else path
        rows.append((name, change, *("none" if cell is None else str(cell).replace("None", "none") for cell in cells)))
    if rows:
        yield f"{group}:\n" + table(("consumer", "quota +/-", *_OF_SLOTS), rows)


def _diff_text(document: Document) -> str:
    texts = []
    for group, result in document["resource_groups"].items():
        told = [*changed_queues(group, result), *_changed_slots(group, result)]
        texts += told or [f"{group}: no numbers change"]
    texts += changed_pools(document)
    if "ownership" in document:
        texts.append(hands_text(document["ownership"]))
    for name, title in (("added", "Reclaimed by the new plan"), ("removed", "No longer reclaimed")):
        rows = document["reclaims"][name]
        if rows:
            texts.append(f"{title}:\n{moves_table(rows)}")
        else:
            texts.append(f"{title}: nothing")
    return "\n\n".join(texts)
