"""Names that are not there: which one was meant."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from fairhold.client import steps
from fairhold.client.errors import Refused
from fairhold.errors import Fault, printable

if TYPE_CHECKING:
    from fairhold.cli.live.connection import Connection

_ABOUT_CONSUMERS = frozenset({"not-a-leaf", "unknown-consumer"})
_MOST_LEAVES = 5
_MOST_JOBS = 1000
"""The latest of which a name is looked for."""


def better(connection: Connection, error: Refused, path: str) -> Refused:
    """A refusal of a consumer with the one that was meant; any other as it is."""
    if error.code not in _ABOUT_CONSUMERS:
        return error
    return _refusal(path, leaves_and_branches(connection), error.status) or error


def unknown_consumer(connection: Connection, path: str) -> Refused | None:
    """What is wrong with a path of a consumer, which may be a branch; None where nothing is."""
    leaves, branches = leaves_and_branches(connection)
    return None if path in branches else _refusal(path, (leaves, branches), 404)


def unknown_job(connection: Connection, name: str) -> Refused | None:
    """A name that is not a path may be meant for a job, which goes by its number; None where no job has one like it."""
    if name.startswith("/"):
        return None
    numbers = {row["name"]: row["job"] for row in connection.run(steps.jobs({}, _MOST_JOBS))["jobs"] if row["name"]}
    close = name if name in numbers else next(iter(get_close_matches(name, numbers, n=1)), "")
    if not close:
        return None
    what = f"there is no consumer `{printable(name)}`, and jobs are named by their numbers"
    mend = f"did you mean {numbers[close]}, the job `{printable(close)}`?"
    return Refused([Fault("unknown-consumer", what, mend)], 404)


def leaves_and_branches(connection: Connection) -> tuple[list[str], list[str]]:
    """Paths of the consumers of all resource groups."""
    groups = connection.run(steps.consumers())["resource_groups"].values()
    kinds = {row["path"]: row["leaf"] for found in groups for row in found["consumers"]}
    return [path for path, is_leaf in kinds.items() if is_leaf], [
        path for path, is_leaf in kinds.items() if not is_leaf
    ]


def _refusal(path: str, known: tuple[list[str], list[str]], status: int) -> Refused | None:
    leaves, branches = known
    if path in leaves:
        return None
    if path in branches or path == "/":
        below = [leaf for leaf in leaves if leaf.startswith(path.rstrip("/") + "/")]
        what = f"`{printable(path)}` is not a leaf, and only leaves have jobs"
        return Refused([Fault("not-a-leaf", what, f"name one below it: {_names(below)}")], status)
    close = meant(path, [*leaves, *branches])
    mend = f"leaves are {_names(leaves)}" if leaves else "you see no leaves: `fairhold whoami` shows what you may do"
    mend = f"did you mean `{printable(close)}`?" if close else mend
    return Refused([Fault("unknown-consumer", f"there is no consumer `{printable(path)}`", mend)], status)


def _names(paths: list[str]) -> str:
    more = len(paths) - _MOST_LEAVES
    return ", ".join(map(printable, paths[:_MOST_LEAVES])) + (f" and {more} more" if more > 0 else "")


def meant(path: str, paths: list[str]) -> str:
    """The path that was probably meant; empty where none is near."""
    whole = "/" + path.strip("/")
    if whole in paths:
        return whole
    same_end = [each for each in paths if each.lower().endswith(whole.lower())]
    if len(same_end) == 1:
        return same_end[0]
    return next(iter(get_close_matches(whole, paths, n=1)), "")
