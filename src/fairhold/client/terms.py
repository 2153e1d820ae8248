"""What is sent with a new job: the words of a program or a person as the contract wants them."""

from __future__ import annotations

import os
import re
import secrets
from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING

from fairhold.client.finding import STORE, TOKEN
from fairhold.errors import ArgumentError, Fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fairhold.client.exchange import Document

_DEFAULTS: Document = {
    "resource_group": None,
    "name": "",
    "count": 1,
    "units": 1,
    "unit": None,
    "min_count": 0,
    "preemptible": None,
    "throttle": 0,
    "priority": 0,
    "time_limit": None,
    "memory": None,
    "hold": False,
    "retries": 0,
    "backoff": None,
    "signal": None,
    "lead": None,
    "user": None,
    "notify": None,
    "labels": {},
    "need": [],
    "prefer": [],
    "avoid": [],
    "place": None,
    "after": [],
}
"""What need not be sent."""
_LONGEST_KEY = 200
_KEY = re.compile(f"[!-~]{{1,{_LONGEST_KEY}}}")
ONS = ("ok", "fail", "any")


def new_key() -> str:
    """A key that no other submission has."""
    return secrets.token_hex(16)


def job_terms(
    consumer: str,
    argv: Sequence[str],
    *,
    environment: Mapping[str, str] | None,
    directory: str | os.PathLike[str] | None,
    stdin: bytes,
    **others: object,
) -> Document:
    """The document of a new job.

    environment : None = the caller's
    directory   : None = the caller's
    others      : as in the contract; what is as if it were left out is not sent

    Raises ArgumentError.
    """
    terms: Document = {"consumer": consumer, "argv": _words(argv)}
    terms["environment"] = dict(own_environment() if environment is None else environment)
    terms["directory"] = _directory(directory)
    if not isinstance(stdin, bytes):
        raise ArgumentError([Fault("wrong-type", "`stdin` is not bytes", "write text.encode()", ("stdin",))])
    if stdin:
        terms["stdin"] = b64encode(stdin).decode()
    terms |= {name: value for name, value in others.items() if value != _DEFAULTS[name]}
    _refuse_bytes(terms)
    return terms


def _directory(given: str | os.PathLike[str] | None) -> str:
    try:
        return str(Path.cwd() if given is None else Path(given).absolute())
    except FileNotFoundError:
        what = "the working directory no longer exists"
        raise ArgumentError([Fault("cannot-read", what, "change into another one", ("directory",))]) from None


def check_key(key: str) -> None:
    """Raises ArgumentError for a key that cannot be sent, or that the service refuses in words of HTTP."""
    if not _KEY.fullmatch(key):
        what = f"a key is 1 to {_LONGEST_KEY} printable ASCII characters without spaces"
        raise ArgumentError([Fault("name", what, "write it so", ("key",))])


def check_text(text: str) -> None:
    """Raises ArgumentError for a plan that is not a string."""
    if not isinstance(text, str):
        raise ArgumentError([Fault("wrong-type", "the plan is not a string", "write text.decode()", ("text",))])


def _words(argv: Sequence[str]) -> list[str]:
    """A command word by word; a string alone is a sequence of its letters, and never meant."""
    words = [] if isinstance(argv, str | bytes) else list(argv)
    if not words:
        what = "the command is empty" if argv in ([], ()) else "the command is not a list of words"
        raise ArgumentError([Fault("wrong-type", what, 'give a list, as ["echo", "hello"]', ("argv",))])
    for at, word in enumerate(words):
        if not isinstance(word, str):
            what = f"a word of the command is not a string but of type {type(word).__name__}"
            raise ArgumentError([Fault("wrong-type", what, "write str(…) around it", ("argv", at))])
    return words


def own_environment() -> dict[str, str]:
    """The caller's variables: without what the service's people prove themselves by, and what is not Unicode text."""
    told = {name: value for name, value in os.environ.items() if name not in {TOKEN, STORE}}
    return {name: value for name, value in told.items() if _is_text(name) and _is_text(value)}


def after_rows(names: Iterable[str | tuple[str, str]]) -> list[Document]:
    """`17`, `ok:17` and `("17", "ok")` as the contract has them. Raises ArgumentError."""
    rows = []
    for each in names:
        if isinstance(each, tuple):
            job, on = each
        else:
            on, colon, job = each.rpartition(":")
            on = on if colon else ONS[0]
        if on not in ONS or not job.isdecimal():
            what = f"`{each}` does not say what to wait for"
            mend = "write ok:JOB, fail:JOB or any:JOB, as `ok:17`"
            raise ArgumentError([Fault("after", what, mend)])
        rows.append({"job": job, "on": on})
    return rows


def _is_text(text: str) -> bool:
    """Whether all of a text is Unicode; the system's names may hold any bytes, which JSON cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _refuse_bytes(terms: Document) -> None:
    for name in ("consumer", "directory", "argv"):
        value = terms[name]
        for text in value if isinstance(value, list) else [value]:
            if not _is_text(text):
                shown = text.encode(errors="backslashreplace").decode()
                mend = "use names of files that are UTF-8"
                raise ArgumentError([Fault("not-text", f"`{shown}` is not Unicode text", mend, (name,))])
