"""Settings of a plan in the plan's own words."""

from __future__ import annotations

from dataclasses import asdict, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairhold.model.budget import Budget
from fairhold.model.plan import AUTO, Peer
from fairhold.model.queue import WINDOW_KINDS, FairShareSettings, QueueSettings, UsageWindow
from fairhold.model.vector import amount, number, own_document, parts_document
from fairhold.units import UNLIMITED, format_duration, format_instant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairhold.model.plan import ConsumerSettings, PolicySettings
    from fairhold.model.vector import Resource

_DURATIONS = frozenset(
    {
        *("grace", "max_run_time", "min_runtime", "lead", "await_ends", "hold_after", "rebalance_interval"),
        *("private_pool_grace", "public_pool_grace"),
        *("reclaim_min_runtime", "preempt_min_runtime", "preemption_delay", "half_life"),
    }
)
_KEY = {"grace": "reclaim_grace", "weight": "over_quota_weight", "multiplier": "reclaimer_utilization_multiplier"}
"""What fields are called in a plan, where it is another word."""
_SAID = {"user_limit": (UNLIMITED, "none"), "max_run_time": (0, "none"), "lead": (AUTO, "auto")}
"""Settings of which one value is a word in a plan; `none` takes the place of one above."""
_DEFAULT_OF = {"deserved": 0, "limit": UNLIMITED, "weight": 1}
"""What holds of a resource that a queue does not name."""


def said(
    settings: PolicySettings | ConsumerSettings, paths: Sequence[str], resources: Sequence[Resource] = ()
) -> dict[str, object]:
    """Key → value as a plan writes them, of every setting; None = nothing is said, and the default holds.

    paths, resources : of the plan
    """
    found: dict[str, object] = {}
    for name, value in _fields(settings):
        said_so = word(name, value, paths, resources)
        if said_so is not None or key_of(name) not in found:  # a limit is in slots or in resources
            found[key_of(name)] = said_so
    return found


def _fields(settings: PolicySettings | ConsumerSettings) -> Iterator[tuple[str, object]]:
    """The settings one by one, those of `fair_share` among the others."""
    for each in fields(settings):
        value = getattr(settings, each.name)
        if each.name == "fair_share":
            value = value or FairShareSettings()
        if isinstance(value, QueueSettings | FairShareSettings):
            yield from ((inner.name, getattr(value, inner.name)) for inner in fields(value))
        else:
            yield each.name, value


def word(name: str, value: Any, paths: Sequence[str], resources: Sequence[Resource] = ()) -> object:  # noqa: ANN401
    """A setting as a plan writes it; `name` is its field, `resources` those of the plan."""
    if name in _DEFAULT_OF and isinstance(value, tuple):
        return _by_resource(name, value, resources) or None
    if name in {"own", "share_limit"}:
        own = name == "own"
        return ([own_document(resources, each) for each in value] if own else parts_document(resources, value)) or None
    if isinstance(value, tuple) and all(isinstance(peer, Peer) for peer in value):  # a lend or borrow list
        return [{"consumer": paths[peer.consumer], "limit": word("limit", peer.limit, paths)} for peer in value]
    if isinstance(value, Budget):
        return asdict(value)
    if isinstance(value, Fraction):
        return number(value)
    return _plain(name, value)


def _plain(name: str, value: object) -> object:
    """A setting that is one number or word, or a window of history."""
    if isinstance(value, UsageWindow):
        return _window(value)
    if name in _SAID and value == _SAID[name][0]:
        return _SAID[name][1]
    if name in _DURATIONS and isinstance(value, int):
        return format_duration(value)
    return None if value == UNLIMITED else value


def _window(window: UsageWindow) -> object:
    """Which history counts: a length up to now, a period of the calendar, or a length that begins anew."""
    if window.period:
        return window.period
    length = format_duration(window.length)
    return length if window.kind == WINDOW_KINDS[0] else {"tumbling": length, "start": format_instant(window.start)}


def _by_resource(
    name: str, stated: Sequence[tuple[int, int | Fraction]], resources: Sequence[Resource]
) -> dict[str, object]:
    """Name of a resource → what a queue says of it, where that is not the default."""
    return {resources[at].name: _of_queue(each, resources[at]) for at, each in stated if each != _DEFAULT_OF[name]}


def _of_queue(value: int | Fraction, resource: Resource) -> object:
    if isinstance(value, Fraction):
        return number(value)
    return "unlimited" if value >= UNLIMITED else amount(resource, value)


def key_of(name: str) -> str:
    """The key of a setting in a plan; `name` is its field."""
    return _KEY.get(name, name)
