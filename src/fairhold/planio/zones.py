"""Time zones as numbers, from the TZif files (RFC 9636) of this machine or of the package `tzdata`.

Python's `zoneinfo` answers for an instant and does not tell when a zone's offset changes; the file does.
"""

from __future__ import annotations

import struct
import zoneinfo
from collections import Counter
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from fairhold.model.window import Zone
from fairhold.planio.report import listed, shown
from fairhold.planio.zonerules import rule_changes
from fairhold.units import SECOND

if TYPE_CHECKING:
    from fairhold.planio.report import Report
    from fairhold.planio.values import Value

_ZONE = "write a name like `Europe/Zurich`"
_PLACE = ("time_zone",)
_OF_THE_MACHINE = ("localtime", "posixrules")
"""Names under which every machine has the zone that its owner chose."""
_COPIES = ("posix/", "right/")
"""Folders in which some machines have all zones again, in `right` with leap seconds."""
_FIRST_RULED, _LAST_RULED = 1970, 2500
"""Years for which changes that a file gives as a rule are written down, as far as they are after all that it lists."""
_CYCLE = 146_097 * 86_400 * SECOND
"""400 years, after which dates fall on the same weekdays again."""
_LAST_LISTED = 2037
"""A year in which all zones follow the rules of today."""
_SHOWN = 6
"""Zones that a message names at most."""
_YEAR = 31_556_952
"""Seconds of a year, in the mean of 400."""
_END = (_LAST_RULED - 1970) * _YEAR * SECOND
"""Near the middle of the last winter that is written down, in microseconds."""


class UnknownZoneError(Exception):
    """This machine has no such time zone."""


def read_zone(report: Report, value: Value) -> str:
    """Read the name of a time zone that this machine knows; any name where it knows none."""
    name = report.text(value, _PLACE, what="the name of a time zone", mend=_ZONE)
    if name == "UTC" or not isinstance(value, str):
        return name
    if name in _OF_THE_MACHINE or name.startswith(_COPIES):
        what = f"`{shown(name)}` is not the same zone on every machine"
        report.fault("time-zone", what, "write the name of the zone itself, as `Europe/Zurich`", _PLACE)
        return name
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        known = zoneinfo.available_timezones()
        if known and name not in known:
            report.fault("time-zone", f"there is no time zone `{shown(name)}`", zone_mend(report, name), _PLACE)
    return name


def zone_mend(report: Report, name: str) -> str:
    """What to write in the place of a zone that does not exist: a zone of its abbreviation, else a name like it."""
    return zones_of(name) or report.suggest(name, sorted(zoneinfo.available_timezones()), _ZONE)


def zones_of(abbreviation: str) -> str:
    """Say which zones have clocks that show `CEST` or the like; nothing where none has."""
    known = sorted(zoneinfo.available_timezones())
    found = [each for each in known if "/" in each and abbreviation in _abbreviations(each)]
    if not found:
        return ""
    regions = Counter(each.partition("/")[0] for each in found)
    found.sort(key=lambda each: (-regions[each.partition("/")[0]], each))
    others = f" ({len(found) - _SHOWN} others)" if len(found) > _SHOWN else ""
    return f"write a zone that has this abbreviation: {listed(found[:_SHOWN])}{others}"


def _abbreviations(zone: str) -> set[str | None]:
    """What a zone's clocks are called in winter and in summer."""
    clocks = zoneinfo.ZoneInfo(zone)
    return {datetime(_LAST_LISTED, month, 1, tzinfo=clocks).tzname() for month in (1, 7)}


def find_zone(report: Report, name: str) -> Zone | None:
    """Return the numbers of a time zone whose name was read; None, and a fault, where this machine has none."""
    try:
        return load_zone(name)
    except UnknownZoneError:
        what = f"this machine does not know when the clocks of `{shown(name)}` change, and windows depend on it"
        report.fault("time-zone", what, "install the Python package `tzdata`, or write `time_zone: UTC`", _PLACE)
        return None


@lru_cache(maxsize=8)
def load_zone(name: str) -> Zone:
    """Return a time zone; UTC needs no file. Raises UnknownZoneError."""
    if name == "UTC":
        return Zone(name)
    try:
        zoneinfo.ZoneInfo(name)  # also refuses names that lead out of the folder
        data = _read(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError, ImportError):
        raise UnknownZoneError from None
    return _zone(name, data)


def _read(name: str) -> bytes:
    for folder in zoneinfo.TZPATH:
        path = Path(folder, name)
        if path.is_file():
            return path.read_bytes()
    from importlib.resources import files  # noqa: PLC0415 - loads slowly, and few machines need it

    return files("tzdata.zoneinfo").joinpath(*name.split("/")).read_bytes()


def _zone(name: str, data: bytes) -> Zone:
    """The changes of a file's second block, which has 64-bit instants, and those of its rule."""
    head = ">4sc15x6l"
    size = struct.calcsize(head)
    magic, version, *counts = struct.unpack_from(head, data)
    if magic != b"TZif" or version < b"2":
        raise UnknownZoneError
    isut, isstd, leaps, times, types, letters = counts
    start = size + times * 5 + types * 6 + letters + leaps * 8 + isstd + isut
    _, _, isut, isstd, leaps, times, types, letters = struct.unpack_from(head, data, start)
    at = start + size
    instants = struct.unpack_from(f">{times}q", data, at)
    kinds = struct.unpack_from(f">{times}B", data, at + times * 8)
    at += times * 9
    offsets = [struct.unpack_from(">lBB", data, at + 6 * kind)[0] for kind in range(types)]
    at += types * 6 + letters + leaps * 12 + isstd + isut
    rule = data[at:].strip(b"\n").decode("ascii")
    changes = list(zip(instants, (offsets[kind] for kind in kinds), strict=True))
    last = changes[-1][0] if changes else -(2**40)
    # What a file lists ends in 2037 (`zic -b fat`), or where its rule begins (`zic -b slim`): there the rule goes on.
    first_year = max(_FIRST_RULED, last // _YEAR + _FIRST_RULED - 1)
    changes.extend(change for change in rule_changes(rule, first_year, _LAST_RULED) if change[0] > last)
    return _numbers(name, offsets[0], changes)


def _numbers(name: str, first: int, changes: list[tuple[int, int]]) -> Zone:
    """Changes in seconds as a zone; what changes nothing is left out."""
    since, offset = [-(2**40) * SECOND], [first * SECOND]
    for instant, seconds in changes:
        if seconds * SECOND != offset[-1]:
            since.append(instant * SECOND)
            offset.append(seconds * SECOND)
    repeat = (_END, _CYCLE) if since[-1] > _END - _CYCLE else None
    return Zone(name, tuple(since), tuple(offset), repeat)
