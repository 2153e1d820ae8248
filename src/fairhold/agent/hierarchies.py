"""Where the agent may make control groups: in version 2, alone or beside version 1 ("hybrid"), else in version 1.

Version 1 has many hierarchies, each with a group of its own for every process. One of them is enough.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

VERSION_2 = "2"
_BEST = (VERSION_2, "memory", "freezer", "pids", "cpu")
"""Version 2 kills a group at once. Of version 1: memory limits, freezer and pids stop what forks; named ones last."""


def own_groups(only: str = "") -> Iterator[str]:
    """Directories of the groups that this process is in, the best to make others below in front; some may not be there.

    only : one hierarchy and no other: `2`, a controller of version 1, or `name=` and the name of one
    """
    try:
        with open("/proc/self/cgroup", encoding="utf-8") as file:  # noqa: PTH123
            own = {
                name or VERSION_2: path
                for _, names, path in (line.rstrip("\n").split(":", 2) for line in file)
                for name in names.split(",")
            }
        with open("/proc/self/mountinfo", encoding="utf-8") as file:  # noqa: PTH123
            mounts = [line.split() for line in file]
    except OSError:
        return
    named = sorted(name for name in own if name.startswith("name="))
    for name in (*_BEST, *named):
        for words in mounts:
            if name in own and only in {"", name} and name in _hierarchies_of(words):
                root, place = words[3], words[4]
                inner = own[name] if root == "/" else own[name].removeprefix(root)
                yield f"{place}{inner.rstrip('/')}"


def _hierarchies_of(words: list[str]) -> list[str]:
    """What a line of mountinfo mounts; the controllers of version 1 are options of the file system."""
    kind, _, options = words[words.index("-") + 1 :][:3]
    return [VERSION_2] if kind == "cgroup2" else options.split(",") if kind == "cgroup" else []
