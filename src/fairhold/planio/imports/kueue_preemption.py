"""`preemption` of a ClusterQueue → settings of a queue under `fair_share`, which always takes back what it deserves."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairhold.planio.imports.objects import KubernetesObject
    from fairhold.planio.values import Value

FOREVER = "366d"
"""The longest duration that a plan has."""
NEVER, LOWER = "Never", "LowerPriority"
_WITHIN = (NEVER, LOWER, "LowerOrNewerEqualPriority")
_RECLAIM = (NEVER, LOWER, "Any")
_BORROW = (NEVER, LOWER)
_INSIDE = "its work never preempts other work of the same queue"
_KEYS = ("withinClusterQueue", "reclaimWithinCohort", "borrowWithinCohort")


def preemption_settings(found: KubernetesObject, *, has_cohort: bool) -> dict[str, str]:
    """What a plan says of it; Kueue's default is to preempt never."""
    stated = found.report.mapping(found.spec.get("preemption"), found.at("preemption"))
    for key in [each for each in stated if each not in _KEYS]:
        found.leave(stated[key], "Kueue has no such field that is known", "leave it out", "preemption", key)
    within = _word(found, stated, _KEYS[0], _WITHIN)
    reclaim = _word(found, stated, _KEYS[1], _RECLAIM)
    _leave_borrow(found, stated.get("borrowWithinCohort"))
    takes_back = has_cohort and reclaim != NEVER
    if within == _WITHIN[2]:
        why = "work of the same priority is not preempted inside a queue"
        found.leave(within, why, "give what is urgent a higher priority", "preemption", _KEYS[0])
    if takes_back and reclaim == LOWER:
        why = "what a queue deserves comes back from work of any priority"
        found.leave(reclaim, why, "let important work be `preemptible: false`", "preemption", _KEYS[1])
    if not has_cohort:
        return {} if within != NEVER else _never(found, "preempt_min_runtime", _INSIDE)
    if within == NEVER:
        if takes_back:
            return _never(found, "preempt_min_runtime", _INSIDE, _KEYS[0])
        return _never(found, "preemption_delay", "it never preempts")
    if not takes_back:
        why = "a queue that preempts inside itself takes back what it deserves, too"
        steps = ("preemption", _KEYS[1]) if _KEYS[1] in stated else ("preemption",)
        found.leave(NEVER, why, f"let it wait by `preemption_delay: {FOREVER}`, which stops both", *steps)
    return {}


def _never(found: KubernetesObject, key: str, what: str, of: str = "") -> dict[str, str]:
    steps = ("preemption", of) if of else ("preemption",)
    said = f"{what}, which is carried over as `{key}: {FOREVER}`"
    found.note("carried-otherwise", said, "take that out where it is not meant", *steps)
    return {key: FOREVER}


def _word(found: KubernetesObject, stated: dict[str, Value], key: str, known: tuple[str, ...]) -> str:
    value = stated.get(key)
    return NEVER if value is None else found.report.word(value, found.at("preemption", key), known) or NEVER


def _leave_borrow(found: KubernetesObject, value: Value) -> None:
    steps = ("preemption", _KEYS[2])
    stated = found.report.mapping(value, found.at(*steps))
    policy = stated.get("policy")
    if policy is not None:
        found.report.word(policy, found.at(*steps, "policy"), _BORROW)
    for key, each in stated.items():
        if (key, each) != ("policy", NEVER):
            why = "a queue takes up to its fair share, from who is above his, whatever the priority"
            found.leave(each, why, "let important work be `preemptible: false`", *steps, key)
