"""Values of settings, each by its kind, and the nouns that keep them (`model/setting.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from fairhold.model.queue import FairShareSettings, QueueSettings
from fairhold.model.setting import Kind
from fairhold.planio.controls import read_budget
from fairhold.planio.lending import read_peers
from fairhold.planio.owning import read_own
from fairhold.planio.queues import read_bounds, read_number, read_span, read_usage_window, read_weights
from fairhold.planio.resources import read_amounts
from fairhold.planio.scalars import is_whole
from fairhold.planio.windows import read_lead

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from fairhold.errors import Place
    from fairhold.model.policy import Policy
    from fairhold.model.setting import Setting
    from fairhold.model.tree import ConsumerTree
    from fairhold.planio.report import Report
    from fairhold.planio.resources import Known
    from fairhold.planio.values import Value

Noun = TypeVar("Noun")
PARTS: dict[str, Callable[..., Any]] = {"queue": QueueSettings, "fair_share": FairShareSettings, "more": dict}
"""Fields of the nouns that keep several settings → what makes one."""


class Reading(NamedTuple):
    """What the readers of settings have to know.

    policy    : of the entry
    tree      : in which peers are found
    resources : what amounts are of
    """

    report: Report
    policy: Policy
    tree: ConsumerTree
    resources: Known


def read_value(reading: Reading, setting: Setting, value: Value, place: Place) -> Hashable:
    """Read the value of a setting, as its field has it; else a fault and something harmless."""
    if setting.has_none and (value is None or value == "none"):
        none: Hashable = setting.none
        return none
    if setting.zero and is_whole(value) and value == 0:
        reading.report.fault("out-of-range", *setting.zero, place)
        default: Hashable = setting.default
        return default
    return READERS[setting.kind](reading, setting, value, place)


def _read_whole(reading: Reading, setting: Setting, value: Value, place: Place) -> int:
    return reading.report.whole(value, place, least=setting.least, most=setting.most)


def _read_flag(reading: Reading, _: Setting, value: Value, place: Place) -> bool:
    return reading.report.flag(value, place)


def _read_word(reading: Reading, setting: Setting, value: Value, place: Place) -> str:
    return reading.report.word(value, place, setting.words) or setting.words[0]


def _read_duration(reading: Reading, setting: Setting, value: Value, place: Place) -> int:
    if setting.least and setting.zero:
        return read_span(reading.report, value, place, setting.zero)
    return reading.report.duration(value, place)


def _read_lead(reading: Reading, _: Setting, value: Value, place: Place) -> int:
    return read_lead(reading.report, value, place)


def _read_number(reading: Reading, setting: Setting, value: Value, place: Place) -> Hashable:
    return read_number(reading.report, value, place, least=setting.least)


def _read_amounts(reading: Reading, setting: Setting, value: Value, place: Place) -> Hashable:
    if value == {}:
        what = f"a `{setting.key}` without any resource limits nothing"
        reading.report.warn("no-effect", what, "write the amount of a resource, or leave it out", place)
    what = "amounts by resource, or `none`" if setting.has_none else "amounts by resource"
    return read_amounts(reading.report, value, place, reading.resources, what=what)


def _read_deserved(reading: Reading, _: Setting, value: Value, place: Place) -> Hashable:
    return read_bounds(reading.report, value, place, reading.resources, "unlimited")


def _read_limits(reading: Reading, _: Setting, value: Value, place: Place) -> Hashable:
    return read_bounds(reading.report, value, place, reading.resources, "none")


def _read_weights(reading: Reading, _: Setting, value: Value, place: Place) -> Hashable:
    return read_weights(reading.report, value, place, reading.resources)


def _read_usage_window(reading: Reading, _: Setting, value: Value, place: Place) -> Hashable:
    return read_usage_window(reading.report, value, place)


def _read_budget(reading: Reading, _: Setting, value: Value, place: Place) -> Hashable:
    return read_budget(reading.report, value, place, reading.policy, reading.resources)


def _read_peers(reading: Reading, _: Setting, value: Value, place: Place) -> Hashable:
    return read_peers(reading.report, value, place, reading.tree)


def _read_own(reading: Reading, _: Setting, value: Value, place: Place) -> Hashable:
    return read_own(reading.report, value, place, reading.resources)


READERS: dict[Kind, Callable[[Reading, Setting, Value, Place], Hashable]] = {
    Kind.WHOLE: _read_whole,
    Kind.FLAG: _read_flag,
    Kind.WORD: _read_word,
    Kind.DURATION: _read_duration,
    Kind.LEAD: _read_lead,
    Kind.NUMBER: _read_number,
    Kind.AMOUNTS: _read_amounts,
    Kind.DESERVED: _read_deserved,
    Kind.LIMITS: _read_limits,
    Kind.WEIGHTS: _read_weights,
    Kind.USAGE_WINDOW: _read_usage_window,
    Kind.BUDGET: _read_budget,
    Kind.PEERS: _read_peers,
    Kind.OWN: _read_own,
}


def make(noun: Callable[..., Noun], settings: Sequence[Setting], stated: Mapping[str, object]) -> Noun:
    """`ConsumerSettings` or `PolicySettings` of what is stated by key, with the parts that a policy's settings have."""
    found: dict[str, dict[str, object]] = {"": {}}
    for setting in settings:
        part, _, name = setting.field.rpartition(".") if setting.field else ("more", "", setting.key)
        fields = found.setdefault(part, {})
        if setting.key in stated:
            fields[name] = stated[setting.key]
    own = found.pop("")
    return noun(**own, **{part: PARTS[part](**fields) for part, fields in found.items()})
