"""`store`: copies and checks of what a service keeps; they need no service."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from fairhold.cli.live.printing import say, say_json
from fairhold.client.errors import ServiceMissing
from fairhold.client.finding import STATE, STORE, base_directory, find
from fairhold.errors import InputError, UsageError, count, place_text
from fairhold.runtime.live.contents import LiveContents
from fairhold.store.choosing import (
    backup_store,
    check_store,
    copy_store,
    place_before,
    place_of,
    restore_store,
    told,
)
from fairhold.store.postgresql.address import is_address

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.store.choosing import Place

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


def the_place(store: str, state: Path | None) -> Place:
    """The store that is meant: by its address, else that of the state directory that is meant."""
    variable = os.environ.get(STORE, "")
    if store or (variable and state is None):
        return place_of(store, variable, Path())
    return place_before(state_directory(state))


def check(state: Path | None, store: str, *, as_json: bool) -> None:
    """`store check`: everything that is wrong in a store; exit 1 where anything is."""
    place = the_place(store, state)
    found = check_store(place, LiveContents)
    if as_json:
        keys = ("code", "what", "mend", "file")
        rows = [{key: getattr(fault, key) for key in keys} | {"place": place_text(fault.place)} for fault in found]
        say_json({"directory": told(place), "faults": rows})
    if found:
        raise InputError(found)
    if not as_json:
        say(f"{told(place)}: good")


def backup(path: Path, state: Path | None, store: str, *, as_json: bool) -> None:
    """`store backup`: a whole copy, also while a service uses the store."""
    place = the_place(store, state)
    backup_store(place, path.absolute(), LiveContents)
    _done({"directory": told(place), "backup": str(path)}, f"{told(place)}: copied to {path}", as_json=as_json)


def restore(path: Path, state: Path | None, store: str, *, replace: bool, as_json: bool) -> None:
    """`store restore`: a store of a backup."""
    if not store and state is None:
        raise UsageError("name the state directory with --state, or the database with --store")
    place = the_place(store, state)
    restore_store(path.absolute(), place, replace=replace, contents=LiveContents)
    _done({"directory": told(place), "backup": str(path)}, f"{told(place)}: restored from {path}", as_json=as_json)


def copy(source: str, target: str, *, as_json: bool) -> None:
    """`store copy`: a whole store, that no service uses, into a new one in the same or another database."""
    places = [place_of(each, "", Path()) if is_address(each) else Path(each).absolute() for each in (source, target)]
    rows = copy_store(places[0], places[1], LiveContents)
    first, second = map(told, places)
    document = {"from": first, "to": second, "rows": rows}
    _done(document, f"{second}: {count(rows, 'row')} copied from {first}, and compared", as_json=as_json)


def _done(document: Mapping[str, object], text: str, *, as_json: bool) -> None:
    if as_json:
        say_json(document)
    else:
        say(text)
