"""Nodes on which kube-scheduler could not bind pods of a family: these are kept from them for a while."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING

from fairhold.engines.kubernetes import names
from fairhold.units import SECOND, format_instant

if TYPE_CHECKING:
    from fairhold.ports.governor import Family

AVOIDED_FOR = 300 * SECOND
"""How long a node is kept from the pods of a family: what was in their way, as a port or a volume, may be gone."""

_PREFIX = f"{names.DOMAIN}/not-bound-"
NOT_BOUND = re.compile(f"{re.escape(_PREFIX)}[0-9a-f]+")
"""A label of nodes that are kept from a family."""


class Avoided:
    """All of them.

    changed : nodes that are kept from others than before, since somebody looked
    """

    def __init__(self) -> None:
        self._until: dict[str, dict[Family, int]] = {}
        self._why: dict[Family, str] = {}
        self.changed: set[str] = set()

    def add(self, family: Family, node: str, until: int, why: str) -> None:
        """Keep a node from a family until an instant; why: in the words of kube-scheduler."""
        self._until.setdefault(node, {})[family] = until
        self._why[family] = why
        self.changed.add(node)

    def run_out(self, now: int) -> bool:
        """Forget what has lasted for long enough; whether there was any."""
        late = [(node, each) for node, of in self._until.items() for each, until in of.items() if until <= now]
        for node, family in late:
            del self._until[node][family]
            self.changed.add(node)
            if not self._until[node]:
                del self._until[node]
            if not any(family in of for of in self._until.values()):
                del self._why[family]
        return bool(late)

    def labels(self, node: str) -> list[str]:
        """Labels of a host that keep pods of these families away."""
        return sorted(map(_label, self._until.get(node, ())))

    def label_of(self, family: Family | None) -> tuple[str, ...]:
        """What a pod of a family avoids; empty = nothing."""
        return (_label(family),) if family in self._why else ()

    def said(self, family: Family | None) -> tuple[str, str]:
        """What kept kube-scheduler from binding pods of a family, and when it is tried again; empty = nothing."""
        if family is None or family not in self._why:
            return "", ""
        ends = {node: of[family] for node, of in self._until.items() if family in of}
        told = f"kube-scheduler could not bind it on {', '.join(sorted(ends))}: {self._why[family]}"
        return told, f"it is tried there again at {format_instant(min(ends.values()))}"


def _label(family: Family) -> str:
    return f"{_PREFIX}{sha256(repr(family).encode()).hexdigest()[:12]}"
