"""Settings of a plan in the plan's own words."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from fairhold.model.budget import budget_document
from fairhold.model.plan import AUTO
from fairhold.model.queue import WINDOW_KINDS, FairShareSettings, QueueSettings
from fairhold.model.setting import Kind
from fairhold.model.vector import amount, number, own_document, parts_document
from fairhold.policies.registry import BUILT_IN
from fairhold.units import UNLIMITED, format_duration, format_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fairhold.model.plan import ConsumerSettings, Peer, PolicySettings
    from fairhold.model.queue import UsageWindow
    from fairhold.model.setting import Setting
    from fairhold.model.vector import Owning, Resource

_PARTS = {"queue": QueueSettings, "fair_share": FairShareSettings}
"""Fields that keep several settings."""
_BY_FIELD = {each.field: each for policy in BUILT_IN for each in (*policy.of_entry, *policy.of_consumer)}
_LEFT_OUT = {Kind.DESERVED: 0, Kind.LIMITS: UNLIMITED, Kind.WEIGHTS: 1}
"""Kind of amounts → what holds of a resource that is not named."""


def said(
    stated: PolicySettings | ConsumerSettings,
    paths: Sequence[str],
    resources: Sequence[Resource] = (),
    settings: Sequence[Setting] = (),
) -> dict[str, object]:
    """Key → value as a plan writes them, of every setting; None = nothing is said, and the default holds.

    paths, resources : of the plan
    settings : of other packages, see `beside`
    """
    found: dict[str, object] = {}
    for setting in (*_kept_in(stated), *settings):
        said_so = word(setting, setting.of(stated), paths, resources)
        if said_so is not None or setting.key not in found:  # a limit is in slots or in resources
            found[setting.key] = said_so
    return found


def beside(own: Sequence[Setting], *others: Sequence[Setting]) -> list[Setting]:
    """The settings of other packages that a policy and others read, each in the policy's own way where it reads it.

    What two policies say can then be compared key by key: where one does not read a setting its default is told.
    """
    by_key = {each.key: each for settings in (*others, own) for each in settings}
    return [each for each in by_key.values() if not each.field]


def _kept_in(noun: PolicySettings | ConsumerSettings) -> Iterator[Setting]:
    """The settings that a noun has fields for, in the order of its fields."""
    for each in fields(noun):
        part = _PARTS.get(each.name)
        names = [f"{each.name}.{inner.name}" for inner in fields(part)] if part else [each.name]
        yield from (_BY_FIELD[name] for name in names if name in _BY_FIELD)


def word(setting: Setting, value: Any, paths: Sequence[str], resources: Sequence[Resource] = ()) -> object:  # noqa: ANN401
    """A value of a setting as a plan writes it; `paths` and `resources` are those of the plan."""
    if setting.has_none and value == setting.none != setting.default:
        return "none"
    if value is None:
        return None
    if setting.kind in _LEFT_OUT:
        return _by_resource(setting.kind, value, resources) or None
    in_plan, plain = _IN_PLAN.get(setting.kind), _PLAIN.get(setting.kind)
    if in_plan:
        return in_plan(value, paths, resources)
    return plain(value) if plain else value


def _whole(value: int) -> int | None:
    return None if value == UNLIMITED else value


def _lead(value: int) -> str:
    return "auto" if value == AUTO else format_duration(value)


def _window(window: UsageWindow) -> object:
    """Which history counts: a length up to now, a period of the calendar, or a length that begins anew."""
    if window.period:
        return window.period
    length = format_duration(window.length)
    return length if window.kind == WINDOW_KINDS[0] else {"tumbling": length, "start": format_instant(window.start)}


def _peers(peers: Sequence[Peer], paths: Sequence[str], _: Sequence[Resource]) -> object:
    return [{"consumer": paths[peer.consumer], "limit": _whole(peer.limit)} for peer in peers]


def _own(own: Sequence[Owning], _: Sequence[str], resources: Sequence[Resource]) -> object:
    return [own_document(resources, each) for each in own] or None


def _amounts(amounts: Sequence[tuple[int, int]], _: Sequence[str], resources: Sequence[Resource]) -> object:
    return parts_document(resources, amounts) or None


_PLAIN: dict[Kind, Callable[[Any], object]] = {
    Kind.WHOLE: _whole,
    Kind.DURATION: format_duration,
    Kind.LEAD: _lead,
    Kind.NUMBER: number,
    Kind.USAGE_WINDOW: _window,
}
_IN_PLAN: dict[Kind, Callable[[Any, Sequence[str], Sequence[Resource]], object]] = {
    Kind.AMOUNTS: _amounts,
    Kind.BUDGET: budget_document,
    Kind.PEERS: _peers,
    Kind.OWN: _own,
}
"""Kinds that are told with names of the plan."""


def _by_resource(kind: Kind, stated: Sequence[tuple[int, Any]], resources: Sequence[Resource]) -> dict[str, object]:
    """Name of a resource → what is said of it, where that is not what holds otherwise."""
    kept = ((resources[at], each) for at, each in stated if each != _LEFT_OUT[kind])
    return {of.name: number(each) if kind is Kind.WEIGHTS else _amount(each, of) for of, each in kept}


def _amount(value: int, resource: Resource) -> object:
    return "unlimited" if value >= UNLIMITED else amount(resource, value)
