"""What the service says of jobs and hosts, in words that Kubernetes has, for people who made a pod."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

_QUOTED = r"`[^`]*`|\"[^\"]*\""
_RELEASE = re.compile(r"it is held: (.*); `fairhold release \S+` lets it continue")
"""Of a hold that ends by itself."""
_PHRASES = (
    ("its `unit` is missing: its leaf shares resources of hosts", "it asks for nothing of what the plan shares"),
    ("`place: pack` wants one host, and the largest", "a pod is on one node, and the largest"),
    ("lower `min_count` to", "lower the number of pods that start together to"),
    ("`min_count`", "the number of pods that start together"),
    ("the user limit", "the limit per namespace"),
    ("ask for labels that hosts have, or label a host in the plan", "ask for labels that nodes have, or label a node"),
    ("`fairhold hosts` shows why", "`kubectl get nodes` shows which are cordoned or not ready"),
    ("with no taints", "without taints"),
)
_WORDS = {
    "its unit": "it",
    "the unit": "what each asks for",
    "such unit": "such pod",
    "such units": "such pods",
    "host": "node",
    "hosts": "nodes",
    "unit": "pod",
    "units": "pods",
    "task": "pod",
    "tasks": "pods",
    "inventory": "cluster",
}
_ANY = re.compile(rf"(?<![\w/.=-])({'|'.join(sorted(_WORDS, key=len, reverse=True))})(?![\w/=-]|\.\w)")


def in_kubernetes(text: str, names: Collection[str] = ()) -> str:
    """A sentence about a job, its tasks and hosts, about a pod and nodes.

    names : which stay as they are, as all that is quoted does; a name of one word does by itself where it is a path
    """
    text = _RELEASE.sub(r"\1", text)
    for phrase, said in _PHRASES:
        text = text.replace(phrase, said)
    kept = sorted((re.escape(name) for name in names if name in text), key=len, reverse=True)
    parts = re.split(f"({'|'.join((_QUOTED, *kept))})", text)
    parts[::2] = [_ANY.sub(lambda found: _WORDS[found[1]], part) for part in parts[::2]]
    return "".join(parts)
