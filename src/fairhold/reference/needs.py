"""What leaves and branches need (R-NEED-1, R-NEED-2, R-USER-1, R-SITE-2, R-BUDGET-2)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fairhold.model.siting import ANYWHERE
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from fairhold.reference.consumers import Consumers
    from fairhold.reference.situation import Situation, Wish


def parts_of(situation: Situation, leaf: str) -> dict[str, int]:
    """Request → what it takes of its demand (R-USER-1, R-SITE-2).

    Each takes what it wants of the slots that those before it leave, and no more than its user has room for. A gang
    that cannot have its minimum takes no more than it holds.
    """
    wishes = sorted(situation.wishes_of(leaf), key=lambda wish: wish.gangs_first)
    room = {wish.user: room_of_user(situation, leaf, wish.user) for wish in wishes}
    left = _slots_of_labels(situation, wishes)
    found = {}
    for wish in wishes:
        held, will_do = situation.held_by(wish.id), situation.suitable_up(wish)
        outside = held - sum(situation.held_by(wish.id, host) for host in will_do)
        most = max(0, left[shared_slots(wish)])
        if wish.packs:
            most = min(most, max((situation.room[host] for host in will_do), default=0))
        part = min(wish.count, outside + most, held + room[wish.user])
        if part < wish.minimum:
            part = min(part, held)
        room[wish.user] -= max(0, part - held)
        left[shared_slots(wish)] -= max(0, part - outside)
        found[wish.id] = part
    return found


def counted(situation: Situation, leaf: str) -> dict[Hashable, int]:
    """Requests that share slots of hosts → units that count: what they take together, or what they hold (R-SITE-2)."""
    taken: Counter[Hashable] = Counter()
    holds: Counter[Hashable] = Counter()
    for wish_id, part in parts_of(situation, leaf).items():
        wish = situation.wishes[wish_id]
        taken[shared_slots(wish)] += part
        holds[shared_slots(wish)] += 0 if wish.siting == ANYWHERE else situation.held_by(wish_id)
    return {key: max(taken[key], holds[key]) for key in taken}


def room_of_user(situation: Situation, leaf: str, user: str) -> int:
    """R-USER-1: units that a user may have beyond those held; who is not named has no limit."""
    if not user:
        return UNLIMITED
    mine = [wish.id for wish in situation.wishes_of(leaf) if wish.user == user]
    return max(0, situation.consumers[leaf].user_limit - sum(situation.held_by(each) for each in mine))


def shared_slots(wish: Wish) -> Hashable:
    """Requests that share slots of hosts: those that need and avoid the same labels."""
    return (wish.siting.need, wish.siting.avoid) if wish.siting != ANYWHERE else wish.id


def _slots_of_labels(situation: Situation, wishes: Sequence[Wish]) -> dict[Hashable, int]:
    """What requests share → slots of the hosts that will do; a request that says nothing of hosts has no bound."""
    return {
        shared_slots(wish): UNLIMITED
        if wish.siting == ANYWHERE
        else sum(situation.room[host] for host in situation.suitable_up(wish))
        for wish in wishes
    }


def demand_of(situation: Situation, leaf: str) -> int:
    """Units that run and that wait and count; while a budget has it wait, no more than it holds (R-BUDGET-2)."""
    demand = sum(counted(situation, leaf).values())
    return min(demand, situation.held[leaf]) if situation.consumers[leaf].waits else demand


def reserves(consumers: Consumers, scale: Mapping[str, int]) -> dict[str, int]:
    """R-SCALE-2: path → reserve now; a parent's is at least the sum of its children's.

    scale : path → whole slots of what it owns now
    """
    found: dict[str, int] = {}
    for path in consumers.upward:
        mine = consumers[path]
        stated = mine.reserved if mine.owns_exactly else min(mine.reserved, scale[path])
        found[path] = max(stated, sum(found[child] for child in mine.children))
    return found


def needs(
    consumers: Consumers, demand: Mapping[str, int], reserve: Mapping[str, int], most: Mapping[str, int]
) -> dict[str, int]:
    """R-NEED-1, R-NEED-2: path → need. Of a share ratio of 0 nothing below needs anything (R-SHARE-2).

    most : leaf → a bound of what it wants (R-HOSTS-2); what it reserves idles all the same
    """
    found: dict[str, int] = {}
    for path in consumers.upward:
        mine = consumers[path]
        wanted = demand.get(path, 0) if not mine.children else sum(found[child] for child in mine.children)
        need = min(mine.limit, max(reserve[path], min(wanted, most.get(path, wanted))))
        found[path] = 0 if takes_no_part(consumers, path) else need
    return found


def takes_no_part(consumers: Consumers, path: str) -> bool:
    """R-SHARE-2: whether it or one above it has a share ratio of 0."""
    return any(
        consumers[each].ratio == 0 and consumers[each].entry.policy.divides_by_ratio for each in consumers.above(path)
    )
