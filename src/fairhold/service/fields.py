"""Values of requests: durations, instants and texts as people write them, checked and counted in our units."""

import re
import signal
from base64 import b64decode
from binascii import Error as Base64Error
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from fairhold.planio.requests import LARGEST_PRIORITY
from fairhold.planio.terms import MOST_MEMORY
from fairhold.units import LONGEST, SECOND, parse_duration, parse_instant

MOST = 2**40
"""The largest number of tasks, slots and the like; as `orchestrator.jobs.MOST`."""
_LONGEST_SECONDS = LONGEST // SECOND
_NEVER = (signal.SIGKILL, signal.SIGSTOP)


def _micros(value: object) -> int:
    if isinstance(value, str) and len(value) <= 40:
        micros = parse_duration(value)
    elif isinstance(value, int) and not isinstance(value, bool):
        micros = value * SECOND
    else:
        micros = None
    if micros is None:
        raise PydanticCustomError("duration", "expected a duration: text like `30s`, or whole seconds")
    if not 0 <= micros <= LONGEST:
        raise PydanticCustomError("duration", "a duration is 0 to 366 days")
    return micros


def _span(micros: int) -> int:
    if not micros:
        raise PydanticCustomError("duration", "expected a time that is longer than nothing")
    return micros


def _instant(value: object) -> int:
    micros = parse_instant(value) if isinstance(value, str) and len(value) <= 40 else None
    if micros is None:
        raise PydanticCustomError("instant", "expected an instant with its offset, as `2026-01-05T09:00:00Z`")
    if micros < 0:
        raise PydanticCustomError("out-of-range", "the instant is before 1970, as no instant here may be")
    return micros


def _unicode(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise PydanticCustomError("not-text", "half of a pair of characters cannot be used") from None
    return text


def _plain(text: str) -> str:
    if "\0" in text:
        raise PydanticCustomError("not-text", "a NUL character cannot be used here")
    return text


def _shown(text: str) -> str:
    if text and not text.isprintable():
        raise PydanticCustomError("not-text", "only characters that can be seen may be used here")
    return text


def _absolute(text: str) -> str:
    if not text.startswith("/"):
        raise PydanticCustomError("name", "a directory is given from the top: it begins with `/`")
    return text


def _variable(name: str) -> str:
    if not name or "=" in name:
        raise PydanticCustomError("name", "the name of a variable is not empty and has no `=`")
    return name


def _bytes(value: object) -> bytes:
    if not isinstance(value, str):
        raise PydanticCustomError("not-a-string", "expected bytes in base64")
    try:
        return b64decode(value, validate=True)
    except (Base64Error, ValueError):
        raise PydanticCustomError("base64", "these are no bytes in base64") from None


def _command(words: list[str]) -> list[str]:
    if words and not words[0]:
        raise PydanticCustomError("name", "the first word of a command names a program, and it is empty")
    return words


def _of_form(pattern: str, what: str) -> tuple[AfterValidator, WithJsonSchema]:
    """Text of a form; what: said of any other."""
    form = re.compile(pattern)

    def check(text: str) -> str:
        if not form.fullmatch(text):
            raise PydanticCustomError("name", what)
        return text

    return AfterValidator(check), WithJsonSchema({"type": "string", "pattern": pattern})


def _signal(value: object) -> int:
    if isinstance(value, str):
        number = getattr(signal, f"SIG{value.removeprefix('SIG')}", None) if value.isalnum() else None
        if isinstance(number, signal.Signals) and number not in _NEVER:
            return int(number)
    raise PydanticCustomError("unknown-word", "expected the name of a signal that can be caught, as `TERM`")


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
User = Annotated[
    Text, *_of_form(r"^[^\s/:\x00-\x1f\x7f]{1,64}$", "the name of a user is 1 to 64 characters without blanks, / and :")
]
ConsumerPath = Annotated[Plain, Field(min_length=1, max_length=10_000)]
GroupName = Annotated[Plain, Field(min_length=1, max_length=1_000)]
JobName = Annotated[str, *_of_form(r"^[0-9]{1,18}$", "a job is named by its number, as a string")]
Command = Annotated[list[Plain], Field(min_length=1), AfterValidator(_command)]
Whole = Annotated[int, Field(ge=0, le=MOST)]
Positive = Annotated[int, Field(ge=1, le=MOST)]
Priority = Annotated[int, Field(ge=-LARGEST_PRIORITY, le=LARGEST_PRIORITY)]
Memory = Annotated[int, Field(ge=0, le=MOST_MEMORY)]
