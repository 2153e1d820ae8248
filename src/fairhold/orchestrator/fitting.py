"""Checks that some host of a group could ever run a task: its labels and its slots (R-SITE-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.errors import Fault, InputError, count
from fairhold.model.siting import ANYWHERE, PACK, words_of

if TYPE_CHECKING:
    from fairhold.ledger.books import Books
    from fairhold.model.siting import Siting

_MEND = "ask for labels that hosts have, for fewer slots, or label a host in the plan"


def check_hosts(books: Books, units: int, siting: Siting) -> None:
    """Refuse a task that no host of the group, up or down, could run; names the nearest host and what it lacks.

    Raises InputError `never-fits`.
    """
    if siting == ANYWHERE or not books.hosts.name:
        return
    hosts, labels = books.hosts, books.hosts.labels
    will_do = [host for host in range(len(hosts.name)) if siting.fits(labels.get(host, frozenset()))]
    sizes = [_slots(books, host) for host in will_do]
    if not will_do and not any(hosts.name):
        what = f"there is no host {words_of(siting)}: `{books.rows.group.name}` is a number of slots, without hosts"
        raise _never(what, "leave out the labels, or list hosts with labels in the plan")
    if not will_do:
        near = min(range(len(hosts.name)), key=lambda host: (len(_wrong(books, host, siting)), host))
        wrong = " and ".join(_wrong(books, near, siting))
        raise _never(f"there is no host {words_of(siting)}: the nearest, {_name(books, near)}, {wrong}")
    if siting.place == PACK and units > max(sizes):
        near = will_do[sizes.index(max(sizes))]
        what = f"no host has {count(units, 'slot')} for it at once: the nearest, {_name(books, near)}, has {max(sizes)}"
        raise _never(what + (f", of those {words_of(siting)}" if siting.need or siting.avoid else ""))
    if units > sum(sizes):
        what = f"the hosts {words_of(siting)} have {sum(sizes)} {'slot' if sum(sizes) == 1 else 'slots'} together"
        raise _never(f"{what}, and a task needs {units} at once")


def _wrong(books: Books, host: int, siting: Siting) -> list[str]:
    """What is wrong with a host, one entry a label."""
    return unlike(books.hosts.labels.get(host, frozenset()), siting)


def unlike(labels: frozenset[str], siting: Siting) -> list[str]:
    """What is wrong with a host of these labels, in words, one entry a label."""
    lacks = [f"lacks {label}" for label in siting.need if label not in labels]
    return lacks + [f"has {label}" for label in siting.avoid if label in labels]


def _slots(books: Books, host: int) -> int:
    """Slots of a host by the plan; a closed one shows fewer in the books."""
    planned = {machine.name: machine.slots for machine in books.rows.group.hosts}
    return max(books.hosts.slots[host], planned.get(books.hosts.name[host], 0))


def _name(books: Books, host: int) -> str:
    return f"`{books.hosts.name[host]}`" if books.hosts.name[host] else "the only one"


def _never(what: str, mend: str = _MEND) -> InputError:
    return InputError([Fault("never-fits", f"a task can never start: {what}", mend)])
