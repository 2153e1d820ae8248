"""The plan that an import makes: what is written of it, and its text with notes as comments."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from fairhold.errors import printable
from fairhold.model.vector import decimal_text
from fairhold.planio.scalars import resolve
from fairhold.planio.yamlmarks import LONGEST_KEY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fairhold.errors import Fault

Written: TypeAlias = "str | int | Fraction | tuple[str, ...] | Mapping[str, Written]"
"""What stands in a plan: text, numbers, lists of text, mappings."""
_PLAIN = re.compile(r"[A-Za-z0-9/][A-Za-z0-9_./=-]*")


@dataclass(frozen=True)
class Entry:
    """One policy entry.

    group     : the resource group that it shares
    settings  : of the policy
    consumers : path → what it states
    """

    group: str
    settings: Mapping[str, Written]
    consumers: Mapping[str, Mapping[str, Written]]


@dataclass
class Draft:
    """What a plan says.

    about     : lines at its top
    resources : name → its settings
    groups    : name → resource → amount in all
    hosts     : of the first group, in the place of its amounts
    consumers : paths, parents first
    names     : resource → its name in the cluster, where that is not the usual one
    pods      : rules that say whose a pod is
    assumed   : what is to be said about amounts that the files do not have
    """

    about: list[str]
    resources: dict[str, Mapping[str, Written]] = field(default_factory=dict)
    groups: dict[str, Mapping[str, Written]] = field(default_factory=dict)
    hosts: list[Mapping[str, Written]] = field(default_factory=list)
    consumers: list[str] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    pods: list[Mapping[str, Written]] = field(default_factory=list)
    assumed: list[Fault] = field(default_factory=list)

    def text(self, notes: Sequence[Fault]) -> str:
        """The plan as YAML; every note is a comment at its top."""
        return "".join(f"{line}\n" for line in self._lines(notes))

    def _lines(self, notes: Sequence[Fault]) -> Iterator[str]:
        yield from (f"# {printable(line)}" for line in self.about)
        if notes:
            yield "#"
            yield "# What the files say, and the plan does not say or says in another way:"
            yield "#"
        for note in notes:
            yield from (f"# {line}" for line in str(note).split("\n"))
        yield "fairhold: 1"
        yield f"resources: {flow(self.resources)}"
        yield "resource_groups:"
        for name, amounts in self.groups.items():
            yield f"  {flow(name)}:" if self.hosts else f"  {flow(name)}: {flow({'capacity': amounts})}"
        if self.hosts:
            yield "    hosts:"
            yield from (f"      - {flow(host)}" for host in self.hosts)
        yield "consumers:"
        for path in self.consumers:
            yield from _pair("  ", path, {})
        yield from self._of_the_cluster()
        yield "policies:"
        for entry in self.entries:
            yield f"  - resource_groups: [{flow(entry.group)}]"
            yield "    policy: fair_share"
            if entry.settings:
                yield f"    settings: {flow(entry.settings)}"
            yield "    consumers:" if entry.consumers else "    consumers: {}"
            for path, stated in entry.consumers.items():
                yield from _pair("      ", path, stated)

    def _of_the_cluster(self) -> Iterator[str]:
        """What a service that governs the cluster reads."""
        if self.names or self.pods:
            yield "kubernetes:"
        if self.names:
            yield f"  resources: {flow(self.names)}"
        if self.pods:
            yield "  pods:"
            yield from (f"    - {flow(rule)}" for rule in self.pods)


def _pair(indent: str, key: str, value: Mapping[str, Written]) -> Iterator[str]:
    """A key with its value; YAML reads a long key only behind a question mark."""
    text = flow(key)
    if len(text) < LONGEST_KEY:
        yield f"{indent}{text}: {flow(value)}"
    else:
        yield f"{indent}? {text}"
        yield f"{indent}: {flow(value)}"


def flow(value: Written) -> str:
    """A value in one line of YAML."""
    if isinstance(value, str):
        is_plain = _PLAIN.fullmatch(value) and resolve(value) == value
        return value if is_plain else json.dumps(value, ensure_ascii=False)
    if isinstance(value, (int, Fraction)):
        return decimal_text(Fraction(value))
    if isinstance(value, tuple):
        return f"[{', '.join(map(flow, value))}]"
    return "{" + ", ".join(f"{flow(key)}: {flow(each)}" for key, each in value.items()) + "}"
