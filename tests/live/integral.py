"""Usage by brute force: reads the log as text, keeps its own picture of who holds what, and adds it up piece by piece.

It shares no code with the service: not its plans, its books or its accounts.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

Row = tuple[str, str, str, str]
USED = ("own", "borrowed", "lent", "lost")


class Piece(NamedTuple):
    """Who, from, to before, units; where both instants are the same: unit-microseconds at it."""

    row: Row
    since: int
    until: int
    units: int


class _Attempt(NamedTuple):
    group: str
    job: str
    places: list[tuple[str, int]]
    started: int

    @property
    def units(self) -> int:
        return sum(units for _, units in self.places)


class _Plan:
    """A plan as its file says it."""

    def __init__(self, text: str) -> None:
        document = json.loads(text)
        self.hosts: dict[tuple[str, str], int] = {}
        for group, said in document["resource_groups"].items():
            for host in said.get("hosts", ()):
                self.hosts[group, host["name"]] = host["slots"]
            if "slots" in said:
                self.hosts[group, ""] = said["slots"]
        self.children = dict(_families("", document["consumers"]))
        self.leaves = [path for path, below in self.children.items() if not below]
        self.said: dict[str, Mapping[str, Any]] = {}
        self.configured: dict[str, int] = {}
        for entry in document["policies"]:
            for group in entry["resource_groups"]:
                self.said[group] = entry["consumers"]
                tops = [f"/{name}" for name in document["consumers"]]
                self.configured[group] = sum(entry["consumers"].get(top, {}).get("owned", 0) for top in tops)

    def number(self, group: str, leaf: str, name: str) -> int:
        return int(self.said[group].get(leaf, {}).get(name, 0))


def _families(above: str, consumers: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """In path order: by rank, then as they stand."""
    names = sorted(consumers, key=lambda each: consumers[each].get("rank", 0))
    yield above, [f"{above}/{name}" for name in names]
    for name in names:
        yield from _families(f"{above}/{name}", consumers[name].get("consumers", {}))


class Integral:
    """Takes the entries of a log one after another; `pieces` is what was used."""

    def __init__(self, plans: Mapping[int, str], own: str) -> None:
        self.plans, self.own = plans, own
        self.pieces: list[Piece] = []
        self.at = 0
        self.plan: _Plan
        self.jobs: dict[str, tuple[str, str, str]] = {}
        self.attempts: dict[int, _Attempt] = {}
        self.hosts: dict[tuple[str, str], tuple[int, bool, int | None]] = {}
        self.silent: set[str] = set()
        self.shut: set[str] = set()

    def take(self, at: int, body: str) -> None:
        """An entry."""
        kind, *fields = json.loads(body)
        self.pass_to(at)
        taker = getattr(self, f"_{kind}", None)
        if taker is not None:
            taker(*fields)

    def pass_to(self, at: int) -> None:
        """Measure from the entry before to an instant."""
        if at > self.at and self.at:
            self.pieces += [
                Piece(row, self.at, at, units)
                for group in self.plan.said
                for row, units in self._now(group).items()
                if units
            ]
        self.at = max(at, self.at)  # the end of an hour is written down later, under its instant

    def _now(self, group: str) -> dict[Row, int]:
        plan = self.plan
        slots = sum(self._slots(group, host) for at, host in self.hosts if at == group)
        configured = plan.configured[group]
        owned = {
            leaf: plan.number(group, leaf, "owned") * slots // configured if configured else 0 for leaf in plan.leaves
        }
        found: dict[Row, int] = defaultdict(int)
        held = dict.fromkeys(plan.leaves, 0)
        for number in sorted(self.attempts):
            attempt = self.attempts[number]
            if attempt.group != group:
                continue
            leaf, user, _ = self.jobs[attempt.job]
            for _ in range(attempt.units):
                kind = "own" if held[leaf] < owned[leaf] else "borrowed"
                held[leaf] += 1
                found[leaf, user, attempt.job, kind] += 1
        for path, part in self._lent(group, slots, held).items():
            found[path, "", "", "lent"] += part
        found["/", "", "", "reserved"] += max(0, min(self._kept(group, "", held), slots - sum(held.values())))
        found["/", "", "", "up"] += slots
        found["/", "", "", "down"] += sum(each for (at, _), (each, _, _) in self.hosts.items() if at == group) - slots
        return found

    def _lent(self, group: str, slots: int, held: Mapping[str, int]) -> dict[str, int]:
        """Who lends slots of a group."""
        plan, configured = self.plan, self.plan.configured[group]
        owned = {
            path: plan.number(group, path, "owned") * slots // configured if configured else 0 for path in plan.children
        }
        reserved = {path: plan.number(group, path, "reserved") for path in plan.children}
        return lenders(plan.children, owned, reserved, slots, held)

    def _kept(self, group: str, path: str, held: Mapping[str, int]) -> int:
        """What a consumer and those below it reserve and do not use; the root, all of them."""
        below = sum(self._kept(group, child, held) for child in self.plan.children[path])
        used = sum(units for leaf, units in held.items() if f"{leaf}/".startswith(f"{path}/"))
        return max(below, self.plan.number(group, path, "reserved") - used) if path else below

    def _slots(self, group: str, host: str) -> int:
        """Of a host that starts nothing only what is in use counts."""
        slots, is_up, _ = self.hosts[group, host]
        machine = "" if host == self.own else host
        if is_up and machine not in self.silent | self.shut:
            return slots
        used = sum(
            units
            for attempt in self.attempts.values()
            for place, units in attempt.places
            if (attempt.group, place) == (group, host)
        )
        return min(slots, used)

    # Entries

    def _PlanApplied(self, version: int, moved: Mapping[str, str], *_: Any) -> None:  # noqa: N802 - name of a kind
        self.plan = plan = _Plan(self.plans[version])
        self.jobs = {job: (_moved(leaf, moved), user, group) for job, (leaf, user, group) in self.jobs.items()}
        used = {(attempt.group, host) for attempt in self.attempts.values() for host, _ in attempt.places}
        before, self.hosts = self.hosts, {name: (slots, True, slots) for name, slots in plan.hosts.items()}
        for name, (slots, is_up, planned) in before.items():
            if name in plan.hosts:
                same = planned == plan.hosts[name]
                self.hosts[name] = (slots if same else plan.hosts[name], is_up, plan.hosts[name])
            elif name[0] in plan.said and not planned:  # it joined by itself, also after a plan had left it out
                self.hosts[name] = (slots, is_up, planned)
            elif name[0] in plan.said and name in used:
                self.hosts[name] = (0, is_up, 0)

    def _JobAdded(self, job: str, leaf: str, group: str, *more: Any) -> None:  # noqa: N802
        self.jobs[job] = (leaf, more[2], group)

    def _JobMoved(self, job: str, leaf: str) -> None:  # noqa: N802
        _, user, group = self.jobs[job]
        self.jobs[job] = (leaf, user, group)

    def _Started(self, number: int, job: str, _task: int, _try: int, places: Any, *_: Any) -> None:  # noqa: N802
        held = [(host, units) for host, units in places]
        self.attempts[number] = _Attempt(self.jobs[job][2], job, held, self.at)

    def _Ended(self, number: int, then: str, _instant: int, reason: str, *_: Any) -> None:  # noqa: N802
        attempt = self.attempts.pop(number)
        leaf, user, _group = self.jobs[attempt.job]
        if then == "again" and reason != "yielded":
            lost = attempt.units * (self.at - attempt.started)
            self.pieces.append(Piece((leaf, user, attempt.job, "lost"), self.at, self.at, lost))

    def _HostSet(self, group: str, host: str, slots: int, is_up: bool) -> None:  # noqa: N802, FBT001
        _, _, planned = self.hosts.get((group, host), (0, True, None))
        self.hosts[group, host] = (slots, is_up, planned)

    def _MachineSeen(self, machine: str, *_: Any) -> None:  # noqa: N802
        self.silent.discard(machine)

    def _MachineMissed(self, machine: str, *_: Any) -> None:  # noqa: N802
        self.silent.add(machine)

    def _MachineShut(self, machine: str, reason: str | None, *_: Any) -> None:  # noqa: N802
        (self.shut.discard if reason is None else self.shut.add)(machine)


def lenders(
    children: Mapping[str, list[str]],
    owned: Mapping[str, int],
    reserved: Mapping[str, int],
    there: int,
    held: Mapping[str, int],
) -> dict[str, int]:
    """Who lends, from the top: children use what their parent has before they lend each other.

    children : path, empty = the root → paths of its children; held : leaf → units; there : that there are
    """
    found = dict[str, int]()

    def whole(path: str) -> int:
        return sum(units for leaf, units in held.items() if f"{leaf}/".startswith(f"{path}/"))

    def divide(parent: str, has: int, beyond: int) -> None:
        """has: what the parent may use; beyond: of that what it borrows less what it lends."""
        below = children[parent]
        borrowed = {path: max(0, whole(path) - owned[path]) for path in below}
        room = {path: owned[path] - max(whole(path), reserved.get(path, 0)) for path in below}
        room = {path: most for path, most in room.items() if most > 0}
        amount = min(sum(borrowed.values()) - (has - sum(owned[path] for path in below)), sum(room.values()))
        parts = dict.fromkeys(below, 0)
        if amount > 0:
            parts |= {path: amount * most // sum(room.values()) for path, most in room.items()}
            for path, most in room.items():
                if sum(parts.values()) < amount and parts[path] < most:
                    parts[path] += 1
        if below:
            found[parent or "/"] = sum(borrowed.values()) - sum(parts.values()) - beyond
        else:
            found[parent] = -min(0, beyond)
        for path in below:
            divide(path, owned[path] + borrowed[path] - parts[path], borrowed[path] - parts[path])

    divide("", max(there, sum(owned[path] for path in children[""])), 0)
    return found


def _moved(path: str, moved: Mapping[str, str]) -> str:
    for old, new in moved.items():
        if f"{path}/".startswith(f"{old}/"):
            return new + path[len(old) :]
    return path


def integral(
    pieces: Iterable[Piece], since: int, until: int, by: Iterable[str], kinds: Sequence[str] = USED
) -> dict[tuple[str, ...], int]:
    """Unit-microseconds from an instant to before another, in sums by these keys; without `kind`, of what was held."""
    keys = ("consumer", "user", "job", "kind")
    places = [keys.index(name) for name in by]
    sums: dict[tuple[str, ...], int] = defaultdict(int)
    for row, first, last, units in pieces:
        if row[3] not in (kinds if 3 in places else USED[:2]):
            continue
        if first == last:
            amount = units if since <= first < until else 0
        else:
            amount = units * max(0, min(last, until) - max(first, since))
        if amount:
            sums[tuple(row[place] for place in places)] += amount
    return dict(sums)
