"""Hosts of resource groups, and the machines behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.vectors import total
from fairhold.ledger import transitions
from fairhold.ledger.vectors import POOLED
from fairhold.model.siting import label_set

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from fairhold.kernels.vectors import Vector
    from fairhold.model.plan import Host
    from fairhold.model.vector import Resource
    from fairhold.orchestrator.cluster import Cluster


class HostRecord:
    """A host of a resource group.

    slots   : that it has; the books know fewer while it may start nothing
    is_up   : as its group's inventory says
    planned : slots that the plan gives it; None where it is none of the plan's
    """

    __slots__ = ("is_up", "planned", "row", "slots")

    def __init__(self, row: int, slots: int, planned: int | None = None) -> None:
        self.row = row
        self.slots = slots
        self.is_up = True
        self.planned = planned


class MachineRecord:
    """A machine on which attempts run.

    boot     : identity of its start; spool: of its agent's memory
    labels   : that its agent says of it
    is_silent : its agent is not connected; is_gone: for so long that nothing of it runs any more
    silent_at : since when, 0 = it is connected, or not known
    shut     : why it is closed, None = it is open
    refusals : attempts that it could not start, in a row
    pauses   : how often in a row it was closed because it could not start anything
    try_at   : instant at which it is opened again after such a pause, 0 = only an operator opens it
    drains   : while it is closed, attempts that hold units there have to leave
    """

    __slots__ = (
        *("boot", "drains", "is_gone", "is_silent", "labels", "pauses", "refusals"),
        *("shut", "silent_at", "spool", "try_at"),
    )

    def __init__(self) -> None:
        self.boot = self.spool = ""
        self.labels: tuple[str, ...] = ()
        self.is_silent = self.is_gone = self.drains = False
        self.shut: str | None = None
        self.refusals = self.pauses = self.try_at = self.silent_at = 0

    @property
    def is_unseen(self) -> bool:
        """Whether its agent has never been connected."""
        return self.is_silent and not self.boot


def label_machine(cluster: Cluster, name: str, labels: tuple[str, ...]) -> None:
    """A machine's agent says which labels it has: its hosts have them beside those of the plan, which come first."""
    machine = cluster.machine(name)
    if machine.labels == labels:
        return
    machine.labels = labels
    label_hosts(cluster, {name: machine})


def label_hosts(cluster: Cluster, machines: Mapping[str, MachineRecord]) -> None:
    """The hosts of machines have what their agents say of them beside the labels of the plan."""
    mine = {host: machine for name, machine in machines.items() for host in cluster.hosts_of(name)}
    for group, books in cluster.books.items():
        planned = {each.name: each.labels for each in books.rows.group.hosts if each.name in mine}
        for host, machine in mine.items():
            if (record := cluster.hosts.get((group, host))) is None:
                continue
            said = {label.partition("=")[0]: label.partition("=")[2] for label in machine.labels}
            transitions.label_host(books, record.row, label_set(said | dict(planned.get(host, ()))))
            if books.vectors is not None:
                books.vectors.touch_hosts()


def restore_hosts(
    cluster: Cluster, hosts: Iterable[tuple[str, str, int, bool, int | None]], used: Collection[tuple[str, str]]
) -> None:
    """Hosts of a cluster go on as they were under a plan before, as far as this one says nothing else of them.

    hosts : resource group, name, slots, whether it is up, slots that the plan then gave it
    used  : resource groups and names of those that hold units; the others go where the plan has taken them out
    """
    for group, name, slots, is_up, planned in hosts:
        host = cluster.hosts.get((group, name))
        if host is not None:
            host.is_up = is_up
            if host.planned == planned:
                host.slots = slots
        elif group in cluster.books and ((not planned and (planned is None or slots)) or (group, name) in used):
            host = cluster.add_host(group, name, 0 if planned else slots)
            host.is_up, host.planned = is_up, None if planned is None else 0
    for group in cluster.books:
        cluster.count_slots(group)


def is_down(cluster: Cluster, name: str) -> bool:
    """Whether a host is down: its inventory says so, its lease has run out, or it was never seen (R-UP-1, R-LIVE-2)."""
    machine = cluster.machines.get(cluster.machine_of(name))
    return not cluster.hosts[POOLED, name].is_up or (machine is not None and (machine.is_gone or machine.is_unseen))


def was_never_seen(cluster: Cluster, group: str, name: str) -> bool:
    """Whether a host is not up as its agent has never been connected, and for no other reason."""
    machine = cluster.machines.get(cluster.machine_of(name))
    return machine is not None and machine.is_unseen and cluster.hosts[group, name].is_up


def whole_host(host: Host, resources: Sequence[Resource]) -> Vector:
    """What may be used of a host of vectors that is up."""
    return tuple(int(amount * each.overcommit) for amount, each in zip(host.amounts, resources, strict=True))


def what_there_is(cluster: Cluster, host: Host, resources: Sequence[Resource]) -> Vector:
    """The amounts of a host of vectors that count: all that it has if it is up, else what is booked on it (R-UP-1)."""
    if (POOLED, host.name) not in cluster.hosts:
        return (0,) * len(resources)
    if cluster.is_open(POOLED, host.name):
        return whole_host(host, resources)
    vectors = cluster.books[POOLED].vectors
    assert vectors is not None
    units = (vectors.unit(each.job.terms.unit) for each in cluster.on_host.get((POOLED, host.name), {}).values())
    return total((unit for unit in units if unit is not None), len(resources))
