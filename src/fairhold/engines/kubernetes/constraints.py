"""Which nodes a pod accepts: node selector, required node affinity, tolerations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

KEEPING_OUT = ("NoSchedule", "NoExecute")
"""Effects of taints that keep pods out."""
_OF_LABELS, _OF_TAINTS = re.compile(r"[0-9]+"), re.compile(r"0|-?[1-9][0-9]*")
"""How numbers are written in labels, and in taints and tolerations; `int` would take more."""


class Taint(NamedTuple):
    """A node keeps out pods that do not tolerate it."""

    key: str
    value: str
    effect: str


class Toleration(NamedTuple):
    """What a pod tolerates; an empty key with `Exists` is everything, an empty effect any."""

    key: str
    operator: str
    value: str
    effect: str

    def covers(self, taint: Taint) -> bool:
        """Whether a taint is tolerated."""
        if self.effect not in {"", taint.effect}:
            return False
        if self.operator == "Exists":
            return self.key in {"", taint.key}
        if self.key != taint.key:
            return False
        if self.operator == "Equal":
            return self.value == taint.value
        return _holds(self.operator, taint.value, self.value, _OF_TAINTS)


class Expression(NamedTuple):
    """One requirement of a label of a node, or of its name."""

    key: str
    operator: str
    values: tuple[str, ...]

    def holds(self, labels: Mapping[str, str]) -> bool:
        """Whether labels meet it."""
        value = labels.get(self.key)
        if self.operator == "In":
            return value in self.values
        if self.operator == "NotIn":
            return value not in self.values
        if self.operator == "Exists":
            return value is not None
        if self.operator == "DoesNotExist":
            return value is None
        if value is None or len(self.values) != 1:
            return False
        return _holds(self.operator, value, self.values[0], _OF_LABELS)

    def __str__(self) -> str:
        if self.operator in {"In", "NotIn"}:
            return f"{self.key} {'not ' if self.operator == 'NotIn' else ''}in ({', '.join(self.values)})"
        words = {"Exists": "is there", "DoesNotExist": "is not there", "Gt": ">", "Lt": "<"}
        return " ".join((self.key, words.get(self.operator, self.operator), *self.values))


class Term(NamedTuple):
    """Requirements that a node must meet together."""

    labels: tuple[Expression, ...]
    fields: tuple[Expression, ...]

    def holds(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether a node meets them; a term without requirements takes none."""
        if not self.labels and not self.fields:
            return False
        return all(each.holds(labels) for each in self.labels) and all(
            each.holds({"metadata.name": name}) for each in self.fields
        )


class Constraint(NamedTuple):
    """All that a pod says of nodes; many pods say the same.

    terms : of required affinity, one of which is to hold; None = there is none
    """

    selector: tuple[tuple[str, str], ...] = ()
    terms: tuple[Term, ...] | None = None
    tolerations: tuple[Toleration, ...] = ()

    def suits(self, name: str, labels: Mapping[str, str], taints: Iterable[Taint]) -> bool:
        """Whether a node with these labels and taints will do."""
        kept_out = (taint for taint in taints if taint.effect in KEEPING_OUT and not self.tolerates(taint))
        return self.has_labels(name, labels) and next(kept_out, None) is None

    def has_labels(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether a node with these labels will do, whatever its taints are."""
        is_chosen = all(labels.get(key) == value for key, value in self.selector)
        return is_chosen and (self.terms is None or any(term.holds(name, labels) for term in self.terms))

    def tolerates(self, taint: Taint) -> bool:
        """Whether a taint does not keep the pod out."""
        return any(toleration.covers(taint) for toleration in self.tolerations)

    def __str__(self) -> str:
        """Its requirements in words; empty where any node without taints will do."""
        parts = [f"{key}={value}" for key, value in self.selector]
        for term in (self.terms or ())[:1]:
            parts += [str(each) for each in (*term.labels, *term.fields)]
        if self.terms is not None and len(self.terms) > 1:
            parts.append(f"or one of {len(self.terms) - 1} other terms")
        return ", ".join(parts)


def constraint_of(spec: Mapping[str, Any]) -> Constraint:
    """What the spec of a pod says of nodes."""
    affinity = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    terms = None
    if affinity is not None:
        terms = tuple(
            Term(_expressions(each.get("matchExpressions")), _expressions(each.get("matchFields")))
            for each in affinity.get("nodeSelectorTerms") or ()
        )
    tolerations = tuple(
        Toleration(
            each.get("key") or "", each.get("operator") or "Equal", each.get("value") or "", each.get("effect") or ""
        )
        for each in spec.get("tolerations") or ()
    )
    return Constraint(tuple(sorted((spec.get("nodeSelector") or {}).items())), terms, tuple(sorted(tolerations)))


def taints_of(spec: Mapping[str, Any]) -> tuple[Taint, ...]:
    """The taints of a node that keep pods out."""
    return tuple(
        Taint(each.get("key") or "", each.get("value") or "", each["effect"])
        for each in spec.get("taints") or ()
        if each.get("effect") in KEEPING_OUT
    )


def _expressions(stated: Iterable[Mapping[str, Any]] | None) -> tuple[Expression, ...]:
    return tuple(
        Expression(each.get("key") or "", each.get("operator") or "", tuple(each.get("values") or ()))
        for each in stated or ()
    )


def _holds(operator: str, value: str, bound: str, form: re.Pattern[str]) -> bool:
    """Whether `Gt` or `Lt` holds between two whole numbers; what is none, or another operator, never does."""
    if not all(len(each) < 300 and form.fullmatch(each) for each in (value, bound)):
        return False
    one, other = int(value), int(bound)
    if not all(-(2**63) <= each < 2**63 for each in (one, other)):
        return False
    return one > other if operator == "Gt" else operator == "Lt" and one < other
