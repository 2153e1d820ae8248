"""Which results still stand: what a run was made of, in one number, so that it need not be played again."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairhold import __version__

if TYPE_CHECKING:
    from fairhold.lab.scenario import Scenario

    Update = Any


def made_of(scenario: Scenario, plan: str, *, check: bool) -> str:
    """A digest of all that the run of one plan depends on, this version of Fairhold too; the same on every machine.

    Two runs of one digest write the same event log and the same summary.

    check : whether its cycles are looked at
    """
    found = hashlib.sha256()
    whole = (__version__, check, scenario.begin, scenario.piece, scenario.resources, scenario.experiments[plan])
    _enter(whole, found.update)
    return found.hexdigest()


def _enter(noun: object, update: Update) -> None:
    """Give the bytes of a noun and of all in it: its kind and its length first, so that none runs into the next."""
    if isinstance(noun, Enum):
        update(f"{type(noun).__name__}.{noun.name};".encode())
    elif is_dataclass(noun) and not isinstance(noun, type):
        update(f"{type(noun).__name__}(".encode())
        for field in fields(noun):
            if field.compare:  # what is not compared follows from the rest
                _enter(getattr(noun, field.name), update)
    elif isinstance(noun, str | bytes | int | float | Fraction | None):
        update(f"{noun!r};".encode())
    elif isinstance(noun, array) or (isinstance(noun, Sequence) and noun and all(type(each) is int for each in noun)):
        update(f"numbers {len(noun)}:{','.join(map(str, noun))};".encode())
    elif isinstance(noun, Mapping):
        update(f"mapping {len(noun)}:".encode())
        for key, value in noun.items():
            _enter(key, update)
            _enter(value, update)
    elif isinstance(noun, AbstractSet):
        _enter(sorted(noun, key=repr), update)
    elif isinstance(noun, Sequence):
        update(f"{len(noun)}:".encode())
        for each in noun:
            _enter(each, update)
    else:
        raise TypeError(f"{type(noun).__name__} has no bytes of its own")
