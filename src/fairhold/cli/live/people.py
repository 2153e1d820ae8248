"""What the commands on people ask for and print."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from fairhold.cli.live.connection import connect
from fairhold.cli.live.plans import OfFile, warn_of
from fairhold.cli.live.printing import clock, fitted, pairs, say, say_json, show
from fairhold.client import people
from fairhold.planio.document import read_text
from fairhold.runtime.outlet import tell

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from fairhold.cli.live.connection import Connection
    from fairhold.client.exchange import Document, Value

_TOKENS = ("token", "user", "name", "state", "created", "expires", "used", "creator")
_RECORDS = ("number", "at", "user", "action", "target", "outcome", "from", "via")
_WAIT = 20.0
_PAGE = 1_000


def show_me(service: str, *, as_json: bool) -> None:
    """`whoami`: who asks, and what he may do."""
    show(connect(service).run(people.me()), _me, as_json=as_json)


def _me(found: Document) -> str:
    lines = [
        pairs(
            {
                "user": found["user"],
                "known by": found["via"],
                "until": clock(found["expires"]) if found["expires"] else None,
                "groups": ", ".join(found["groups"]) or None,
                "sees of others": found["others"],
                "limits": ", ".join(f"{name} {value}" for name, value in found["limits"].items() if value) or None,
            }
        )
    ]
    if found["administrator"]:
        return "\n".join([*lines, "the service's own administrator: may do everything"])
    rows = [(each["role"], each["at"], None if each["live"] else "not in the plan") for each in found["roles"]]
    held = [(name, ", ".join(paths)) for name, paths in found["permissions"].items()]
    if not rows:
        return "\n".join([*lines, "no role: may do nothing"])
    return "\n".join([*lines, "", fitted(("role", "at", "note"), rows), "", fitted(("permission", "for"), held)])


def create_token(service: str, user: str | None, name: str, expires: str | None, *, as_json: bool) -> None:
    """`token create`: the token alone to standard output, so that it can be put somewhere."""
    found = connect(service).run(people.create_token(user, name, expires))
    if as_json:
        say_json(found)
        return
    say(found["text"])
    until = f"until {clock(found['expires'])}" if found["expires"] else "until it is revoked"
    tell(f"token {found['token']} of {found['user']}, good {until}; it is shown this once")


def list_tokens(service: str, user: str | None, *, as_json: bool) -> None:
    """`token list`."""
    show(connect(service).run(people.tokens(user)), _tokens, as_json=as_json)


def _tokens(found: Document) -> str:
    instants = ("created", "expires", "used")
    rows = [[clock(row[key]) if key in instants else row[key] or None for key in _TOKENS] for row in found["tokens"]]
    return fitted(_TOKENS, rows, ("creator", "created"))


def revoke_token(service: str, token: int, *, as_json: bool) -> None:
    """`token revoke`."""
    found = connect(service).run(people.revoke_token(token))
    show(found, lambda each: f"token {each['token']} of {each['user']} counts no more", as_json=as_json)


def show_access(service: str, version: int | None, *, as_json: bool) -> None:
    """`access show`: the text of the document in force, or of a version."""
    found = connect(service).run(people.access(version))
    if as_json:
        say_json(found)
        return
    warn_of(found["warnings"], "")
    text = found["text"]
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")


def list_access(service: str, *, as_json: bool) -> None:
    """`access versions`: who changed the document, when and why."""
    head = ("version", "at", "author", "comment")
    show(
        connect(service).run(people.access_versions()),
        lambda found: fitted(
            head,
            [(row["version"], clock(row["at"]), row["author"], row["comment"] or None) for row in found["versions"]],
        ),
        as_json=as_json,
    )


def apply_access(service: str, path: Path, comment: str, seen: int | None, *, is_dry: bool, as_json: bool) -> None:
    """`access apply` and `access diff`: what changes, and whether it did."""
    asked = people.apply_access(read_text(path), comment, seen, is_dry=is_dry)
    found = OfFile(path).run(service, asked)
    if as_json:
        say_json(found)
        return
    warn_of(found["warnings"], str(path))
    for change in found["changes"]:
        say(_changed(change))
    if not found["changes"]:
        say("both say the same")
    number = found["version"]
    state = f"access document {number} is in force" if number else "there is no access document"
    say(f"nothing was changed; {state}" if is_dry else state)


def _changed(change: Document) -> str:
    old, new = change["old"], change["new"]
    if new is None:
        return f"- {change['place']}" + ("" if old is True else f": {_said(old)}")
    if old is None:
        return f"+ {change['place']}" + ("" if new is True else f": {_said(new)}")
    return f"  {change['place']}: {_said(old)} → {_said(new)}"


def _said(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def show_audit(
    service: str, query: Mapping[str, Value], limit: int, *, everything: bool, follow: bool, as_json: bool
) -> None:
    """`audit`: the last records, or all; follow: and those that come."""
    connection = connect(service)
    after = _all(connection, query, as_json=as_json) if everything else None
    if after is None:
        found = connection.run(people.audit({**query, "limit": limit}))
        if not (found["records"] or follow or as_json):
            say("no records are as you asked")
            return
        _print(found["records"], as_json=as_json, with_head=True)
        after = connection.run(people.audit({"limit": 1}))["next"] if follow else 0
        if found["records"]:
            after = max(after, found["records"][-1]["seq"])
    while follow:
        found = connection.run(people.audit({**query, "after": after, "limit": _PAGE}, _WAIT))
        _print(found["records"], as_json=as_json, with_head=False)
        after = found["next"]


def _all(connection: Connection, query: Mapping[str, Value], *, as_json: bool) -> int:
    """Print all records; the number of the last one."""
    after, is_first = 0, True
    while True:
        found = connection.run(people.audit({**query, "after": after, "limit": _PAGE}))
        if not found["records"] and not is_first:
            return after
        _print(found["records"], as_json=as_json, with_head=is_first)
        is_first, after = False, int(found["next"])
        if len(found["records"]) < _PAGE:
            return after


def _print(records: list[Document], *, as_json: bool, with_head: bool) -> None:
    if as_json:
        for record in records:
            sys.stdout.write(json.dumps(record) + "\n")
        sys.stdout.flush()
        return
    rows = [
        (
            *(row["seq"], clock(row["at"]), row["user"] or "?", row["action"] or "-", _target(row)),
            *(row["outcome"], row["origin"], row["via"] or None),
        )
        for row in records
    ]
    if rows or with_head:
        text = fitted(_RECORDS, rows, ("via", "from"))
        say(text if with_head else text.partition("\n")[2])


def _target(record: Document) -> str | None:
    """What a record is about, with what else it says."""
    detail = record["detail"]
    told = [record["target"], *(f"{name}: {_said(value)}" for name, value in detail.items())]
    return ", ".join(filter(None, told)) or None


def check_audit(service: str, seen: str, *, as_json: bool) -> int:
    """`audit check`: whether the chain is whole; the exit code."""
    found = connect(service).run(people.check_audit(seen))
    if as_json:
        say_json(found)
    elif found["good"]:
        say(f"{found['records']} records, {found['first']} to {found['last']}: each follows from the one before")
        say(f"keep this elsewhere for `--seen`: {found['last']}:{found['hash']}")
    else:
        say(f"{found['broken']}; up to record {found['last']} all is as it was written")
    return 0 if found["good"] else 1
