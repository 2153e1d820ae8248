"""Stories of `multidimensional` in which much stands in the way of much: gangs, limits, parts of hosts.

Each is made of a number, so that one that was wrong once can be told by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from tests.pools.strategies import GRACES, LABELS, NOW, RESTRAINTS, SITINGS, made_right, tree_of

Json = dict[str, Any]
PARTS = ("50%", "30%", 1, 2)


def dense_story(number: int) -> tuple[Json, Json, list[Json]]:
    """A plan, a state, and what happens after each cycle."""
    return _Dice(Random(number)).story()


@dataclass
class _Dice:
    dice: Random

    def story(self) -> tuple[Json, Json, list[Json]]:
        dice, choice, number = self.dice, self.dice.choice, self.dice.randint
        resources = choice((["cpu", "gpu"], ["cpu", "memory", "gpu"]))
        largest = choice((6, 8, 12))
        groups = list(dict.fromkeys(choice((["m"], ["m", "m", "n"]))))
        names = [f"{groups[at % len(groups)]}{at}" for at in range(number(2, 4))]
        tree, leaves = tree_of([number(0, 2) for _ in range(number(2, 3))], [number(0, 2) for _ in range(3)])
        hosts = {
            group: {
                "hosts": [
                    {"name": name, **{key: number(2, largest) for key in resources}, **choice(({}, {}, {}, *LABELS))}
                    for name in names
                    if name.startswith(group)
                ]
            }
            for group in groups
        }
        limited = 0.5 if dice.random() < 0.6 else 0.2
        stated = {}
        for path in tree:
            mine = self.sharing(resources, limited)
            if path not in leaves:
                mine["private_pool_grace"] = choice(GRACES)
            if dice.random() < 0.55:
                mine["own"] = [self.owning(resources, group, names) for group in choice((groups, groups[:1]))]
            stated[path] = _without_none(mine)
        plan: Json = {"fairhold": 1, "resources": {key: {} for key in resources}, "resource_groups": hosts}
        plan |= {"consumers": tree}
        entry = {"resource_groups": groups, "policy": "multidimensional", "settings": self.settings()}
        plan["policies"] = [entry | {"consumers": stated}]
        made_right(plan)
        asked = [self.request(at, resources, leaves) for at in range(number(3, 8))]
        everywhere = [host for group in plan["resource_groups"].values() for host in group["hosts"]]
        state = {"fairhold_state": 1, "now": NOW, "requests": asked, "allocations": self.held(asked, everywhere)}
        return plan, state, [self.turn(asked, everywhere) for _ in range(3)]

    def sharing(self, resources: list[str], limited: float) -> Json:
        """What an entry says of one consumer, but for what it owns."""
        dice, choice, number = self.dice, self.dice.choice, self.dice.randint
        found: Json = {
            "share_priority": number(0, 2),
            "share_ratio": choice((1, 1, 1, 2, 3, 0)),
            "rank": number(0, 2),
            "reclaim_grace": choice(GRACES),
        }
        if dice.random() < 0.15:
            found["min_runtime"] = choice(("1m", "57m", "0s"))
        if dice.random() < 0.15:
            found["user_limit"] = choice((1, 2, 3, 5, "none"))
        if dice.random() < limited:
            found["share_limit"] = {choice(resources): number(0, 8)}
        return found

    def owning(self, resources: list[str], group: str, names: list[str]) -> Json:
        """An entry of `own`."""
        choice, number = self.dice.choice, self.dice.randint
        mine = [name for name in names if name.startswith(group)]
        ways = (
            lambda: {"hosts": number(1, 2)},
            lambda: {"hosts": choice(("40%", "50%", "remaining"))},
            lambda: {"hosts": [choice(mine)]},
            lambda: {"per_host": {choice(resources): choice(PARTS)}},
            lambda: {"total": {choice(resources): number(1, 6)}},
            lambda: {"per_host": {choice(resources): choice((1, 2, 3))}},
        )
        found: Json = {"resource_group": group, **ways[self.dice.randrange(6)]()}
        found["preference"] = choice((None, None, 1, 9))
        found["reserved"] = choice((None, None, None, True))
        found["lend_grace"] = choice(GRACES)
        found["reclaim_before_next_level"] = choice((None, True))
        return _without_none(found)

    def settings(self) -> Json:
        dice, choice = self.dice, self.dice.choice
        found: Json = {"packing": choice(("stacked", "stacked", "balanced"))}
        found["victims"] = choice(("youngest", "oldest", "lowest_priority"))
        found["public_pool_grace"] = choice(GRACES)
        if dice.random() < 0.3:
            found |= {key: choice(some) for key, some in RESTRAINTS.items() if dice.random() < 0.3}
        return _without_none(found)

    def request(self, at: int, resources: list[str], leaves: list[str]) -> Json:
        dice, choice, number = self.dice, self.dice.choice, self.dice.randint
        unit = {key: choice((0, 0, 1, 1, 1, 2, 2, 3)) for key in resources}
        unit["cpu"] = max(1, unit["cpu"])
        count = number(1, 8)
        return {
            "id": f"r{at}",
            "consumer": choice(leaves),
            "unit": {key: amount for key, amount in unit.items() if amount},
            "count": count,
            "min_count": min(count, choice((0, 0, 2, 3, 4))),
            "priority": number(0, 1),
            "user": choice(("ann", "bob", "")),
            "submitted": f"2026-01-05T08:0{number(0, 5)}:00Z",
            **(choice(SITINGS) if dice.random() < 0.15 else {}),
        }

    def held(self, asked: list[Json], hosts: list[Json]) -> list[Json]:
        """Units of requests here and there, where there is room."""
        dice = self.dice
        room = {host["name"]: dict(host) for host in hosts}
        found = []
        for request in asked:
            left = dice.randint(0, request["count"]) if dice.random() < 0.7 else 0
            names = sorted(room)
            dice.shuffle(names)
            for name in names:
                most = min(left, *(room[name][key] // amount for key, amount in request["unit"].items()))
                units = dice.randint(0, most)
                if units:
                    left -= units
                    for key, amount in request["unit"].items():
                        room[name][key] -= units * amount
                    row = {"request": request["id"], "host": name, "units": units}
                    found.append(row | {"started": request["submitted"]})
        return found

    def turn(self, asked: list[Json], hosts: list[Json]) -> Json:
        dice, choice = self.dice, self.dice.choice
        return {
            "seconds": choice((1, 5, 30)),
            "counts": [dice.randint(0, 8) for _ in asked] if dice.random() < 0.5 else None,
            "down": choice((None, None, None, *[host["name"] for host in hosts])),
        }


def _without_none(found: Json) -> Json:
    return {key: value for key, value in found.items() if value is not None}
