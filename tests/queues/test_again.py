"""What is counted on from cycle to cycle is what is counted anew."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from fairhold.kernels.vectors import fits
from fairhold.ledger.free_hosts import FreeHosts
from fairhold.ledger.pools import Machine, Parcel
from fairhold.ledger.queue_terms import queue_terms_of
from fairhold.model.plan import ConsumerSettings, Plan, PolicyEntry, PolicySettings, ResourceGroup
from fairhold.model.queue import FairShareSettings, QueueSettings
from fairhold.model.tree import ConsumerTree
from fairhold.model.vector import Resource
from fairhold.policies.fair_share.policy import FAIR_SHARE
from fairhold.rules.queues.shares import FairShares, fair_shares
from fairhold.units import UNLIMITED

RESOURCES = (Resource("cpu", step=1), Resource("gpu", step=1))


def queues(random: Random) -> tuple[Plan, PolicyEntry]:
    """A tree of two levels, of random settings."""
    names, parents = [""], [-1]
    for branch in range(random.randint(1, 4)):
        names.append(f"d{branch}")
        parents.append(0)
        above = len(names) - 1
        for leaf in range(random.randint(0, 4)):
            names.append(f"q{leaf}")
            parents.append(above)
    tree = ConsumerTree(names, parents, [None] * len(names), [None] * len(names))
    consumers = {
        row: ConsumerSettings(
            queue=QueueSettings(
                deserved=tuple((at, random.choice([0, 0, 3, 8, UNLIMITED])) for at in range(2)),
                limit=((0, random.randint(4, 12)),) if random.random() < 0.3 else (),
                weight=tuple((at, Fraction(random.randint(0, 3))) for at in range(2)),
                priority=random.choice([50, 100]),
            )
        )
        for row in range(1, len(names))
    }
    k = random.choice([Fraction(0), Fraction(1, 2)])
    settings = PolicySettings(fair_share=FairShareSettings(k=k))
    entry = PolicyEntry(("main",), FAIR_SHARE, settings, consumers)
    groups = {"main": ResourceGroup("main", 0, None)}
    return Plan("", "UTC", 0, tree, groups, (entry,), resources=RESOURCES), entry


@pytest.mark.parametrize("seed", range(60))
def test_fair_shares_of_a_few_changes_are_those_of_all(seed: int) -> None:
    """R-QUEUE-1: leaves ask for more or less, what there is changes now and then, and history counts or does not."""
    random = Random(seed)
    plan, entry = queues(random)
    terms, tree = queue_terms_of(plan, entry), plan.tree
    leaves = [row for row in range(1, len(tree)) if tree.is_leaf(row)]
    requested, total, usage = [0] * len(tree), 20, dict[int, Fraction]()
    again = FairShares(terms)
    for _ in range(40):
        rows: set[int] = set()
        for leaf in random.sample(leaves, random.randint(0, min(2, len(leaves)))):
            more = random.randint(-requested[leaf], 9)
            for row in terms.above[leaf]:
                requested[row] += more
                rows.add(row)
        total = random.choice([total] * 6 + [10, 35])
        if terms.settings.k and random.random() < 0.2:
            usage = {leaf: Fraction(random.randint(0, 9), 20) for leaf in leaves}
        shares = again.divide(0, total, requested, usage, rows)
        assert shares == fair_shares(terms, 0, total, requested, usage)


@pytest.mark.parametrize("seed", range(20))
def test_hosts_with_room_are_found_again(seed: int) -> None:
    """What is idle or held on hosts changes, some are closed, and units of several sizes are asked for."""
    random = Random(seed)
    hosts = [Machine(f"h{at}", "main", at, (4, 2), (4, 2)) for at in range(9)]
    for host in hosts:
        host.is_closed = random.random() < 0.2
        host.parcels = [Parcel(host, 0, (), (4, 2))]
    free = FreeHosts(hosts, 2)
    for _ in range(40):
        changed = random.sample(hosts, 2)
        for host in changed:
            host.parcels = [Parcel(host, 0, (), (4, 2))]
            host.parcels[0].idle = random.randint(0, 4), random.randint(0, 2)
        free.renew(changed)
        unit = random.choice([(1, 0), (2, 1), (4, 2), (0, 1)])
        anew = FreeHosts(hosts, 2)
        assert free.able(unit) == anew.able(unit)
        assert [free.hosts[at] for at in free.able(unit)] == [
            host for host in hosts if not host.is_closed and fits(unit, host.parcels[0].idle)
        ]
        assert (free.room, free.rooms) == (anew.room, anew.rooms)
