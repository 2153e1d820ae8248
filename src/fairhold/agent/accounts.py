"""As whom the commands of attempts run: as the agent, or as the account of who submitted them (docs/how-to/run-as.md).

An account is looked up in the supervisor of the attempt: the system may ask a directory service, which may take long.
"""

from __future__ import annotations

import os
import pwd
import resource
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LEAST_UID = 1000
"""The lowest uid of people on most systems; below it are root and the system's own accounts."""
_LARGEST_MAP = 16 * 1024 * 1024
_UNLIMITED = "unlimited"


class AccountError(Exception):
    """Nothing can run for this submitter on this host; the message says why."""


class Account:
    """An account of this host.

    name   : of the account; uid, gid : its numbers
    groups : numbers of all its groups
    home, shell : as the system has them
    """

    __slots__ = ("gid", "groups", "home", "name", "shell", "uid")

    def __init__(self, found: pwd.struct_passwd) -> None:
        self.name, self.uid, self.gid = found.pw_name, found.pw_uid, found.pw_gid
        self.groups = os.getgrouplist(self.name, self.gid)
        self.home, self.shell = found.pw_dir, found.pw_shell or "/bin/sh"

    @contextmanager
    def acting(self) -> Iterator[None]:
        """Touch files with the rights of the account and no others; this process stays root and has one thread."""
        before = os.getgroups(), os.getegid(), os.geteuid()
        os.setgroups(self.groups)
        os.setegid(self.gid)
        os.seteuid(self.uid)
        try:
            yield
        finally:
            os.seteuid(before[2])
            os.setegid(before[1])
            os.setgroups(before[0])

    def become(self) -> None:
        """Be this account for good, with nothing left of root. Raises OSError."""
        os.setgroups(self.groups)
        os.setresgid(self.gid, self.gid, self.gid)
        os.setresuid(self.uid, self.uid, self.uid)

    def variables(self) -> dict[str, str]:
        """What the environment says of the account."""
        return {"USER": self.name, "LOGNAME": self.name, "HOME": self.home, "SHELL": self.shell}


class Accounts:
    """Finds the account of a submitter.

    least_uid : no account below it runs anything, and root never does
    names     : file that says which submitter has which account, empty = there is none
    limits    : of what runs: name of a limit as in `ulimit` → (soft, hard)
    """

    def __init__(self, least_uid: int, names: str, limits: Mapping[str, tuple[int, int]]) -> None:
        self._least = max(1, least_uid)
        self._names = names
        self._limits = {_number_of(name): pair for name, pair in limits.items()}

    def of(self, user: str, known_as: str = "") -> Account:
        """The account of a submitter. Raises AccountError.

        known_as : what the service knows the account to be called, empty = it does not say
        """
        name = (read_names(self._names).get(user) if self._names else None) or known_as or user
        if not name:
            raise AccountError("the job does not say whose it is")
        shown = repr(name[:100])
        try:
            found = pwd.getpwnam(name)
        except (KeyError, ValueError):
            raise AccountError(f"this host has no account {shown}") from None
        if found.pw_uid == 0:
            raise AccountError(f"the account {shown} is root, which runs nothing for anybody")
        if found.pw_uid < self._least:
            why = f"its uid {found.pw_uid} is below {self._least}"
            raise AccountError(f"the account {shown} is one of the system's, which run nothing for anybody: {why}")
        return Account(found)

    def limit(self) -> None:
        """Give this process, which is root, the limits of what runs. Raises OSError, ValueError."""
        for number, pair in self._limits.items():
            resource.setrlimit(number, pair)


def check_host(directory: str, *, is_own: bool) -> None:
    """Let the accounts of a host reach the folders of their jobs, and nothing else of the agent's directory.

    is_own : whether this is the agent of the service's own machine, which shares its directory with the service

    Raises ValueError where this process cannot run anything as another, or they cannot reach them; OSError.
    """
    if os.geteuid():
        raise ValueError("--run-as submitter needs an agent that is root")
    if is_own:
        raise ValueError(
            "--run-as submitter needs a directory that the agent does not share with the service: use --connect tcp: "
            "and a --directory of its own"
        )
    jobs = f"{directory}/jobs"
    os.makedirs(jobs, exist_ok=True)  # noqa: PTH103
    for place in (directory, jobs):
        os.chmod(place, 0o711)  # noqa: PTH101, S103 - to be passed through, not read
    above = directory
    while above != "/":
        above = os.path.dirname(above)  # noqa: PTH120
        if not os.stat(above).st_mode & 0o001:  # noqa: PTH116
            raise ValueError(f"other users cannot reach {jobs}, because of {above}; run: chmod o+x {above}")


def read_names(path: str) -> dict[str, str]:
    """Submitter → account, as a file says it: two words a line, `#` begins a comment. Raises AccountError."""
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            if os.fstat(file.fileno()).st_mode & 0o022:
                raise AccountError(f"{path} can be written by others; run: chmod go-w {path}")
            lines = file.read(_LARGEST_MAP).splitlines()
    except (OSError, UnicodeError) as error:
        raise AccountError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    found: dict[str, str] = {}
    for at, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if len(words) not in {0, 2}:
            raise AccountError(f"{path}, line {at}: write a submitter and an account")
        if words:
            if words[0] in found:
                raise AccountError(f"{path}, line {at}: {words[0]} has an account already")
            found[words[0]] = words[1]
    return found


def read_limit(text: str) -> tuple[str, tuple[int, int]]:
    """A limit as `NAME=SOFT` or `NAME=SOFT:HARD`. Raises ValueError."""
    name, _, value = text.partition("=")
    _number_of(name)
    soft, colon, hard = value.partition(":")
    pair = tuple(_amount(text, each) for each in (soft, hard if colon else soft))
    if pair[1] != resource.RLIM_INFINITY and not 0 <= pair[0] <= pair[1]:
        raise ValueError(f"{text}: the soft limit is above the hard one")
    return name, (pair[0], pair[1])


def _number_of(name: str) -> int:
    """The number of a limit. Raises ValueError."""
    number = getattr(resource, f"RLIMIT_{name.upper()}", None) if name.islower() else None
    if number is None:
        raise ValueError(f"{name} is not a limit; limits are core, cpu, data, fsize, memlock, nofile, nproc, stack, as")
    return int(number)


def _amount(text: str, word: str) -> int:
    if word == _UNLIMITED:
        return resource.RLIM_INFINITY
    if not word.isdecimal():
        raise ValueError(f"{text}: write NAME=NUMBER, NAME=SOFT:HARD or `unlimited`")
    return int(word)
