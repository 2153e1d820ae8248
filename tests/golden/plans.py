"""The plans of the golden stories: small, crowded clusters in which everything that a policy knows has a part."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

BANK: Json = {
    "Trading": {"reclaim_grace": "30s", "consumers": {"Risk": {"rank": 1}, "FX": {}, "Equity": {"rank": 2}}},
    "Research": {"reclaim_grace": "2m", "consumers": {"Climate": {}, "Genome": {"reclaim_grace": "10s"}}},
    "Lab": {"reclaim_grace": "0s", "rank": 3},
}
LEAVES = ("/Trading/Risk", "/Trading/FX", "/Trading/Equity", "/Research/Climate", "/Research/Genome", "/Lab")
HOSTS = [{"name": "a[1-3]", "slots": 6}, {"name": "b[1-2]", "slots": 4, "labels": {"zone": "b"}}]
VECTORS = [
    {"name": "g[1-4]", "cpu": 16, "memory": 64, "gpu": 4},
    {"name": "c[1-2]", "cpu": 32, "memory": 128, "gpu": 0, "labels": {"zone": "b"}},
]
OWNED: Json = {
    "/Trading": {"owned": 12, "reserved": 2},
    "/Trading/Risk": {"owned": 6, "reserved": 1},
    "/Trading/FX": {"owned": 4},
    "/Research": {"owned": 10},
    "/Research/Climate": {"owned": 5},
    "/Research/Genome": {"owned": 5, "limit": 14},
    "/Lab": {"limit": 16},
}
SHARES: Json = {
    "/Trading": {"share_ratio": 3},
    "/Trading/Risk": {"share_ratio": 2, "limit": 15},
    "/Research": {"share_ratio": 2},
    "/Lab": {"share_ratio": 1},
}
LISTS: Json = {
    "/Trading": {"owned": 12},
    "/Trading/Risk": {"owned": 6, "reserved": 1, "lend_to": [{"consumer": "/Research/Genome", "limit": 3}]},
    "/Trading/FX": {"owned": 4, "borrow_from": [{"consumer": "/Research/Climate"}]},
    "/Research": {"owned": 10},
    "/Research/Climate": {"owned": 5, "lend_to": [{"consumer": "/Trading/FX"}, {"consumer": "/Research/Genome"}]},
    "/Research/Genome": {
        "owned": 5,
        "borrow_from": [{"consumer": "/Trading/Risk"}, {"consumer": "/Research/Climate", "limit": 2}],
    },
    "/Lab": {"owned": 4},
}
POOLS: Json = {
    "/Trading": {"own": [{"resource_group": "pool", "hosts": 2}], "share_ratio": 3, "private_pool_grace": "20s"},
    "/Trading/Risk": {"own": [{"resource_group": "pool", "hosts": ["g1"], "lend_grace": "15s"}], "share_priority": 1},
    "/Trading/FX": {"own": [{"resource_group": "pool", "per_host": {"cpu": 4, "gpu": 1}}]},
    "/Research": {"own": [{"resource_group": "pool", "total": {"gpu": 3, "cpu": 8}}], "share_ratio": 2},
    "/Research/Genome": {"share_limit": {"gpu": 5}},
    "/Lab": {"share_ratio": 1, "share_limit": {"cpu": 24}},
}
QUEUES: Json = {
    "/Trading": {"deserved": {"gpu": 8, "cpu": 48}},
    "/Trading/Risk": {"deserved": {"gpu": 4, "cpu": 16}, "priority": 120},
    "/Trading/FX": {"deserved": {"gpu": 2, "cpu": 16}, "over_quota_weight": 3},
    "/Research": {"deserved": {"gpu": 6, "cpu": 40, "memory": 64}},
    "/Research/Climate": {"deserved": {"gpu": 3, "cpu": 20}},
    "/Research/Genome": {"deserved": {"gpu": 3, "cpu": 20}, "limit": {"gpu": 8}},
    "/Lab": {"over_quota_weight": 0.5, "priority": 50},
}


def entry(policy: str, consumers: Json, group: str = "compute", window: str = "", **settings: Any) -> Json:
    """One entry under `policies`."""
    found = {"resource_groups": [group], "policy": policy, "settings": settings, "consumers": consumers}
    return found | ({"window": window} if window else {})


def slots(*entries: Json, consumers: Json | None = None, **group: Any) -> Json:
    """A plan of slots: 26 of them in a plain number, or hosts."""
    return {
        "fairhold": 1,
        "time_zone": "Europe/Zurich",
        "resource_groups": {"compute": group or {"slots": 26}},
        "consumers": consumers or BANK,
        "policies": list(entries),
    }


def vectors(*entries: Json, **more: Any) -> Json:
    """A plan of vectors on six hosts."""
    return {
        "fairhold": 1,
        "time_zone": "Europe/Zurich",
        "resources": {"cpu": {}, "memory": {"unit": "GiB"}, "gpu": {"step": 0.5}},
        "resource_groups": {"pool": {"hosts": VECTORS}} | more,
        "consumers": BANK,
        "policies": list(entries),
    }


def pools(consumers: Json | None = None, window: str = "", **settings: Any) -> Json:
    """An entry of `multidimensional`."""
    return entry("multidimensional", POOLS if consumers is None else consumers, "pool", window, **settings)


def queues(consumers: Json | None = None, window: str = "", **settings: Any) -> Json:
    """An entry of `fair_share`."""
    return entry("fair_share", QUEUES if consumers is None else consumers, "pool", window, **settings)


def without(stated: Json, *keys: str) -> Json:
    """What is stated of consumers, but for some keys."""
    return {path: {key: value for key, value in each.items() if key not in keys} for path, each in stated.items()}


def more(stated: Json, added: Json) -> Json:
    """What is stated of consumers, and something more of some."""
    return {path: stated.get(path, {}) | added.get(path, {}) for path in {**stated, **added}}


MIXED: Json = {
    "fairhold": 1,
    "time_zone": "Europe/Zurich",
    "resources": {"cpu": {}, "memory": {"unit": "GiB"}, "gpu": {"step": 0.5}},
    "resource_groups": {"compute": {"slots": 20}, "batch": {"hosts": HOSTS}, "pool": {"hosts": VECTORS}},
    "consumers": BANK,
    "policies": [
        entry(
            "ownership",
            {path: LISTS[path] for path in ("/Trading", "/Trading/Risk")}
            | {"/Trading/Risk": {"owned": 6, "reserved": 1}},
        ),
        entry("hybrid", {path: OWNED[path] for path in ("/Research", "/Research/Climate", "/Lab")}),
        entry("share_ratio", SHARES, "batch"),
        pools(),
    ],
}
"""An owner beside two who share, shares of hosts, and vectors."""
