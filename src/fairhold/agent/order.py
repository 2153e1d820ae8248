"""The order to run an attempt: the message `start`, checked, as the supervisor uses it."""

from __future__ import annotations

import binascii
import os

from fairhold.agent.devices import with_devices

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

PLAIN_WEIGHT = 100
_HIGHEST_SIGNAL = 64
_TEXTS = ("token", "directory", "stdin", "output", "job_directory", "reclaim_file", "user", "account")


class Order:
    """One attempt to run.

    argv          : the command, at least one word
    environment   : all its variables
    stdin         : what it reads
    output        : file for what it prints; absolute, as all names here
    job_directory : kept from attempt to attempt of its task, empty = none
    reclaim_file  : tells it why and by when it will be stopped
    time_limit    : seconds, 0 = any time; lead : seconds before a deadline at which it gets `signal`, 0 = at once
    memory        : bytes, 0 = no limit
    cpu           : thousandths of a core, 0 = no limit
    devices       : numbers of the GPUs that it may use on this host; None = GPUs have no numbers here
    output_limit  : bytes of its output that are kept, 0 = all
    keep_empty    : keep its output file even if it has printed nothing
    weight        : its weight for processor time when processors are short, 100 = as every other program
    user          : who submitted it, empty = the service does not say; account : as the service knows the account of
                    that user to be called on hosts, empty = it does not
    """

    __slots__ = (
        "account",
        "argv",
        "attempt",
        "cpu",
        "devices",
        "directory",
        "environment",
        "job_directory",
        "keep_empty",
        "lead",
        "memory",
        "number",
        "output",
        "output_limit",
        "reclaim_file",
        "signal",
        "stdin",
        "time_limit",
        "token",
        "user",
        "weight",
    )

    def __init__(self, message: Mapping[str, Any], directory: str) -> None:
        """From a message `start`; its files are below `directory`. Raises ValueError where it cannot be carried out."""
        for name in _TEXTS:
            if not isinstance(message.get(name, ""), str):
                raise ValueError(f"{name} is not a string")  # noqa: TRY004 - the value of a message, not a caller's mistake
        self.attempt: int = _whole(message, "attempt", 1)
        self.token: str = message["token"] if message.get("token") else _missing("token")
        self.argv = _words(message.get("argv"))
        environment = message.get("environment") or {}
        if not isinstance(environment, dict) or not all(isinstance(value, str) for value in environment.values()):
            raise ValueError("environment is not an object of strings")
        self.directory: str = message.get("directory") or "/"
        try:
            self.stdin = binascii.a2b_base64(message.get("stdin") or "", strict_mode=True)
        except ValueError as error:
            raise ValueError("stdin is not base64") from error
        self.output = _below(directory, message, "output")
        self.job_directory = _below(directory, message, "job_directory") if message.get("job_directory") else ""
        self.reclaim_file = _below(directory, message, "reclaim_file")
        self.time_limit = _seconds(message, "time_limit")
        self.lead = _seconds(message, "lead")
        self.memory = _whole(message, "memory", 0)
        self.cpu = _whole(message, "cpu", 0)
        self.devices = _devices(message)
        self.output_limit = _whole(message, "output_limit", 0)
        self.keep_empty = message.get("keep_empty") is True
        self.signal = _whole(message, "signal", 1, 15)
        if self.signal > _HIGHEST_SIGNAL:
            raise ValueError("signal is not a valid signal")
        self.weight = _whole(message, "weight", 1, PLAIN_WEIGHT)
        self.user: str = message.get("user", "")
        self.account: str = message.get("account", "")
        number = environment.get("FAIRHOLD_ATTEMPT", "")
        self.number = int(number) if number.isdecimal() else self.attempt
        self.environment: dict[str, str] = {
            **with_devices(environment, self.devices),
            "FAIRHOLD_MARK": self.token,
            "FAIRHOLD_RECLAIM_FILE": self.reclaim_file,
        }
        if self.job_directory:
            self.environment["FAIRHOLD_JOB_DIRECTORY"] = self.job_directory


def _words(argv: object) -> list[str]:
    if not isinstance(argv, list) or not argv or not all(isinstance(word, str) for word in argv):
        raise ValueError("argv is not a list of strings")
    return argv


def _below(directory: str, message: Mapping[str, Any], name: str) -> str:
    relative: str = message.get(name) or _missing(name)
    if relative.startswith("/") or "\0" in relative or ".." in relative.split("/"):
        raise ValueError(f"{name} is not below the agent's directory")
    return os.path.join(directory, relative)  # noqa: PTH118 - pathlib would be half of the agent's start


def _whole(message: Mapping[str, Any], name: str, least: int, default: int | None = None) -> int:
    value = message.get(name)
    if value is None:
        value = least if default is None else default
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} is not a whole number from {least}")
    return value


def _devices(message: Mapping[str, Any]) -> tuple[int, ...] | None:
    """An order of a service that knows nothing of GPUs has none to hand out."""
    value = message.get("devices")
    if value is None:
        return None
    if not isinstance(value, list) or not all(type(each) is int and each >= 0 for each in value):
        raise ValueError("devices is not a list of whole numbers from 0")
    if len(set(value)) < len(value):
        raise ValueError("devices lists a number twice")
    return tuple(value)


def _seconds(message: Mapping[str, Any], name: str) -> float:
    value = message.get(name) or 0
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < float("inf"):
        raise ValueError(f"{name} is not a number of seconds")
    return float(value)


def _missing(name: str) -> str:
    raise ValueError(f"{name} is missing")
