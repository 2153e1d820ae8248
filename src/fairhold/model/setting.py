"""What a setting of a plan is: its key, what may be written there, and where it is kept."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from fairhold.units import LARGEST


class Kind(Enum):
    """What is written as the value of a setting.

    `planio/settings.py` reads each, `planio/schema.py` describes it, and `cycle/settings_format.py` writes it again.
    """

    WHOLE = "a whole number from `least` to `most`"
    FLAG = "true or false"
    WORD = "one of `words`"
    DURATION = "a duration"
    LEAD = "a duration of up to a day, or `auto`"
    NUMBER = "a number from `least` on, read exactly"
    AMOUNTS = "amounts by resource"
    DESERVED = "amounts by resource, or `unlimited`; 0 of what is left out"
    LIMITS = "amounts by resource, or `none`; no limit of what is left out"
    WEIGHTS = "weights by resource, or one number for all; 1 of what is left out"
    USAGE_WINDOW = "a window of history"
    BUDGET = "a budget"
    PEERS = "leaves, each with a limit"
    OWN = "parts of resource groups"


@dataclass(frozen=True, slots=True)
class Setting:
    """One key under `settings:` of a policy entry, or of a consumer in it. All that handles settings follows it.

    key         : as plans write it
    kind        : what is written there
    description : one sentence, for editors
    default     : the value where a plan says nothing
    field       : of the noun that keeps it, `queue.weight`; empty = it is kept in `more`, by its key
    words       : of a WORD
    least, most : of a WHOLE; of a NUMBER `least` only; a DURATION with `least` 1 may not be 0, however it is written
    has_none    : whether `none` may be written, and `none`: the value that it then has
    zero        : why 0 is refused and how to mend it, where that can be said better than with `least`
    may_differ  : entries that are in force together in a resource group may say it differently
    """

    key: str
    kind: Kind
    description: str
    default: Any = None
    field: str = ""
    words: tuple[str, ...] = ()
    least: int = 0
    most: int = LARGEST
    has_none: bool = False
    none: Any = None
    zero: tuple[str, str] | None = None
    may_differ: bool = False

    def of(self, stated: Any) -> Any:  # noqa: ANN401 - the nouns of settings, and values of every kind
        """The value in `ConsumerSettings` or `PolicySettings`."""
        if not self.field:
            return stated.more.get(self.key, self.default)
        part, _, name = self.field.rpartition(".")
        holder = getattr(stated, part) if part else stated
        return self.default if holder is None else getattr(holder, name)
