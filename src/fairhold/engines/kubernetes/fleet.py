"""The nodes, and what of them is left for governed pods; which nodes suit which pods, as labels of hosts."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.avoiding import NOT_BOUND, Avoided
from fairhold.engines.kubernetes.requests import less
from fairhold.engines.kubernetes.wording import in_kubernetes
from fairhold.model.kubernetes import Node
from fairhold.orchestrator.events import MachineClosed, MachineGone, MachineLabelled, MachineOpened, MachineSilent

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from fairhold.engines.kubernetes.constraints import Constraint
    from fairhold.engines.kubernetes.pods import NodeSeen, Pod
    from fairhold.model.kubernetes import Amounts
    from fairhold.orchestrator.events import Event

LONGEST_WORDS = 32
"""Letters of what pods say of nodes in the label of the nodes that suit them; a label has 63."""
_MARKS = re.compile(r"[^A-Za-z0-9]+")
CORDONED = "the node is cordoned"
ENOUGH = 64
"""Different things that pods say of nodes, up to which none of them is forgotten."""


class _Machine(NamedTuple):
    """A node as the service was told of it."""

    is_there: bool = False
    boot: str = ""
    is_closed: bool = False
    is_lost: bool = False
    labels: tuple[str, ...] = ()


_UNSEEN = _Machine()


class Fleet:
    """All nodes.

    suitable : what pods say of nodes → label of the hosts that will do; avoided: hosts that do not for a while
    spaced   : paths of the plan with blanks, which no text about nodes may change
    """

    def __init__(self) -> None:
        self.nodes: dict[str, NodeSeen] = {}
        self.suitable: dict[Constraint, str] = {}
        self.avoided, self.spaced = Avoided(), list[str]()
        self._fitting: dict[str, set[str]] = {}
        """Labels of `suitable` that hosts have."""
        self._foreign: dict[str, dict[str, Amounts]] = {}
        self._node_of: dict[str, str] = {}
        self._told: dict[str, Node] = {}
        self._machines: dict[str, _Machine] = {}
        self._changed: set[str] = set()
        self._gone: dict[str, int] = {}
        """Nodes whose objects are gone, and since when, but for `_given_up`, which count as lost."""
        self._given_up: set[str] = set()
        self.is_to_forget = False
        """The object of a node is gone, or nothing of such a node is booked any more, since somebody looked."""
        self._resources: frozenset[str] = frozenset()
        self._enough = ENOUGH
        self.is_other = False
        """A node has come, or has other amounts or taints, since somebody looked."""

    # What is seen

    def see(self, node: NodeSeen) -> None:
        """A node is there, or has changed."""
        before, self.nodes[node.name] = self.nodes.get(node.name), node
        if before is None or (before.labels, before.taints) != (node.labels, node.taints):
            suiting = (label for each, label in self.suitable.items() if _suits(each, node))
            self._fitting[node.name] = set(suiting)
        is_same = before is not None and (before.amounts, before.taints) == (node.amounts, node.taints)
        self.is_other |= not is_same
        self._gone.pop(node.name, None)
        self._given_up.discard(node.name)
        self._changed.add(node.name)

    def lose(self, name: str, now: int) -> None:
        """The object of a node is gone."""
        self.nodes.pop(name, None)
        self._fitting.pop(name, None)
        self._gone.setdefault(name, now)
        self._changed.add(name)
        self.is_to_forget = True

    def gone_since(self, name: str) -> int:
        """Since when the object of a node is gone, 0 = it is there, or the node counts as lost."""
        return self._gone.get(name, 0)

    def give_up(self, now: int, patience: int) -> int:
        """Count nodes as lost whose objects have been gone for so long; when the next will have been, 0 = never."""
        late = {name for name, since in self._gone.items() if since + patience <= now}
        for name in late:
            del self._gone[name]
        self._given_up |= late
        self._changed |= late
        return min(self._gone.values(), default=-patience) + patience

    def see_foreign(self, pod: Pod) -> None:
        """A pod that the plan does not govern: what it asks for is not to be had on its node while it is not over."""
        node = "" if pod.end is not None else pod.node
        before = self._node_of.get(pod.uid, "")
        if before and before != node:
            self.lose_foreign(pod.uid)
        if node and self._foreign.setdefault(node, {}).get(pod.uid) != pod.amounts:
            self._foreign[node][pod.uid] = pod.amounts
            self._node_of[pod.uid] = node
            self._changed.add(node)

    def lose_foreign(self, uid: str) -> None:
        """A pod is gone, or is governed now."""
        node = self._node_of.pop(uid, "")
        if node:
            del self._foreign[node][uid]
            self._changed.add(node)

    def label_for(self, constraint: Constraint) -> str:
        """Label of the hosts that suit a pod; a new one comes to the hosts with the next `labels`."""
        label = self.suitable.get(constraint)
        if label is None:
            digest = sha256(repr(constraint).encode()).hexdigest()[:8]
            words = _MARKS.sub("-", str(constraint))[:LONGEST_WORDS].strip("-") or "any"
            label = self.suitable[constraint] = f"{names.DOMAIN}/suits-{words}-{digest}"
            suiting = [name for name, node in self.nodes.items() if _suits(constraint, node)]
            for name in suiting:
                self._fitting[name].add(label)
            self._changed.update(suiting)
        return label

    def lacking(self, constraint: Constraint, amounts: Amounts) -> str:
        """Of what no node that suits has so much: the first such resource; empty = one has all of it, or none suits."""
        label, least = self.label_for(constraint), len(amounts)
        found = ""
        for name, node in self.nodes.items() if amounts else ():
            if label not in self._fitting[name]:
                continue
            there = dict(node.amounts)
            has = next((at for at, (each, amount) in enumerate(amounts) if there.get(each, 0) < amount), least)
            if has == least:
                return ""
            found = amounts[has][0]
        return found

    def forget_gone(self, holding: Callable[[], Collection[str]]) -> None:
        """Forget nodes whose objects are gone, where that was told; holding: nodes of which something is booked."""
        if not self.is_to_forget:
            return
        self.is_to_forget, kept = False, {*self.nodes, *holding(), *self._changed}
        for name in self._machines.keys() - kept:
            del self._machines[name]
            self._gone.pop(name, None)
            self._given_up.discard(name)
        for name in [name for name, pods in self._foreign.items() if not pods and name not in self.nodes]:
            del self._foreign[name]

    def forget_but(self, needed: Callable[[], Iterable[Constraint]]) -> None:
        """Forget what no pod says of nodes any more, where that may be most of it; needed: what pods say."""
        if len(self.suitable) <= self._enough:
            return
        said = set(needed())
        gone = [constraint for constraint in self.suitable if constraint not in said]
        labels = {self.suitable.pop(constraint) for constraint in gone}
        for name, mine in self._fitting.items():
            if not labels.isdisjoint(mine):
                mine.difference_update(labels)
                self._changed.add(name)
        self._enough = max(ENOUGH, 2 * len(self.suitable))

    def in_words(self, text: str) -> str:
        """A text for people, in words of Kubernetes, in which labels of suitable hosts are what pods say of nodes."""
        text = NOT_BOUND.sub("trouble to bind it", text)
        for constraint, label in self.suitable.items() if names.DOMAIN in text else ():
            text = text.replace(label, str(constraint) or "no taints")
        return in_kubernetes(text, self.spaced)

    def why_none_suits(self, constraint: Constraint) -> tuple[str, str]:
        """Why no node at all suits a pod, and what to do about that; empty = one does."""
        label = self.label_for(constraint)
        if any(label in fitting for fitting in self._fitting.values()):
            return "", ""
        if not self.nodes:
            return "the cluster has no node", "add nodes"
        there = [node for node in self.nodes.values() if constraint.has_labels(node.name, node.labels)]
        if not there:
            return f"no node has the labels that it asks for: {constraint}", "ask for labels of nodes, or label a node"
        node = min(there, key=lambda each: each.name)
        taint = next(each for each in node.taints if not constraint.tolerates(each))
        words = f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"
        which = f"with the labels that it asks for, {constraint}," if str(constraint) else "of the cluster"
        what = f"all nodes {which} have taints that it does not tolerate, `{node.name}` has `{words}`"
        return what, "give the pod a toleration, or take the taint off"

    def host_name(self, name: str) -> str:
        """Value of the label by which pods are pinned to a node."""
        node = self.nodes.get(name)
        return node.labels.get(names.HOSTNAME, name) if node else name

    # What it means for the service

    def changes(self, resources: frozenset[str]) -> dict[str, Node | None]:
        """Nodes that have other labels, or other amounts of what the plan shares, than was told; they are told now."""
        if resources != self._resources:
            self._resources = resources
            self._changed.update(self.nodes)
        found: dict[str, Node | None] = {}
        for name in sorted(self._changed):
            node = self._node(name)
            if node != self._told.get(name):
                found[name] = node
        for name, node in found.items():
            if node is None:
                self._told.pop(name, None)
            else:
                self._told[name] = node
        return found

    def _node(self, name: str) -> Node | None:
        """A node without a host name cannot be pinned: it is no host."""
        seen = self.nodes.get(name)
        if seen is None or seen.labels.get(names.HOSTNAME) is None:
            return None
        labels = tuple(sorted(seen.labels.items()))
        there = tuple(each for each in seen.amounts if each[0] in self._resources)
        return Node(name, labels, less(there, self._foreign.get(name, {}).values()))

    def labels(self, name: str) -> tuple[str, ...]:
        """Labels of a host beside those of its node: what pods it suits."""
        if name not in self.nodes:
            return ()
        fitting = sorted(self._fitting[name])
        return (*fitting, *self.avoided.labels(name), f"{names.DOMAIN}/node={name[-63:]}")

    def events(self, *, is_fresh: bool) -> Iterator[Event | str]:
        """What has happened to machines since the last call; a name alone: a report of that machine is due.

        is_fresh : what is known of the cluster is up to date; else every machine is silent
        """
        self._changed |= self.avoided.changed
        self.avoided.changed = set()
        changed = self._changed if is_fresh else self._changed | self._machines.keys()
        self._changed = set() if is_fresh else changed
        for name in sorted(changed):
            before, now = self._machines.get(name, _UNSEEN), self._machine(name, is_fresh=is_fresh)
            self._machines[name] = now
            if now.is_there and (not before.is_there or before.boot != now.boot):
                yield name
            elif before.is_there and not now.is_there:
                yield MachineSilent(name)
            elif now.is_there and before.labels != now.labels:
                yield MachineLabelled(name, now.labels)
            if now.is_lost and not before.is_lost:
                yield MachineGone(name)
            if now.is_closed and not before.is_closed:
                yield MachineClosed(name, CORDONED)
            elif before.is_closed and not now.is_closed:
                yield MachineOpened(name)

    def _machine(self, name: str, *, is_fresh: bool) -> _Machine:
        """A node as it is now: a silent one is not closed anew, as it starts nothing, and may be no host yet."""
        node, before = self.nodes.get(name), self._machines.get(name, _UNSEEN)
        if node is None:
            return _Machine(boot=before.boot, is_lost=name in self._given_up)
        is_there = is_fresh and node.is_ready
        is_closed = node.is_closed and (is_there or before.is_closed)
        return _Machine(is_there, node.boot, is_closed, node.is_lost and not node.is_ready, self.labels(name))


def _suits(constraint: Constraint, node: NodeSeen) -> bool:
    return constraint.suits(node.name, node.labels, node.taints)
