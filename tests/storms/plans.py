"""Plans of the storm, one for each policy, and others that may take their places while work runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

OWN = "here"
OTHERS = ("h2", "h3", "h4")
HOSTS = (OWN, *OTHERS)
LEAVES = ("/A/a1", "/A/a2", "/B", "/C")
POLICIES = ("hybrid", "ownership", "share_ratio", "multidimensional", "fair_share")
GPU = (("cpu", "1"), ("gpu", "1"))
UNITS = (GPU, GPU, (("cpu", "1"),), (("cpu", "2"), ("gpu", "1")), (("gpu", "2"),))


class PlanWriter:
    """Writes plans of one policy with numbers of chance; every job has a place under all of them."""

    def __init__(self, random: Random, policy: str) -> None:
        self.random, self.policy = random, policy

    @property
    def has_vectors(self) -> bool:
        """Whether hosts have resources instead of slots."""
        return self.policy in {"multidimensional", "fair_share"}

    def text(self) -> str:
        """A plan."""
        random, grace = self.random, self._grace
        plan: dict[str, Any] = {
            "fairhold": 1,
            "cluster": "storm",
            "consumers": {
                "A": {"reclaim_grace": grace(), "consumers": {"a1": {"rank": random.choice((0, 1))}, "a2": {}}},
                "B": {"reclaim_grace": grace()},
                "C": {"reclaim_grace": grace()},
            },
        }
        if self.has_vectors:
            plan["resources"] = {"cpu": {}, "gpu": {}}
            hosts = [{"name": name, "cpu": random.choice((4, 6)), "gpu": random.choice((2, 3))} for name in HOSTS]
        else:
            hosts = [{"name": name, "slots": random.choice((3, 4))} for name in HOSTS]
        plan["resource_groups"] = {"compute": {"hosts": hosts}}
        entry = {"resource_groups": ["compute"], "policy": self.policy, "consumers": self._consumers()}
        plan["policies"] = [entry]
        if random.random() < 0.4 and self.policy != "fair_share":
            other = {**entry, "consumers": self._consumers()}
            window = random.choice(("Mon-Fri 08:00-12:00", "Mon-Sun 14:00-15:30"))
            plan["policies"] = [{**other, "window": window}, entry]
            plan["time_zone"] = "Europe/Zurich"
        return json.dumps(plan)

    def _grace(self) -> str:
        return self.random.choice(("0s", "1s", "5s", "30s"))

    def _owned(self) -> int:
        return self.random.choice((1, 2, 3))

    def _consumers(self) -> dict[str, Any]:
        random, owned = self.random, self._owned
        match self.policy:
            case "multidimensional":
                return {
                    "/A": {"share_ratio": random.choice((1, 2)), "own": [{"resource_group": "compute", "hosts": 1}]},
                    "/B": {"own": [{"resource_group": "compute", "per_host": {"gpu": 1}}]},
                    "/C": {"share_ratio": random.choice((1, 3))},
                }
            case "fair_share":
                a1, a2 = owned(), owned()
                return {
                    "/A": {"deserved": {"gpu": a1 + a2}},
                    "/A/a1": {"deserved": {"gpu": a1}},
                    "/A/a2": {"deserved": {"gpu": a2}},
                    "/B": {"deserved": {"gpu": owned()}},
                }
            case "share_ratio":
                return {path: {"share_ratio": random.choice((1, 2, 5))} for path in ("/A", "/A/a1", "/B", "/C")}
        a1, a2, b, c = (owned() for _ in range(4))
        found: dict[str, Any] = {
            "/A": {"owned": a1 + a2}, "/A/a1": {"owned": a1}, "/A/a2": {"owned": a2},
            "/B": {"owned": b}, "/C": {"owned": c},
        }  # fmt: skip
        if self.policy == "hybrid":
            found["/B"]["reserved"] = random.choice((0, 1))
            found["/C"]["limit"] = random.choice((4, 8, 12))
            if random.random() < 0.3:
                found["/C"]["budget"] = {"unit_hours": random.choice((1, 4)), "period": "day", "then": "wait"}
        if self.policy == "ownership":
            found["/B"]["lend_to"] = [{"consumer": "/C"}, {"consumer": "/A/a1", "limit": random.choice((1, 2))}]
            found["/C"]["borrow_from"] = found["/A/a1"]["borrow_from"] = [{"consumer": "/B"}]
        return found
