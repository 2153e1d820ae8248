"""Grants on space that was held before the cycle, recomputed; they do not depend on turns (R-SERVE-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.verify.pooled.amounts import how_many
from fairhold.cycle.verify.pooled.siting import leaves_on
from fairhold.cycle.verify.pooled.stock import kept_on, put
from fairhold.cycle.verify.pooled.terms import TOP

if TYPE_CHECKING:
    from fairhold.cycle.verify.pooled.coming import Coming
    from fairhold.cycle.verify.pooled.stock import Asked, Host, Stock, Unit
    from fairhold.cycle.verify.queued.gates import Gates


def hand_out(stock: Stock, coming: Coming, gates: Gates) -> list[Unit]:
    """Units on what is held for them, request by request as that is listed; a gang starts whole or not at all."""
    placed: list[Unit] = []
    for request in dict.fromkeys(request for request, _ in stock.keeps):
        asked = stock.asked[request]
        hosts = [host for name, host in stock.hosts.items() if (request, name) in stock.keeps]
        hosts.sort(key=lambda host: list(stock.keeps).index((asked.id, host.name)))
        places = [host for host in hosts for _ in range(_ready(stock, coming, asked, host))]
        units = len(places[: asked.waiting])
        able = [most for most in range(units, 0, -1) if gates.allow(asked, most - gates.on_way.get(asked, 0))]
        most = max(able, default=0)
        if most < asked.missing:
            continue
        new = [put(stock, asked, host, TOP, host.parcels) for host in places[:most]]
        gates.add(asked, len(new))
        coming.look_again(asked)
        gates.count_coming(coming.beside_moves())
        placed += new
    return placed


def _ready(stock: Stock, coming: Coming, asked: Asked, host: Host) -> int:
    """The number of units of a request that may start on a host using only space held for it."""
    if stock.terms.settings.packing == "exclusive" and leaves_on(stock, host) != {asked.leaf}:
        return 0
    way = coming.to[asked].get(host)
    return min(way.units, how_many(asked.unit, kept_on(asked.id, host, stock.terms.width))) if way else 0
