"""The commands on plan and state files: read, call the core, print."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from fairhold.cli.legend import legend
from fairhold.cli.pools import POOL_COLUMNS, ownership_text, pool_tables
from fairhold.cli.presence import with_hosts
from fairhold.cli.queue_tables import is_of_queues, queue_columns, queue_table
from fairhold.cli.table import table
from fairhold.cli.writing import STANDARD_OUTPUT, refuse_same, write_whole
from fairhold.errors import BrokenRuleError, Fault, InputError, UsageError, count, place_text, printable
from fairhold.planio.plan import read_plan
from fairhold.planio.state import read_state
from fairhold.planio.statewrite import state_document
from fairhold.runtime.outlet import warn

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from fairhold.cycle.verify import Finding
    from fairhold.model.plan import Plan
    from fairhold.model.state import State
    from fairhold.planio.balances import Balance

Document = dict[str, Any]
_MOVE_COLUMNS = ("consumer", "resource_group", "request", "host", "units", "for", "deadline", "reason")


def print_text(text: str) -> None:
    """Print lines of a result."""
    sys.stdout.write(text + "\n")


def print_json(document: object) -> None:
    """Print a result as JSON."""
    print_text(json.dumps(document, indent=1))


def open_plan(path: Path, *, places: bool = False) -> Plan:
    """Read the plan of a file and tell its warnings.

    places : whether units are to be placed, so that totals without hosts are not enough
    """
    plan, warnings = read_plan(path, places=places)
    _warn(warnings)
    return plan


def _warn(warnings: Iterable[Fault]) -> None:
    for warning in warnings:
        warn(str(warning))


def check_plan(path: Path, *, as_json: bool) -> None:
    """`check`: warnings, then the balance of every parent, and who would own which hosts."""
    from fairhold.cli.other_files import check_other  # noqa: PLC0415
    from fairhold.cli.owners import owners, owners_text  # noqa: PLC0415
    from fairhold.planio.balances import balance_document, balances  # noqa: PLC0415

    try:
        plan, warnings = read_plan(path)
    except InputError as error:
        if check_other(path, as_json=as_json):
            return
        if as_json:
            print_json({"faults": [fault_document(fault) for fault in error.faults]})
        raise
    rows, owned = balances(plan), owners(plan)
    if as_json:
        print_json(
            {
                "consumers": len(plan.tree) - 1,
                "faults": [],
                "warnings": [fault_document(fault) for fault in warnings],
                "balances": [balance_document(plan, row) for row in rows],
                "ownership": owned,
            }
        )
        return
    _warn(warnings)
    entries = "1 policy entry" if len(plan.policies) == 1 else f"{len(plan.policies)} policy entries"
    print_text(f"{printable(str(path))}: good; {count(len(plan.tree) - 1, 'consumer')}, {entries}")
    if rows:
        print_text("")
        print_text(_balance_table(plan, rows))
    if owned:
        print_text("")
        print_text(owners_text(owned))


def _balance_table(plan: Plan, rows: list[Balance]) -> str:
    """The balance of every parent."""
    when = [(f"policies[{row.entry}]",) if plan.calendar is not None else () for row in rows]
    cells = [
        (row.resource_group, *entry, row.owned, row.children_owned, row.balance, plan.tree.paths[row.consumer])
        for row, entry in zip(rows, when, strict=True)
    ]
    head = ("group", *(("entry",) if when[0] else ()), "owned", "children own", "balance", "consumer")
    # Paths are long and differ in length: at the end of the line they push nothing out of sight.
    return table(head, cells, room=0)


def fault_document(fault: Fault) -> Document:
    """A fault for scripts."""
    return {
        "code": fault.code,
        "file": fault.file,
        "line": fault.line,
        "place": place_text(fault.place),
        "what": fault.what,
        "mend": fault.mend,
    }


def _warning_rows(warnings: Iterable[Fault]) -> list[Document]:
    """Warnings of a plan as a cycle has them; `/` stands for what is said of no consumer (SPEC §11)."""
    return [
        {
            "consumer": each.place[3] if each.place[2:3] == ("consumers",) and each.place[3:] else "/",
            "code": each.code,
            "message": f"{place_text(each.place)}: {each.what}; {each.mend}",
        }
        for each in warnings
    ]


def _quota_table(document: Document, stranded: Mapping[str, int] | None = None) -> str:
    """A table for each resource group; `stranded`: group → units that are held on hosts that are down."""
    texts = []
    owning = ("demand", "need", "owned", "reserve", "limit", "allocated", "quota", "free")
    sharing = ("demand", "need", "share_ratio", "planned", "limit", "allocated", "quota", "free")
    shown: dict[str, None] = {}
    for group, result in document["resource_groups"].items():
        idle = f", {result['idle']} idle after this cycle" if "idle" in result else ""
        lost = (stranded or {}).get(group, 0)
        if lost:
            idle += f" ({lost} {'unit' if lost == 1 else 'units'} still held on hosts that are down)"
        columns = sharing if "share_ratio" in result["consumers"]["/"] else owning
        rows = [(path, *(values[column] for column in columns)) for path, values in result["consumers"].items()]
        texts.append(f"{group}: {count(result['slots'], 'slot')}{idle}\n" + table(("consumer", *columns), rows))
        shown |= dict.fromkeys(columns)
    return "\n\n".join([*texts, legend(shown)])


def _stranded(state: State) -> dict[str, int]:
    """Resource group → units that are held on hosts that are down: of the slots there, so many."""
    group_of = {request.id: request.resource_group for request in state.requests}
    units: dict[str, int] = {}
    for row in state.allocations:
        if row.host in state.hosts_down:
            group = group_of[row.request]
            units[group] = units.get(group, 0) + row.units
    return units


def print_quota(plan_path: Path, state_path: Path, *, as_json: bool) -> None:
    """`quota`: what everybody is entitled to, of the state as it is."""
    from fairhold.cycle.document import quota_document  # noqa: PLC0415

    plan = open_plan(plan_path)
    document = quota_document(plan, read_state(state_path, plan))
    if as_json:
        print_json(document)
    else:
        print_text(_all_tables(document))


def print_cycle(plan_path: Path, state_path: Path, after: Path | None, *, as_json: bool, check: bool = False) -> None:
    """`cycle`: one whole cycle and the state after it, also written to a file if one is given.

    after : file; standard output then holds nothing but the state
    check : check the invariants of the cycle; raises BrokenRuleError before anything is printed
    """
    from fairhold.cycle.document import run_cycle  # noqa: PLC0415

    if after is not None:
        refuse_same(after, plan_path, "--after names the plan")
    plan, warnings = read_plan(plan_path, places=True)
    if not as_json or after == STANDARD_OUTPUT:
        _warn(warnings)
    cycle = run_cycle(plan, read_state(state_path, plan, places=True), check=check)
    if cycle.untrue:
        raise BrokenRuleError("\n".join(f"{line} [{BrokenRuleError.code}]" for line in cycle.untrue))
    state = state_document(plan, cycle.after)
    if after == STANDARD_OUTPUT:
        print_json(state)
        return
    if after is not None:
        write_whole(after, json.dumps(state, indent=1) + "\n")
    if as_json:
        told = [*_warning_rows(warnings), *cycle.document["warnings"]]
        print_json(cycle.document | {"warnings": told, "state": state})
        return
    print_text(_all_tables(cycle.document, _stranded(cycle.after)))
    for name, title in (
        ("stops", "Stopped (grace expired)"),
        ("grants", "Granted"),
        ("reclaims", "Reclaimed"),
        ("observed", "Observed only, no notice given"),
        ("withdrawn", "Notices withdrawn"),
    ):
        if name not in cycle.document:
            continue
        rows = cycle.document[name]
        print_text(f"\n{title}: {'' if rows else 'nothing'}".rstrip(" "))
        if rows:
            print_text(moves_table(rows))
    if "pools" in cycle.document:
        print_text(f"\n{ownership_text(cycle.document)}")


def _all_tables(document: Document, stranded: Mapping[str, int] | None = None) -> str:
    """Quotas of all resource groups, fair shares of queues, quotas of all pools, and which hosts are not up."""
    groups = document["resource_groups"]
    queues = [queue_table(name, group) for name, group in groups.items() if is_of_queues(group)]
    slots = {name: group for name, group in groups.items() if not is_of_queues(group)}
    texts = [_quota_table(document | {"resource_groups": slots}, stranded)] if slots else []
    if queues:
        queues.append(legend(queue_columns(groups.values())))
    pools = list(pool_tables(document))
    if pools:
        pools.append(legend(POOL_COLUMNS))
    return with_hosts("\n\n".join([*texts, *queues, *pools]), document)


def moves_table(rows: list[Document]) -> str:
    """Rows of units that move, in the same columns for all kinds of moves."""
    keys = {key: None for row in rows for key in row}
    head = [key for key in dict.fromkeys(("at", *_MOVE_COLUMNS, *keys)) if key in keys]
    return table(head, [[_cell(row.get(key)) for key in head] for row in rows])


def _cell(value: object) -> object:
    """A value of a move; lenders as `2 /Research, 1 /Trading`."""
    return ", ".join(f"{units} {path}" for path, units in value.items()) if isinstance(value, dict) else value


def unknown(kind: str, name: str, known: tuple[str, ...]) -> Fault:
    """An argument names what is not in the plan."""
    from difflib import get_close_matches  # noqa: PLC0415

    near = get_close_matches(name, known, n=1)
    mend = f"did you mean `{near[0]}`?" if near else f"there are: {', '.join(known[:10])}"
    return Fault(f"unknown-{kind.replace(' ', '-')}", f"there is no {kind} `{name}` in the plan", mend)


def verify_result(plan_path: Path, state_path: Path, result_path: Path, *, as_json: bool) -> None:
    """`verify`: findings of the independent check; none, and the result obeys the rules."""
    from fairhold.cycle.verify import is_cycle, not_judged, verify  # noqa: PLC0415
    from fairhold.planio.document import parse_document, read_text  # noqa: PLC0415

    plan, warnings = read_plan(plan_path)
    _warn(warnings)
    state = read_state(state_path, plan)
    result = parse_document(read_text(result_path), str(result_path)).value
    if (
        not isinstance(result, dict)
        or "resource_groups" not in result
        or {"fairhold", "fairhold_state"} & result.keys()
    ):
        what = "this is not a result of `fairhold quota --json` or `fairhold cycle --json`"
        mend = "write one with `--json` and give that file, after PLAN and STATE"
        raise InputError([Fault("not-a-result", what, mend, file=str(result_path))])
    if is_cycle(result) and (state.has_amounts or any(each.capacity for each in plan.resource_groups.values())):
        read_state(state_path, read_plan(plan_path, places=True)[0], places=True)
    findings = verify(plan, state, result, _warning_rows(warnings))
    if as_json:
        rows = [
            {"rule": row.rule, "where": row.where, "said": row.said, "expected": row.expected, "text": row.text}
            for row in findings
        ]
        print_text(json.dumps({"findings": rows}, indent=1, default=str))
    elif not findings and (left := not_judged(plan, state)):
        rules = ", ".join(f"{rule} of {group}" for group, rule in left.items())
        print_text(
            f"{printable(str(result_path))}: slots were not checked: the check does not cover such a state [{rules}]"
        )
    elif not findings:
        print_text(
            f"{printable(str(result_path))}: obeys the rules; every number was computed again by independent code"
        )
    else:
        print_text("\n".join(printable(f"{row.where}: {row.text}{_numbers(row)} [{row.rule}]") for row in findings))
    if findings:
        raise SystemExit(1)


def _numbers(finding: Finding) -> str:
    if finding.said is None and finding.expected is None:
        return ""
    return f" (said {finding.said}, expected {finding.expected})"


def print_schema(kind: str) -> None:
    """`schema`: the JSON Schema of a file format."""
    from fairhold.planio.schema import KINDS, schema  # noqa: PLC0415

    if kind not in KINDS:
        raise UsageError(f"there is no schema of `{kind}`; ask for {', '.join(KINDS[:-1])} or {KINDS[-1]}")
    print_text(schema(kind).rstrip())
