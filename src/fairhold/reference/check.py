"""Which rules of slots a result of `fairhold quota --json` or `fairhold cycle --json` breaks."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fairhold.reference.compare import CYCLE_KEYS, FORMAT, compare_tables, differences
from fairhold.reference.document import DocumentReader, MalformedError
from fairhold.reference.expected import cycle_document, cycles, groups_of_slots, quota_document
from fairhold.reference.finding import Finding
from fairhold.reference.rows import Told, by_leaf, check_rows
from fairhold.reference.situation import read_situation
from fairhold.reference.slots.settling import settle
from fairhold.reference.state_after import state_after, usual_slots

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fairhold.model.plan import Plan
    from fairhold.model.state import State
    from fairhold.reference.situation import Situation, Wish
    from fairhold.reference.slots.cycle import SlotCycle

STATE_RULES = {
    "allocated": "R-GRANT-1",
    "allocations": "R-GRANT-3",
    "reclaims": "R-NOTICE-1",
    "held": "R-ASIDE-1",
    "borrowed": "R-LEND-4",
    "shortages": "R-CONTROL-3",
}


def is_cycle(result: Mapping[str, Any]) -> bool:
    """Whether a result comes from `cycle`: it has a part that only a cycle has."""
    return any(key in result for key in CYCLE_KEYS)


def not_judged(plan: Plan, state: State, group: str) -> str:
    """The rule that is not looked at and that a group needs; empty where all of it is judged."""
    situation = read_situation(plan, state, group)
    for units in (situation.units, settle(situation)[0].units):
        held = Counter(unit.wish for unit in units)
        if any(0 < held[wish.id] < wish.minimum for wish in situation.wishes.values()):
            return "R-GANG-1"  # no cycle leaves such a state
    held_on = Counter(unit.host for unit in situation.units)
    if any(held_on[host] > slots for host, slots in situation.stated.items()):
        return "R-UP-1"  # a plan has made a host smaller than what runs there
    for row in state.held:
        wish = situation.wishes.get(row.request)
        if wish is not None and _may_be_held(situation, wish) and row.host not in situation.suitable(wish):
            return "R-HOLD-1"
    return ""


def _may_be_held(situation: Situation, wish: Wish) -> bool:
    return situation.consumers[wish.leaf].entry.settings.hold_after is not None


class SlotJudge:
    """What the rules say of one plan and one state, worked out once, and what is wrong with results."""

    def __init__(self, plan: Plan, state: State) -> None:
        """Nothing is worked out yet. state : without requests of vectors."""
        self.plan, self.state = plan, state

    @cached_property
    def not_judged(self) -> dict[str, str]:
        """Resource group → the rule that is not looked at (`not_judged`)."""
        rules = {group: not_judged(self.plan, self.state, group) for group in groups_of_slots(self.plan)}
        return {group: rule for group, rule in rules.items() if rule}

    @cached_property
    def found(self) -> dict[str, SlotCycle]:
        """Resource group → its cycle."""
        return cycles(self.plan, self.state)

    @cached_property
    def expected(self) -> dict[str, Any]:
        """What `cycle` prints, but for the hosts that are not up and the state after it."""
        return cycle_document(self.state, self.found)

    def findings(self, result: Mapping[str, Any]) -> Iterator[Finding]:
        """All that a result breaks; where a group is not judged, nothing is said.

        result : without what is of pools, queues and hosts
        """
        if self.not_judged:
            return
        said = dict(result)
        if not is_cycle(result):
            yield from compare_tables(said, quota_document(self.plan, self.state))
            return
        yield from compare_tables(said, self.expected | {"state": None})
        if said.get("warnings") != []:
            yield Finding(FORMAT, "warnings", said.get("warnings"), [], "slots give no warnings but the plan's")
        reader = DocumentReader(self.plan)
        try:
            told = Told(reader, said, self.found)
            yield from [finding for mine in self.found.values() for finding in check_rows(mine, told)]
            after = reader.read(said.get("state"), usual_slots(self.plan, self.found))
        except MalformedError as error:
            yield Finding(FORMAT, "moves", str(error), "the agreed form", "cannot be read")
            return
        yield from _check_state(self.plan, self.state, after, self.found, told)


def _check_state(
    plan: Plan, state: State, after: dict[str, dict[Any, Any]], found: Mapping[str, SlotCycle], told: Told
) -> Iterator[Finding]:
    """The state after the cycle, part by part."""
    right = state_after(plan, state, found, told)
    right["held"] = {key: units for mine in found.values() for key, units in _held(mine, after["held"]).items()}
    for part, values in right.items():
        yield from differences(STATE_RULES.get(part, FORMAT), f"state {part}", after[part], values)


def _held(mine: SlotCycle, told: Mapping[tuple[str, str], int]) -> dict[tuple[str, str], int]:
    """What is held for requests of a group: as it is told, where that is one of the right answers."""
    before = mine.before
    said = {key: units for key, units in told.items() if key[0] in before.wishes}
    held = {(wish, host): units for (host, wish), units in mine.held.items()}
    if mine.are_hosts_open and _by_leaf(before, said) == _by_leaf(before, held):
        return said
    return {key: units for key, units in held.items() if units}


def _by_leaf(situation: Situation, units: Mapping[tuple[str, str], int]) -> Counter[str]:
    """Leaf → units."""
    found: Counter[str] = Counter()
    for (leaf, _), number in by_leaf(situation, units).items():
        found[leaf] += number
    return found
