"""Plans with other values: what a sweep varies, and the plans that come of it."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from dataclasses import dataclass
from itertools import islice, product
from typing import TYPE_CHECKING, Any

from fairhold.errors import Fault, InputError
from fairhold.lab.places import SETTINGS, SLOTS, NoPlaceError, node_at, places_of
from fairhold.planio.document import parse_document
from fairhold.planio.report import shown
from fairhold.traces.draws import Stream, stream_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MOST = 10_000
"""Plans of one sweep at most."""
_SHAPE = re.compile(r"([^=]+):([a-z_]+)=(.+)")
_RANGE = re.compile(r"(-?[0-9]{1,12})\.\.(-?[0-9]{1,12})(?::([0-9]{1,12}))?")
_EXAMPLE = "write `/Trading:owned=8..12:2`, `settings:victims=youngest,oldest` or `compute:slots=16,20`"
Values = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Variation:
    """What is varied.

    where  : path of a consumer, `settings` of the policy entries, or the name of a resource group
    key    : the setting; of a group, `slots`
    values : those that it has in turn
    """

    where: str
    key: str
    values: Values

    @property
    def name(self) -> str:
        """As it was written, without the values."""
        return f"{self.where}:{self.key}"


def parse_variation(text: str) -> Variation:
    """Read one; a value that is there twice counts once. Raises InputError."""
    match = _SHAPE.fullmatch(text.strip())
    if match is None:
        raise _fault(f"`{shown(text)}` does not say what to vary", _EXAMPLE)
    where, key, values = match.groups()
    found = [each for part in values.split(",") for each in _values(part.strip(), text)]
    if len(found) > MOST:
        raise _fault(f"`{shown(text)}` has {len(found):,} values", f"give it {MOST:,} at most")
    return Variation(where, key, tuple({repr(each): each for each in found}.values()))


def _values(part: str, text: str) -> list[Any]:
    span = _RANGE.fullmatch(part)
    if span is not None:
        first, last, step = int(span[1]), int(span[2]), int(span[3] or 1)
        if step == 0 or last < first:
            raise _fault(f"`{shown(text)}`: the range `{part}` has no values", "write `8..12` or `8..12:2`")
        return list(islice(range(first, last + 1, step), MOST + 1))
    value = parse_document(f"value: {part}", text).value
    found = value.get("value") if isinstance(value, dict) else None
    if found is None or isinstance(found, (dict, list)):
        raise _fault(f"`{shown(text)}`: `{shown(part)}` is not a value", _EXAMPLE)
    return [found]


def combinations(variations: Sequence[Variation], count: int, seed: int) -> Iterator[Values]:
    """All combinations of the values, in order; or so many that are drawn, where `count` is not 0.

    Raises InputError where there are more than a sweep may have, or one place is varied twice.
    """
    names = [each.name for each in variations]
    for name in names:
        if names.count(name) > 1:
            raise _fault(f"`{shown(name)}` is varied twice", f"give all its values together: `{shown(name)}=1,2,3`")
    whole = 1
    for each in variations:
        whole *= len(each.values)
    if count:
        chance = Stream(stream_of(seed, "sweep"))
        drawn = {tuple(each.values[chance.below(len(each.values))] for each in variations): None for _ in range(count)}
        return iter(drawn)
    if whole > MOST:
        raise _fault(f"the sweep has {whole:,} plans", f"give at most {MOST:,} at most, or draw some by --random")
    return product(*(each.values for each in variations))


def varied(plan: Mapping[str, Any], variations: Sequence[Variation], values: Values) -> str:
    """The text of a plan with other values, as JSON; raises InputError where there is no such place in it."""
    other = deepcopy(dict(plan))
    for each, value in zip(variations, values, strict=True):
        for node in _nodes(other, each):
            node[each.key] = value
    return json.dumps(other)


def _nodes(plan: dict[str, Any], variation: Variation) -> list[dict[str, Any]]:
    """Where the value stands; of a resource group only its slots vary."""
    if variation.where != SETTINGS and not variation.where.startswith("/") and variation.key != SLOTS:
        raise _fault(f"`{shown(variation.name)}` is not a setting of the plan", _EXAMPLE)
    try:
        return [node_at(plan, place) for place in places_of(plan, variation.where, variation.key)]
    except NoPlaceError as error:
        raise _fault(f"`{shown(variation.name)}`: {error.what}", error.mend) from None


def _fault(what: str, mend: str) -> InputError:
    return InputError([Fault("variation", what, mend)])
