"""What stands in the place of a module: of the standard library, or of the product's that reads /proc."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.storms.kernel import Kernel, Process


class Stand:
    """In the place of a module: what it does not say itself are names of numbers, and what needs no system."""

    real: Any

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.real, name)
        assert name.isupper() or name in {"strerror", "fsencode", "waitstatus_to_exitcode", "valid_signals"}, name
        setattr(self, name, found)
        return found


class Processes:
    """In the place of `fairhold.agent.processes`, which reads /proc."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def boot_id(self) -> str:
        host = self.kernel.enter().host
        return f"{host.name} {host.boot}"

    def started_at(self, pid: int) -> int:
        found = self.kernel.enter().host.processes.get(pid)
        return found.started if found else 0

    def lives(self, pid: int, started: int) -> bool:
        return self.started_at(pid) == started

    def survey(self) -> Iterator[Seen]:
        return iter([Seen(process) for process in self.kernel.enter().host.processes.values()])

    def has_variable(self, pid: int, variable: bytes) -> bool:
        found = self.kernel.enter().host.processes.get(pid)
        return found is not None and found.mark == variable

    def below(self, root: int) -> dict[int, int]:
        found = self.kernel.enter().host.processes.get(root)
        return {each.pid: each.started for each in found.below()} if found else {}

    def stopped(self, _family: dict[int, int]) -> dict[int, int]:
        return {}

    def send(self, pid: int, started: int, number: int) -> None:
        found = self.kernel.enter().host.processes.get(pid)
        if found is not None and found.started == started:
            found.signal(number)

    def send_all(self, family: dict[int, int], number: int) -> None:
        for pid, started in family.items():
            self.send(pid, started, number)


class Seen:
    """What /proc tells of a process."""

    def __init__(self, process: Process) -> None:
        self.pid, self.session, self.started, self.group = process.pid, process.session, process.started, process.pid
        self.parent = process.parent.pid if process.parent else 1
