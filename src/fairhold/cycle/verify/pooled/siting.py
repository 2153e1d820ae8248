"""The suitable hosts of a request, and their order (R-SITE-1, R-SITE-3, R-SITE-5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.verify.pooled.amounts import how_many
from fairhold.cycle.verify.pooled.lending import is_wanted, part_on

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.cycle.verify.pooled.stock import Asked, Host, Stock


def labels_of(pairs: Iterable[tuple[str, str]]) -> frozenset[str]:
    """The labels that a host matches: each name, and each name with its value."""
    return frozenset(text for name, value in pairs for text in ((name, f"{name}={value}") if value else (name,)))


def will_do(asked: Asked, host: Host) -> bool:
    """Whether a host has all labels that are needed and none that is avoided."""
    siting = asked.model.siting
    return set(siting.need) <= host.labels and not set(siting.avoid) & host.labels


def packs(asked: Asked) -> bool:
    """Whether it is a gang whose units must be on one host."""
    return asked.model.siting.place == "pack" and bool(asked.model.min_count)


def is_choosy(asked: Asked) -> bool:
    """Whether a request says which hosts come first."""
    return bool(asked.model.siting.prefer or asked.model.siting.place)


def wish(asked: Asked, host: Host) -> tuple[int, int]:
    """The smallest first: most labels that are preferred, then where it holds fewest (spread) or most (pack)."""
    siting, held = asked.model.siting, len([unit for unit in asked.units if unit.host is host])
    weight = {"spread": held, "pack": -held}.get(siting.place, 0)
    return -len(set(siting.prefer) & host.labels), weight


def able_hosts(asked: Asked, hosts: Iterable[Host], coming: Iterable[Host] = ()) -> list[Host]:
    """Hosts where a request may have one more unit, by its wishes, then in inventory order.

    coming : hosts on which units are on their way to it
    """
    found = [host for host in hosts if not host.is_closed and will_do(asked, host)]
    if packs(asked):
        there = {unit.host.name for unit in asked.units} or {host.name for host in coming}
        found = [host for host in found if not asked.away and (host.name in there or not there)]
    return sorted(found, key=lambda host: wish(asked, host))


def leaves_on(stock: Stock, host: Host) -> set[str]:
    """Leaves that have units on a host, are to have what goes there, or have something kept (R-HOSTS-3)."""
    found = {unit.asked.leaf for unit in host.units}
    found |= {unit.notice.taker.leaf for unit in host.units if unit.notice is not None and unit.notice.taker}
    return found | {stock.asked[request].leaf for parcel in host.parcels for request in parcel.kept}


def most_units(stock: Stock, path: str, asked: Asked) -> int:
    """Units that a request could have in a pool: on suitable hosts, plus those that it has on others there."""
    rooms, beside, is_in_demand = [0], asked.away[path], is_wanted(stock, path)
    for host in stock.hosts.values():
        if will_do(asked, host):
            rooms.append(how_many(asked.unit, part_on(stock, host, path, is_wanted=is_in_demand)))
        else:
            beside += sum(unit.asked is asked for unit in host.units if unit.pool == path)
    return beside + (max(rooms) if packs(asked) else sum(rooms))
