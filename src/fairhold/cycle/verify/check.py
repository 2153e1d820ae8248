"""`verify`: recompute the result, compare it, and check the conditions, for slots and for pools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.cycle.verify.pooled.compare import compare_moves, compare_pools
from fairhold.cycle.verify.pooled.conditions import check_pools
from fairhold.cycle.verify.pooled.expected import expected_moves, expected_pools
from fairhold.cycle.verify.pooled.force import is_of_vectors, shares_now
from fairhold.cycle.verify.pooled.parting import part, slots_of, vectors_of
from fairhold.reference.check import SlotJudge, is_cycle
from fairhold.reference.compare import FORMAT, differences
from fairhold.reference.expected import hosts_document
from fairhold.reference.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairhold.model.plan import Plan
    from fairhold.model.state import State


def verify(
    plan: Plan, state: State, result: dict[str, Any], warned: Sequence[dict[str, Any]] = ()
) -> tuple[Finding, ...]:
    """All findings about a result of `fairhold quota --json` or `fairhold cycle --json`; empty: it is correct.

    warned : warnings of the plan, as rows of `warnings`; in a cycle's result they precede the cycle's own
    """
    if not isinstance(result, dict):
        return (Finding(FORMAT, "result", type(result).__name__, "a mapping", "is not a result"),)
    result = {**result}
    told, expected = _by_number(result.pop("hosts", {})), _by_number(hosts_document(plan, state))
    absent = list(differences("R-UP-1", "hosts", told, expected))
    said = result.get("warnings")
    if not warned or not is_cycle(result) or not isinstance(said, list):
        return (*absent, *_findings(plan, state, result))
    of_plan, of_cycle = said[: len(warned)], said[len(warned) :]
    findings = (*absent, *_findings(plan, state, result | {"warnings": of_cycle}))
    if of_plan != [*warned]:
        findings += (Finding(FORMAT, "warnings", of_plan, [*warned], "begin with other warnings than the plan has"),)
    return findings


def not_judged(plan: Plan, state: State) -> dict[str, str]:
    """Resource group of slots → the rule that is not looked at, as its state is one that no cycle leaves."""
    return SlotJudge(plan, slots_of(state)).not_judged


def _by_number(hosts: object) -> dict[Any, Any]:
    """The hosts of a result that are not up, by group, with types, so that `3.0` does not equal 3."""
    groups = hosts if isinstance(hosts, dict) else {"": hosts}
    return {
        (name, key): value
        for name, group in groups.items()
        for key, value in (group.items() if isinstance(group, dict) else (("", group),))
    }


def _findings(plan: Plan, state: State, result: dict[str, Any]) -> tuple[Finding, ...]:
    """Findings about a result, without the warnings of its plan and the hosts that are not up."""
    if not shares_now(plan, state):
        return tuple(_check(SlotJudge(plan, state).findings(result), iter(())))
    groups = [name for name in plan.resource_groups if is_of_vectors(plan, name)]
    queues = [share.name for share in shares_now(plan, state) if share.entry.policy.has_queues]
    slots, pools = part(result, vectors_of(state), groups, queues)
    findings = _check(SlotJudge(plan, slots_of(state)).findings(slots), iter(()))
    findings += _check(_pools(plan, state, pools, is_whole=is_cycle(result)), check_pools(plan, state, pools))
    return tuple(findings)


def _check(compared: Iterator[Finding], conditions: Iterator[Finding]) -> list[Finding]:
    """All differences, and the conditions that are violated where the result has the agreed form."""
    findings = list(compared)
    if all(finding.rule != FORMAT for finding in findings):
        try:
            findings += conditions
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            findings.append(Finding(FORMAT, "result", repr(error), "the agreed form", "cannot be read"))
    return findings


def _pools(plan: Plan, state: State, result: dict[str, Any], *, is_whole: bool) -> Iterator[Finding]:
    expected = expected_moves(plan, state) if is_whole else expected_pools(plan, state)
    yield from compare_pools(result, expected)
    if is_whole:
        yield from compare_moves(plan, state, result, expected)
