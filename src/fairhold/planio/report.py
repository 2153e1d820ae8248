"""Faults and warnings of one file, collected while it is read, and the readers of single fields."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from fairhold.errors import Fault, InputError
from fairhold.planio.instants import instant_trouble
from fairhold.planio.scalars import Written, WrittenWhole, is_whole
from fairhold.units import LARGEST, LAST_INSTANT, LONGEST, parse_duration, parse_instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairhold.errors import Place
    from fairhold.planio.document import Document
    from fairhold.planio.values import Value

SUGGESTIONS = 200
"""How many faults of one file get a "did you mean": comparing names is slow."""
LONGEST_NAME = 200
"""Longer words are not compared, and are shown cut."""
LEAVE_AWAY = "leave it out"
_INSTEAD = {"labels": "list the hosts under `hosts:` instead"}
"""Keys that are not supported and cannot just go: something supported has to take their place."""
FORMATS = {
    "fairhold": ("a plan", "give the plan as the first argument, before the state or the scenario"),
    "fairhold_state": ("a state", "name it after the plan, as in `fairhold quota PLAN STATE`"),
    "fairhold_scenario": ("a scenario", "`fairhold simulate` plays it, and `fairhold diff` takes it with `--at`"),
    "fairhold_access": ("an access document", "`fairhold access apply` puts it in force"),
    "fairhold_tenants": ("a file of tenants", "name it in the `workload:` of a scenario"),
}
"""First key of a file → what it is, and where it belongs."""
LAST_DEADLINE = LAST_INSTANT + LONGEST
"""The last instant with the longest grace added."""


class Report:
    """Collects what is wrong with a document.

    Reading goes on after a fault with a harmless value, so that all faults are found; `settle` raises them.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self.faults: list[Fault] = []
        self.warnings: list[Fault] = []
        self._suggested = 0

    def fault(self, code: str, what: str, mend: str, place: Place) -> None:
        """Keep a fault."""
        self.faults.append(Fault(code, what, mend, place))

    def warn(self, code: str, what: str, mend: str, place: Place) -> None:
        """Keep a warning: the file can be used as it is."""
        self.warnings.append(Fault(code, what, mend, place))

    def settle(self) -> tuple[Fault, ...]:
        """Return the warnings with their lines; raises InputError with all faults if there are any."""
        if self.faults:
            raise InputError(self.document.locate(self.faults))
        return self.document.locate(self.warnings)

    def suggest(self, word: str, known: Iterable[str], otherwise: str = "") -> str:
        """`did you mean …?` where one of the known words is close, or differs in capitals alone, else `otherwise`."""
        self._suggested += 1
        if self._suggested > SUGGESTIONS or len(word) > LONGEST_NAME:
            return otherwise
        names = [name for name in known if len(name) <= LONGEST_NAME]
        alike = [name for name in names if name.casefold() == word.casefold()]
        close = alike or get_close_matches(word, names, n=1)
        return f"did you mean `{shown(close[0])}`?" if close else otherwise

    def mapping(self, value: Value, place: Place, *, what: str = "a mapping") -> dict[str, Value]:
        """Return a mapping; nothing at all (`key:`) counts as an empty one."""
        if isinstance(value, dict):
            return value
        if value is not None:
            self.fault("wrong-type", f"expected {what}, found {kind(value)}", "write `{key: value, …}`", place)
        return {}

    def sequence(self, value: Value, place: Place, *, what: str) -> list[Value]:
        """Return a list."""
        if isinstance(value, list):
            return value
        self.fault("wrong-type", f"expected a list of {what}, found {kind(value)}", "write `[…]`", place)
        return []

    def whole(self, value: Value, place: Place, *, least: int = 0, most: int = LARGEST) -> int:
        """Return a whole number between `least` and `most`, else a fault and `least`."""
        if is_whole(value):
            if least <= value <= most:
                return int(value)
            code = "negative" if value < 0 <= least else "out-of-range"
            number = shown(value)
            what, mend = f"{number} is not between {least} and {most}", f"write a number from {least} to {most}"
            self.fault(code, what, mend, place)
        else:
            found = f'the text `"{shown(value)}"`' if isinstance(value, str) and _is_number(value) else kind(value)
            self.fault("not-whole", f"expected a whole number, found {found}", _whole_mend(value, least), place)
        return least

    def text(self, value: Value, place: Place, *, what: str, mend: str = "") -> str:
        """Return a string, else a fault and the empty string; `mend` is said where quotes would not mend it."""
        if isinstance(value, str):
            return value
        quote = "write a string"
        if isinstance(value, bool):  # as `true` or `True`: that is not kept
            quote = "write it in quotes"
        elif isinstance(value, (int, float)):
            quote = f'quote it: `"{shown(value)}"`'
        self.fault("not-a-string", f"expected {what}, found {kind(value)}", mend or quote, place)
        return ""

    def word(self, value: Value, place: Place, known: tuple[str, ...]) -> str:
        """Return one of the words that are known, else a fault and the empty string."""
        word = self.text(value, place, what=f"one of {listed(known)}")
        if isinstance(value, str) and word not in known:
            mend = self.suggest(word, known, f"write one of {listed(known)}")
            key = next(each for each in reversed(place) if isinstance(each, str))
            self.fault("unknown-word", f"`{shown(word)}` is not a value of `{key}`", mend, place)
            return ""
        return word

    def flag(self, value: Value, place: Place) -> bool:
        """Return true or false."""
        if isinstance(value, bool):
            return value
        self.fault("wrong-type", f"expected true or false, found {kind(value)}", "write `true` or `false`", place)
        return False

    def duration(self, value: Value, place: Place) -> int:
        """Return a duration in microseconds, else a fault and 0; a plain 0 needs no unit."""
        if is_whole(value) and value == 0:
            return 0
        if is_whole(value) or isinstance(value, float):
            mend = f"write `{shown(value)}s` for seconds" if value >= 0 else "write `30s`, `1m30s` or `2h`"
            self.fault("duration", f"{shown(value)} has no unit of time", mend, place)
            return 0
        if isinstance(value, str) and _is_number(value):
            what, mend = f"`{value}` has no unit of time", f"write `{value}s` for seconds"
            self.fault("duration", what, mend, place)
            return 0
        micros = parse_duration(value) if isinstance(value, str) and len(value) <= 40 else None
        if micros is None:
            self.fault("duration", f"expected a duration, found {kind(value)}", "write `30s`, `1m30s` or `2h`", place)
            return 0
        if micros > LONGEST:
            self.fault("duration", f"`{value}` is longer than 366 days", "write a shorter duration", place)
            return 0
        return micros

    def instant(self, value: Value, place: Place, *, last: int = LAST_INSTANT) -> int:
        """Return an instant in microseconds since 1970, up to `last`, else a fault and 0."""
        micros = parse_instant(value) if isinstance(value, str) and len(value) <= 40 else None
        if micros is None or not 0 <= micros <= last:
            what, mend = instant_trouble(value) if isinstance(value, str) and len(value) <= 40 else ("", "")
            what = what or f"expected an instant with its offset, found {kind(value)}"
            self.fault("instant", what, mend or "write it as `2026-01-05T09:00:00Z`, after 1970", place)
            return 0
        return micros

    def version(self, top: dict[str, Value], key: str) -> None:
        """Check the format version that every file starts with; of another kind of file it is the only fault."""
        other = next((each for each in FORMATS if each in top and each != key), "")
        if key not in top and other and key in FORMATS:
            what = f"expected {FORMATS[key][0]}, found {FORMATS[other][0]}"
            self.faults = [Fault("version", what, FORMATS[other][1], (other,))]
            self.settle()  # all else that is wrong with it says the same
        if key not in top:
            self.fault("version", f"`{key}` is missing: it says which format the file has", f"add `{key}: 1`", ())
        elif top[key] != 1 or not is_whole(top[key]):
            what = f"format {kind(top[key])} is not known: this version reads `{key}: 1`"
            self.fault("version", what, f"write `{key}: 1`, or use a version of fairhold made for it", (key,))

    def keys(self, node: Mapping[str, Value], known: Iterable[str], place: Place, refused: Mapping[str, str]) -> None:
        """Refuse keys that are not known; `refused` names those that mean something elsewhere: key → why not here."""
        for key in node:
            if key not in known:
                self.unknown_key(key, known, (*place, key), refused)

    def unknown_key(self, key: str, known: Iterable[str], place: Place, refused: Mapping[str, str]) -> None:
        """Refuse one key."""
        if key in refused:
            self.unsupported(refused[key], place, _INSTEAD.get(key, LEAVE_AWAY))
            return
        mend = self.suggest(key, known, f"use {listed(known)}")
        self.fault("unknown-key", f"`{shown(key)}` is not a key here", mend, place)

    def unsupported(self, what: str, place: Place, mend: str = LEAVE_AWAY) -> None:
        """Refuse by name what the format knows and this version cannot do."""
        self.fault("not-supported-yet", f"{what} not supported by this version", mend, place)

    def missing(self, node: Mapping[str, Value], required: Iterable[str], place: Place, what: str) -> None:
        """Refuse a mapping without its required keys, unless what stands there was refused for being none."""
        if self.faults and (self.faults[-1].code, self.faults[-1].place) == ("wrong-type", place):
            return
        for key in required:
            if key not in node:
                self.fault("missing-key", f"{what} needs `{key}`", f"add `{key}:`", place)


def shown(value: object) -> str:
    """Return a value as short printable text."""
    text = value if isinstance(value, str) else _number(value)
    text = text if len(text) <= LONGEST_NAME else f"{text[:LONGEST_NAME]}…"
    return text if text.isprintable() else text.encode("unicode_escape").decode()


def listed(words: Iterable[str]) -> str:
    """Return words as a choice for a message: `` `a`, `b` ``."""
    return ", ".join(f"`{shown(word)}`" for word in words)


def _number(value: object) -> str:
    """Return a number, or how YAML writes the rest; huge whole numbers are not turned into text."""
    if isinstance(value, (Written, WrittenWhole)):
        return value.text
    if isinstance(value, float):
        return repr(value)
    if is_whole(value):
        return str(value) if abs(value) < 10**30 else "a huge number"
    if value is None or isinstance(value, bool):
        return {True: "true", False: "false", None: "null"}[value]
    return kind(value)


def kind(value: object) -> str:
    """Say what a value is, for a message."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "nothing"
    return f"`{shown(value)}`" if not isinstance(value, str) or value else "an empty string"


def _is_number(text: str) -> bool:
    """Whether a text would be a whole number without its quotes."""
    return text.isascii() and text.isdigit() and len(text) < 14


def _whole_mend(value: Value, least: int) -> str:
    """How to write a number that is none, or is not whole."""
    if isinstance(value, float) and abs(value) < LARGEST:
        near = {int(value), int(value) if value.is_integer() else int(value) + 1}
        return f"write {' or '.join(str(each) for each in sorted(near) if each >= least) or least}"
    if isinstance(value, str) and _is_number(value):
        return f"write {int(value)} without quotes"
    return "write a whole number without unit"
