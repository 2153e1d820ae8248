"""Values of requests: durations, instants and texts as people write them, checked and counted in our units."""

import re
import signal
from base64 import b64decode
from binascii import Error as Base64Error
from math import isfinite
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from fairhold.planio.requests import LARGEST_PRIORITY
from fairhold.planio.terms import MOST_MEMORY
from fairhold.units import LAST_INSTANT, LONGEST, SECOND, parse_duration, parse_instant

MOST = 2**40
"""The largest number of tasks, slots and the like; as `orchestrator.jobs.MOST`."""
_LONGEST_AMOUNT = 100
"""Characters of an amount as text."""
_LONGEST_SECONDS = LONGEST // SECOND
_NEVER = (signal.SIGKILL, signal.SIGSTOP)


def _wrong(code: str, what: str, mend: str) -> PydanticCustomError:
    return PydanticCustomError(code, what, {"mend": mend})


def _micros(value: object) -> int:
    if isinstance(value, str) and len(value) <= 40:
        micros = parse_duration(value)
    elif isinstance(value, int) and not isinstance(value, bool):
        micros = value * SECOND
    else:
        micros = None
    if micros is None:
        raise _wrong(
            "duration",
            "expected a duration: text like `30s`, or whole seconds",
            "write `30s`, `10m` or `1h30m`, or a whole number of seconds",
        )
    if not 0 <= micros <= LONGEST:
        raise _wrong("duration", "a duration must be 0 to 366 days", "write 0 to `366d`")
    return micros


def _span(micros: int) -> int:
    if not micros:
        raise _wrong("duration", "expected a duration above 0", "write a longer one, as `1h`")
    return micros


def _amount(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise _wrong("not-a-number", "expected an amount", "write a number")
    if isinstance(value, float) and not isfinite(value):
        raise _wrong("bad-number", "an amount is not a finite number", "write a number")
    if isinstance(value, str) and len(value) > _LONGEST_AMOUNT:
        raise _wrong("not-a-number", "the text is too long for an amount", "write a number")
    return value


def _instant(value: object) -> int:
    micros = parse_instant(value) if isinstance(value, str) and len(value) <= 40 else None
    if micros is None:
        raise _wrong("instant", "expected an instant with its offset, as `2026-01-05T09:00:00Z`", "write it so")
    if micros < 0:
        raise _wrong("out-of-range", "the instant is before 1970", "give a later one")
    if micros > LAST_INSTANT:
        raise _wrong("out-of-range", "the instant is after the year 8999", "give an earlier one")
    return micros


def _unicode(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _wrong("not-text", "half of a surrogate pair is not allowed", "write Unicode text") from None
    return text


def _plain(text: str) -> str:
    if "\0" in text:
        raise _wrong("not-text", "a NUL character is not allowed here", "leave it out")
    return text


def _shown(text: str) -> str:
    if text and not text.isprintable():
        raise _wrong(
            "not-text", "only printable characters are allowed here", "write one line without control characters"
        )
    return text


def _absolute(text: str) -> str:
    if not text.startswith("/"):
        raise _wrong("name", "a directory must be an absolute path", "write it as `/srv/prices`")
    return text


def _variable(name: str) -> str:
    if not name or "=" in name:
        raise _wrong("name", "the name of a variable must not be empty or contain `=`", "give it another name")
    return name


def _bytes(value: object) -> bytes:
    if not isinstance(value, str):
        raise _wrong("not-a-string", "expected bytes in base64", "write a string in base64")
    try:
        return b64decode(value, validate=True)
    except (Base64Error, ValueError):
        raise _wrong("base64", "this is not base64", "encode them in base64, padded with `=`") from None


def _command(words: list[str]) -> list[str]:
    if words and not words[0]:
        raise _wrong("name", "the first word of a command is the program, and it is empty", "name a program")
    return words


def _of_form(pattern: str, what: str) -> tuple[AfterValidator, WithJsonSchema]:
    """Text of a form; what: said of any other."""
    form = re.compile(pattern)

    def check(text: str) -> str:
        if not form.fullmatch(text):
            raise _wrong("name", what, "write it so")
        return text

    return AfterValidator(check), WithJsonSchema({"type": "string", "pattern": pattern})


def _signal(value: object) -> int:
    if isinstance(value, str):
        number = getattr(signal, f"SIG{value.removeprefix('SIG')}", None) if value.isalnum() else None
        if isinstance(number, signal.Signals) and number not in _NEVER:
            return int(number)
    raise _wrong(
        "unknown-word",
        "expected the name of a signal that can be caught, such as `TERM`",
        "write `TERM`, `INT`, `USR1` or another",
    )


_DURATION: dict[str, Any] = {
    "anyOf": [
        {"type": "string", "pattern": r"^([0-9]+(\.[0-9]+)?(ms|s|m|h|d))+$"},
        {"type": "integer", "minimum": 0, "maximum": _LONGEST_SECONDS},
    ],
    "description": "Text like `30s` or `1h30m`, or whole seconds.",
}
_SIGNALS = sorted(each.name.removeprefix("SIG") for each in signal.Signals if each not in _NEVER)

Duration = Annotated[int, BeforeValidator(_micros), WithJsonSchema(_DURATION)]
Span = Annotated[Duration, AfterValidator(_span)]
Instant = Annotated[int, BeforeValidator(_instant), WithJsonSchema({"type": "string", "format": "date-time"})]
Text = Annotated[str, AfterValidator(_unicode)]
Plain = Annotated[Text, AfterValidator(_plain)]
Shown = Annotated[str, Field(max_length=500), AfterValidator(_shown)]
Directory = Annotated[Plain, Field(max_length=4095), AfterValidator(_absolute)]
Variable = Annotated[Plain, AfterValidator(_variable)]
Stdin = Annotated[bytes, BeforeValidator(_bytes), WithJsonSchema({"type": "string", "format": "byte"})]
Signal = Annotated[int, BeforeValidator(_signal), WithJsonSchema({"type": "string", "enum": _SIGNALS})]
Label = Annotated[
    str, *_of_form(r"^[A-Za-z0-9_.-]{1,100}$", "the name of a label is 1 to 100 of the characters A-Z a-z 0-9 _ . -")
]
HostLabel = Annotated[
    str,
    *_of_form(
        r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}(=[A-Za-z0-9][A-Za-z0-9._/-]{0,62})?$",
        "a label of a host is a name or NAME=VALUE, each up to 63 of the characters A-Z a-z 0-9 . _ / -",
    ),
]
HostLabels = Annotated[list[HostLabel], Field(max_length=64)]
User = Annotated[
    Text,
    *_of_form(r"^[^\s/:\x00-\x1f\x7f]{1,64}$", "the name of a user is 1 to 64 characters without spaces, `/` and `:`"),
]
KeyOfClient = Annotated[
    str, *_of_form(r"^[!-~]{1,200}$", "a key is 1 to 200 printable ASCII characters without spaces")
]
ConsumerPath = Annotated[Plain, Field(min_length=1, max_length=10_000)]
GroupName = Annotated[Plain, Field(min_length=1, max_length=1_000)]
JobName = Annotated[str, *_of_form(r"^[0-9]{1,18}$", "a job is named by its number, as a string")]
ResourceName = Annotated[Plain, Field(min_length=1, max_length=1_000)]
Amount = Annotated[
    int | float | str,
    BeforeValidator(_amount),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string"}], "description": "A number, exact as text."}),
]
Events = Annotated[list[Literal["start", "reclaim", "withdrawn", "end"]], Field(max_length=4)]
Command = Annotated[list[Plain], Field(min_length=1), AfterValidator(_command)]
Whole = Annotated[int, Field(ge=0, le=MOST)]
Positive = Annotated[int, Field(ge=1, le=MOST)]
Priority = Annotated[int, Field(ge=-LARGEST_PRIORITY, le=LARGEST_PRIORITY)]
Memory = Annotated[int, Field(ge=0, le=MOST_MEMORY)]
