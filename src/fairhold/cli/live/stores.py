"""`store`: copies and checks of what a service keeps; they need no service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cli.live.printing import say, say_json
from fairhold.client.errors import ServiceMissing
from fairhold.client.finding import STATE, base_directory, find
from fairhold.errors import InputError, UsageError, place_text
from fairhold.runtime.live.contents import LiveContents
from fairhold.store import backup_store, check_store, restore_store

if TYPE_CHECKING:
    from pathlib import Path

_FILE = "store.sqlite"


def state_directory(state: Path | None) -> Path:
    """The state directory that is meant: a given one, FAIRHOLD_STATE, or that of the service that runs here."""
    if state is not None:
        return state.absolute()
    if (base_directory() / _FILE).exists():
        return base_directory().absolute()
    try:
        found = find("").directory
    except ServiceMissing:
        found = None
    if found is None:
        raise UsageError(
            f"no service runs here, so it is not clear which store is meant; name it with --state or {STATE}"
        )
    return found


def check(state: Path | None, *, as_json: bool) -> None:
    """`store check`: everything that is wrong in a store; exit 1 where anything is."""
    directory = state_directory(state)
    found = check_store(directory, LiveContents)
    if as_json:
        keys = ("code", "what", "mend", "file")
        rows = [{key: getattr(fault, key) for key in keys} | {"place": place_text(fault.place)} for fault in found]
        say_json({"directory": str(directory), "faults": rows})
    if found:
        raise InputError(found)
    if not as_json:
        say(f"{directory}: good")


def backup(path: Path, state: Path | None, *, as_json: bool) -> None:
    """`store backup`: a whole copy, also while a service uses the store."""
    directory = state_directory(state)
    backup_store(directory, path.absolute(), LiveContents)
    _done({"directory": str(directory), "backup": str(path)}, f"{directory}: copied to {path}", as_json=as_json)


def restore(path: Path, state: Path, *, replace: bool, as_json: bool) -> None:
    """`store restore`: a store of a backup."""
    restore_store(path.absolute(), state.absolute(), replace=replace, contents=LiveContents)
    _done({"directory": str(state), "backup": str(path)}, f"{state}: restored from {path}", as_json=as_json)


def _done(document: dict[str, str], text: str, *, as_json: bool) -> None:
    if as_json:
        say_json(document)
    else:
        say(text)
