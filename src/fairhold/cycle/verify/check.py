"""`verify`: recompute, compare, look at the conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.cycle.verify.compare import (
    CYCLE_KEYS,
    FORMAT,
    compare_rows,
    compare_state,
    compare_tables,
)
from fairhold.cycle.verify.conditions import check_conditions
from fairhold.cycle.verify.expected import cycle_document, expected_quota, run_cycle
from fairhold.cycle.verify.finding import Finding

if TYPE_CHECKING:
    from fairhold.model.plan import Plan
    from fairhold.model.state import State


def verify(plan: Plan, state: State, result: dict[str, Any]) -> tuple[Finding, ...]:
    """Everything that is wrong with a result of `fairhold quota --json` or `fairhold cycle --json`; empty if right."""
    if not isinstance(result, dict):
        return (Finding(FORMAT, "result", type(result).__name__, "a mapping", "is no result"),)
    findings: list[Finding] = []
    if is_cycle(result):
        cycles = run_cycle(plan, state)
        expected = cycle_document(plan, state, cycles)
        reasons = {(name, leaf): may for name, each in cycles.items() for leaf, may in each.reasons.items()}
        findings += compare_tables(result, expected)
        findings += compare_rows(plan, result, expected, reasons)
        findings += compare_state(plan, state, result, expected)
    else:
        findings += compare_tables(result, expected_quota(plan, state))
    if all(finding.rule != FORMAT for finding in findings):
        try:
            findings += check_conditions(plan, state, result)
        except (KeyError, TypeError) as error:
            findings.append(Finding(FORMAT, "result", repr(error), "the agreed form", "cannot be read"))
    return tuple(findings)


def is_cycle(result: dict[str, Any]) -> bool:
    """Whether a result comes from `cycle`: it has one of the parts that only a cycle has."""
    return any(key in result for key in CYCLE_KEYS)
