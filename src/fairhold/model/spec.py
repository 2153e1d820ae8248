"""What a job runs: the part of it that no decision depends on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

TERM = 15


@dataclass(frozen=True, slots=True)
class Spec:
    """How every task of a job is started and stopped.

    consumer    : path of the leaf at the submission
    argv        : the command, run without a shell; `{index}` stands for the task's number, from 0
    environment : the whole environment, apart from the variables that the agent adds
    directory   : working directory, absolute
    stdin       : what the task reads from its standard input
    time_limit  : microseconds that an attempt may run, 0 = any time
    memory      : bytes that an attempt may use, 0 = as much as there is
    notice      : number of the signal that tells of a reclaim or another stop
    lead        : microseconds before the deadline at which that signal is sent, 0 = at once with the notice
    user        : who submitted it
    account     : as the user's account on hosts is called where who knows him says so, empty = as the user
    """

    consumer: str
    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    directory: str = "/"
    stdin: bytes = b""
    time_limit: int = 0
    memory: int = 0
    notice: int = TERM
    lead: int = 0
    user: str = ""
    account: str = ""
    name: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
