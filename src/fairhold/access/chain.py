"""Records of what was done, each with the hash of all before it."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

START = "0" * 64
"""What stands for the hash of what is before the first record."""


class Record(NamedTuple):
    """What somebody did, or was refused.

    seq     : number, from 1, without a gap
    at      : instant
    user    : who; empty = it is not known who
    via     : by what he is known: `token 7`, `uid 1000`, `token file`; empty = by nothing
    origin  : address or Unix socket that it came from
    action  : `submit_job`, `apply_plan` and the like: the name of the route
    target  : what it was about: a job, a consumer, a host; empty = the cluster
    outcome : `done`, or the code of the fault
    detail  : JSON text of an object: what else there is to say
    before  : hash of the record before; hash : of this one and so of all
    """

    seq: int
    at: int
    user: str
    via: str
    origin: str
    action: str
    target: str
    outcome: str
    detail: str
    before: str
    hash: str


def hash_of(record: Record) -> str:
    """The hash that a record has to have."""
    text = json.dumps(record[:-1], separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def sealed(record: Record) -> Record:
    """A record with its hash."""
    return record._replace(hash=hash_of(record))


class Break(NamedTuple):
    """The first record that does not follow from those before it, and why; and how many were looked at."""

    seq: int
    why: str


def first_break(records: Iterable[Record], begin: tuple[int, str] = (0, START)) -> tuple[tuple[int, str], Break | None]:
    """Follow the chain; returns number and hash of the last good record, and where it breaks.

    begin : number and hash of the record before the first
    """
    seq, before = begin
    for record in records:
        if record.seq != seq + 1:
            return (seq, before), Break(seq + 1, f"record {seq + 1} is missing")
        if record.before != before:
            return (seq, before), Break(record.seq, f"record {record.seq} does not follow the record before it")
        if record.hash != hash_of(record):
            return (seq, before), Break(record.seq, f"record {record.seq} was changed")
        seq, before = record.seq, record.hash
    return (seq, before), None
