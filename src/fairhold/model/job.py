"""A job: real work of one leaf."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Job:
    """`count` tasks of one command; each task runs on one slot.

    consumer    : row of the leaf
    argv        : the command, run without a shell; `{index}` stands for the task's number, from 0
    submit      : microseconds after the start of the run
    priority    : inside the leaf, larger first
    directory   : working directory, empty = the job file's
    environment : variables added to the caller's
    """

    name: str
    consumer: int
    resource_group: str
    argv: tuple[str, ...]
    count: int = 1
    submit: int = 0
    priority: int = 0
    directory: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
