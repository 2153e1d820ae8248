"""Our own words for all errors that FastAPI and Pydantic find in a request."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.errors import Step

JSON = "application/json"
TWICE = "appears twice in one mapping of the body"
"""How a fault of a key ends that `service.bodies` has found."""


class _Words(NamedTuple):
    """A code, what is wrong, how to mend it; `{NAME}` stands for what Pydantic says of it."""

    code: str
    what: str
    mend: str


_CONTRACT = "`/v1/openapi.json` says what is expected"
_WHOLE = _Words("not-whole", "expected a whole number", "write a whole number")
_TRUTH = _Words("wrong-type", "expected true or false", "write `true` or `false`")
_NUMBER = _Words("wrong-type", "expected a number", "write a number")
_MAPPING = _Words("wrong-type", "expected a mapping", "write `{{key: value, …}}`")
_OF_KIND = {
    "missing": _Words("missing-key", "it is required and missing", "add it"),
    "extra_forbidden": _Words("unknown-key", "unknown key", "leave it out"),
    "string_type": _Words("not-a-string", "expected a string", "write a string"),
    "string_unicode": _Words("not-text", "the string is not Unicode text", "write Unicode text"),
    "json_invalid": _Words("json-syntax", "the body is not JSON", "send JSON"),
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_from_float": _WHOLE,
    "int_parsing_size": _Words("out-of-range", "the number is too large", "write a smaller one"),
    "bool_type": _TRUTH,
    "bool_parsing": _TRUTH,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "finite_number": _Words("out-of-range", "expected a finite number", "write a number"),
    "literal_error": _Words("unknown-word", "expected {expected}", "write one of these"),
    "greater_than": _Words("out-of-range", "the number is not above {gt}", "write a larger one"),
    "greater_than_equal": _Words("out-of-range", "the number is below {ge}", "write {ge} or more"),
    "less_than": _Words("out-of-range", "the number is not below {lt}", "write a smaller one"),
    "less_than_equal": _Words("out-of-range", "the number is above {le}", "write {le} or less"),
    "string_too_short": _Words("out-of-range", "the text is shorter than {min_length}", "write more"),
    "string_too_long": _Words("out-of-range", "the text has more than {max_length} characters", "write less"),
    "too_short": _Words("out-of-range", "the list has fewer than {min_length}", "name {min_length} or more"),
    "too_long": _Words("out-of-range", "the list has more than {max_length}", "name {max_length} or fewer"),
    "string_pattern_mismatch": _Words("name", "the text does not match `{pattern}`", "write it so"),
    "list_type": _Words("wrong-type", "expected a list", "write `[…]`"),
    "dict_type": _MAPPING,
    "model_type": _MAPPING,
    "model_attributes_type": _MAPPING,
}
_OTHER = _Words("wrong-type", "the value is of another type than expected", _CONTRACT)
_QUOTED = re.compile(r"'([^']*)'")
_OF_STATUS = {
    400: _Words("bad-request", "the body cannot be read", "send JSON in UTF-8"),
    404: _Words("no-such-page", "there is nothing at this address", "`/v1/openapi.json` lists the addresses"),
    405: _Words(
        "no-such-method", "this address does not support this method", "the header `Allow` lists the supported methods"
    ),
    408: _Words("too-slow", "", "send it at once"),
    413: _Words("too-large", "", "send less at once"),
}


def fault_of(error: Mapping[str, Any], content_type: str) -> Fault:
    """The fault that an error of Pydantic's is.

    content_type : of the request, with its parameters; empty = none
    """
    kind = error["type"]
    whole = tuple(error["loc"]) == ("body",)
    if whole and kind == "missing":
        return Fault("missing-key", "the body is missing", f"send JSON with `Content-Type: {JSON}`")
    if whole and not _is_json(content_type):
        what = f"the type of the body is `{content_type}`" if content_type else "the body has no type"
        return Fault("wrong-type", what, f"send JSON with `Content-Type: {JSON}`")
    place: tuple[Step, ...] = tuple(step for step in error["loc"] if step != "body")
    said = error.get("ctx", {})
    if "mend" in said:  # our own models report their faults under our codes, in our words
        return Fault(kind, error["msg"], said["mend"], place)
    words = _OF_KIND.get(kind, _OTHER)
    if kind == "json_invalid":
        return _of_json(words, said.get("error", ""), place)
    if kind in ("too_short", "string_too_short") and said.get("min_length") == 1:
        return Fault(words.code, "it is empty", "write at least one", place)
    what = words.what.format(**said)
    return Fault(words.code, _QUOTED.sub(r"`\1`", what), words.mend.format(**said), place)


def _of_json(words: _Words, error: str, place: tuple[Step, ...]) -> Fault:
    """The fault of a body that could not be read; error: what who read it says."""
    if error.endswith(TWICE):
        return Fault("duplicate-key", error, "leave one of them out")
    return (
        Fault(words.code, f"{words.what}, at character {place[-1]}", words.mend)
        if place
        else Fault(words.code, words.what, words.mend)
    )


def http_fault(status: int, detail: str) -> Fault:
    """The fault that an error of the framework's is; detail: what it says, of which our own words are kept."""
    words = _OF_STATUS.get(status, _Words("bad-request", "", _CONTRACT))
    return Fault(words.code, words.what or detail, words.mend)


def _is_json(content_type: str) -> bool:
    media = content_type.partition(";")[0].strip().lower()
    return media == JSON or (media.startswith("application/") and media.endswith("+json"))
