"""Random plans of `ownership`, alone and beside `hybrid`, with lists, shares, loans, and switches of windows.

Leaves lend to one another in pairs and in longer circles, too.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from tests.properties.strategies import GROUP, NOW, Case, Json, counts, leaves_of, now_and_then, plans, requests, whole

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

BEFORE = "2026-01-05T08:59:00Z"
DAY = "Mon-Sun 09:00-18:00"


@st.composite
def owning(
    draw: DrawFn, *, mixed: bool | None = None, requested: bool | None = None, switched: bool | None = False
) -> Case:
    """A case; `mixed`, `requested` and `switched` (into the window of `now` from another policy) None: drawn."""
    asks = draw(now_and_then(3)) if requested is None else requested
    plan = draw(plans(hosts=None, aged=asks, depth=draw(st.sampled_from([1, 2, 3]))))
    entry = plan["policies"][0]
    exact = sorted(path for path in entry["consumers"] if path.count("/") == 1)
    if draw(st.booleans()) if mixed is None else mixed:
        exact = [path for path in exact if draw(st.booleans())] or exact[:1]
    plan["policies"] = _entries(draw, plan, entry, exact)
    state = draw(requests(plan) if asks else counts(plan))
    if draw(st.booleans()):
        state["borrowed"] = _loans(draw, plan)
    if draw(st.booleans()) if switched is None else switched:
        _switch(draw, plan, state)
    return Case(plan, state)


def _top(path: str) -> str:
    return "/" + path.split("/")[1]


def _entries(draw: DrawFn, plan: Json, entry: Json, exact: list[str]) -> list[Json]:
    """The entry of those that own exactly, and that of the others where there are any."""
    common = {key: each for key, each in entry["settings"].items() if key in {"victims", "within"}}
    leaves = set(leaves_of(plan))
    owners = {path: each for path, each in entry["consumers"].items() if _top(path) in exact}
    others = {path: each for path, each in entry["consumers"].items() if _top(path) not in exact}
    mine = draw(st.permutations(sorted(leaves & set(owners))))
    in_circles = draw(st.booleans())
    for lender, borrower in permutations(mine, 2):
        is_ahead = mine.index(lender) < mine.index(borrower)
        if draw(now_and_then(2)) if is_ahead else in_circles and draw(now_and_then(3)):
            both = draw(st.sampled_from(["both", "both", "both", "lend", "borrow"]))
            if both != "borrow":
                owners[lender].setdefault("lend_to", []).append(_peer(draw, borrower))
            if both != "lend":
                peers = owners[borrower].setdefault("borrow_from", [])
                peers.insert(draw(whole(len(peers))), _peer(draw, lender))
    if not others:
        for path in mine:
            if draw(now_and_then(3)):
                owners[path]["share_ratio"] = draw(st.integers(0, 4))
    one = {"resource_groups": [GROUP], "policy": "ownership", "settings": common, "consumers": owners}
    return [one] + ([entry | {"consumers": others}] if others else [])


def _peer(draw: DrawFn, path: str) -> Json:
    return {"consumer": path} | ({"limit": draw(whole(6))} if draw(st.booleans()) else {})


def _loans(draw: DrawFn, plan: Json) -> list[Json]:
    leaves = leaves_of(plan)
    pairs = st.tuples(st.sampled_from(leaves), st.sampled_from(leaves))
    found = draw(st.lists(pairs.filter(lambda pair: pair[0] != pair[1]), max_size=4, unique=True)) if leaves[1:] else []
    return [
        {"borrower": one, "lender": other, "resource_group": GROUP, "units": draw(st.integers(1, 6))}
        for one, other in found
    ]


def _switch(draw: DrawFn, plan: Json, state: Json) -> None:
    """Another entry, of `hybrid` or of `ownership`, had the consumers until the minute before."""
    both = [each for entry in plan["policies"] for each in entry["consumers"].items()]
    kept = ("owned", "reserved", "limit", "rank", "reclaim_grace")
    other = {path: {key: each[key] for key in kept if key in each} for path, each in both}
    policy = draw(st.sampled_from(["hybrid", "ownership"]))
    settings = {
        key: plan["policies"][0]["settings"][key]
        for key in ("victims", "within")
        if key in plan["policies"][0]["settings"]
    }
    night = {"resource_groups": [GROUP], "policy": policy, "settings": settings, "consumers": other}
    for entry in plan["policies"]:
        entry["window"] = DAY
    plan["policies"].append(night)
    state["previous_cycle"] = BEFORE
    assert state["now"] == NOW
