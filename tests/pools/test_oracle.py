"""A public pool against the slow oracle: many equal usages over different capacities (S0.20-S0.47)."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fairhold.cycle.document import quota_document, run_cycle
from tests.oracles.pooling import Pool, Wish
from tests.pools.small import inputs

Json = dict[str, Any]
SIZES = ((1, 0), (2, 0), (3, 0), (5, 0), (6, 0), (1, 1), (2, 1), (3, 2), (10, 0))
"""Units of which 30, 15, 10, 6, 5 … fit on a host of 30: halves, thirds and fifths come in many ways."""
CPUS = (30, 30, 60, 15, 20)


@st.composite
def ties(draw: st.DrawFn) -> tuple[Json, list[tuple[int, int]], dict[str, Wish]]:
    """A tree with few different ratios, hosts, and a request or two for each leaf."""
    tree: dict[str, tuple[int, int]] = {}
    few = st.sampled_from(((0, 1), (0, 1), (0, 1), (0, 2), (1, 1), (0, 0)))
    for top in "ABCD"[: draw(st.integers(2, 4))]:
        tree[f"/{top}"] = draw(few)
        for child in "xyz"[: draw(st.sampled_from((0, 0, 2, 3)))]:
            tree[f"/{top}/{child}"] = draw(few)
    hosts = [(draw(st.sampled_from(CPUS)), draw(st.integers(0, 6))) for _ in range(draw(st.integers(1, 3)))]
    wishes: dict[str, Wish] = {}
    for leaf in (path for path in tree if not any(each.startswith(f"{path}/") for each in tree)):
        for at in range(draw(st.sampled_from((1, 1, 2)))):
            name = f"{leaf[1:].replace('/', '')}{at}"
            wishes[name] = Wish(leaf, draw(st.sampled_from(SIZES)), draw(st.integers(1, 40)), [])
    pool = Pool(tree, list(hosts), wishes)
    for wish in wishes.values():
        for _ in range(min(wish.count, draw(st.sampled_from((0, 0, 1, 3, 5))))):
            host = pool.host_for(wish)
            wish.stands += [] if host is None else [host]
    return tree, hosts, wishes


@given(ties())
def test_usages_quotas_and_the_order_of_placing_are_those_of_the_oracle(
    story: tuple[dict[str, tuple[int, int]], list[tuple[int, int]], dict[str, Wish]],
) -> None:
    tree, hosts, wishes = story
    consumers = {path: {"share_priority": priority, "share_ratio": ratio} for path, (priority, ratio) in tree.items()}
    asked = [
        {"id": name, "consumer": wish.leaf, "unit": as_amounts(wish.unit), "count": wish.count}
        for name, wish in wishes.items()
    ]
    stands = [
        {"request": name, "host": f"h{host}", "units": wish.stands.count(host), "started": "2026-01-05T08:00:00Z"}
        for name, wish in wishes.items()
        for host in dict.fromkeys(wish.stands)
    ]
    names = {f"h{at}": as_amounts(host) for at, host in enumerate(hosts)}
    plan, state = inputs(consumers, asked, stands, hosts=names, settings={"observe_only": True})
    pool = Pool(tree, list(hosts), wishes)
    table = quota_document(plan, state)["pools"]["/"]["consumers"]
    quotas = pool.quotas()
    assert {path: (row["usage"], row["usage_quota"]) for path, row in table.items()} == {
        path: (str(pool.usage(path)), str(quotas[path])) for path in ["/", *tree]
    }
    grants = run_cycle(plan, state).document["grants"]
    placed = [(row["request"], int(row["host"][1:])) for row in grants for _ in range(row["units"])]
    assert placed == pool.assign()


def as_amounts(vector: tuple[int, ...]) -> Json:
    return {name: amount for name, amount in zip(("cpu", "gpu"), vector, strict=True) if amount}
