"""`State` → the document that `parse_state` reads back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.model.budget import counted
from fairhold.model.vector import amounts_document, number, parts_document
from fairhold.planio.siting import SITING_KEYS
from fairhold.planio.stateview import slot_groups
from fairhold.units import SECOND, format_instant

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from fairhold.model.plan import Plan
    from fairhold.model.state import Allocation, HeldUnits, Loan, Notice, Request, Shortage, State
    from fairhold.model.vector import OwnEntry, Parcel, Vector

Row = dict[str, Any]
"""One mapping of the document: strings, numbers and None."""


def state_document(plan: Plan, state: State) -> Row:
    """Return a state in its one canonical form: keys in the order of SPEC §11, counts by row, hosts by name.

    What is empty is left out, and so is every field that has its default. `json.dumps` of the document is a state file.
    """
    paths = plan.tree.paths
    several = len(slot_groups(plan)) > 1
    document: Row = {"fairhold_state": 1, "now": format_instant(state.now)}
    sections: Row = {
        "resource_groups": _sizes(plan, state),
        "demand": _counts(plan, state.demand, state.wanted),
        "allocated": _counts(plan, state.allocated, state.held_amounts),
        "requests": [_request(plan, request, several=several) for request in state.requests],
        "allocations": [_allocation(plan, held) for held in state.allocations],
        "reclaims": [_notice(plan, notice) for notice in state.notices],
        "held": [_held(held) for held in state.held],
        "ownership": [_parcel(plan, parcel) for parcel in state.ownership or ()],
        "own_entries": [_own_entry(plan, each) for each in state.own_entries],
        "adjusted": {
            name: {"at": format_instant(each.at), "of": each.of}
            for name in plan.resource_groups
            if (each := state.adjusted.get(name)) is not None
        },
        "borrowed": [_loan(paths, loan) for loan in state.borrowed],
        "shortages": [_shortage(paths, short) for short in state.shortages],
        "spent": _counts(plan, state.spent),
        "spent_resources": {
            paths[row]: parts_document(counted(plan.resources), amounts)
            for row, amounts in sorted(state.spent_amounts.items())
        },
        "usage": {paths[row]: _parts(plan, state.usage[row]) for row in sorted(state.usage)},
        "hosts_down": sorted(state.hosts_down - state.hosts_never_seen),
        "hosts_never_seen": sorted(state.hosts_down & state.hosts_never_seen),
        "hosts_closed": sorted(state.hosts_closed),
    }
    # That nobody owns anything is not the same as not knowing it.
    stated = {"ownership"} if state.ownership is not None else set()
    document.update((key, section) for key, section in sections.items() if section or key in stated)
    if state.previous_cycle is not None:
        document["previous_cycle"] = format_instant(state.previous_cycle)
    return document


def _sizes(plan: Plan, state: State) -> Row:
    """Resource group → slots or totals that it has now, where the state says so."""
    found: Row = {}
    for name in plan.resource_groups:
        if name in state.slots:
            found[name] = {"slots": state.slots[name]}
        elif name in state.capacity:
            found[name] = {"capacity": amounts_document(plan.resources, state.capacity[name])}
    return found


def _counts(
    plan: Plan, counts: Mapping[tuple[int, str], int], amounts: Mapping[tuple[int, str], Vector] | None = None
) -> Row:
    """Path → resource group → units or amounts, in the order of the rows and of the plan's groups."""
    place = {name: at for at, name in enumerate(plan.resource_groups)}
    said: dict[tuple[int, str], object] = dict(counts)
    said |= {key: amounts_document(plan.resources, each) for key, each in (amounts or {}).items()}
    section: Row = {}
    for row, name in sorted(said, key=lambda key: (key[0], place[key[1]])):
        section.setdefault(plan.tree.paths[row], {})[name] = said[row, name]
    return section


def _parts(plan: Plan, parts: tuple[Fraction, ...]) -> Row:
    """Resource → part of the capacity, of what is not 0."""
    return {each.name: number(part) for each, part in zip(plan.resources, parts, strict=True) if part}


def _request(plan: Plan, request: Request, *, several: bool) -> Row:
    row: Row = {"id": request.id, "consumer": plan.tree.paths[request.consumer]}
    if request.unit:
        row["unit"] = amounts_document(plan.resources, request.unit)
    elif several:
        row["resource_group"] = request.resource_group
    row["count"] = request.count
    optional = {"min_count": request.min_count, "priority": request.priority}
    row.update((key, number) for key, number in optional.items() if number)
    if request.submitted:
        row["submitted"] = format_instant(request.submitted)
    if request.user:
        row["user"] = request.user
    if request.time_limit:
        row["time_limit"] = _duration(request.time_limit)
    if request.since is not None:
        row["waiting_since"] = format_instant(request.since)
    row.update((key, list(labels)) for key, labels in zip(SITING_KEYS, request.siting[:3], strict=False) if labels)
    if request.siting.place:
        row["place"] = request.siting.place
    if request.preemptible is not None:
        row["preemptible"] = request.preemptible
    return row


def _duration(span: int) -> str:
    """Microseconds in seconds, exact."""
    return f"{span // SECOND}.{span % SECOND:06d}".rstrip("0").rstrip(".") + "s"


def _allocation(plan: Plan, held: Allocation) -> Row:
    row: Row = {"request": held.request}
    if held.host:
        row["host"] = held.host
    row |= {"units": held.units, "started": format_instant(held.started)}
    return row | _kind(plan, held)


def _kind(plan: Plan, of: Allocation | Notice) -> Row:
    """In what pool units of vectors stand, and on whose parcels."""
    paths = plan.tree.paths
    row: Row = {"pool": of.pool} if of.pool else {}
    if of.lenders:
        row["lenders"] = {paths[consumer]: units for consumer, units in of.lenders}
    if of.parts:
        row["stands_on"] = {paths[owner]: amounts_document(plan.resources, amounts) for owner, amounts in of.parts}
    return row


def _notice(plan: Plan, notice: Notice) -> Row:
    paths = plan.tree.paths
    row: Row = {"request": notice.request} if notice.request else {}
    row["consumer"] = paths[notice.consumer]
    if notice.resource_group:
        row["resource_group"] = notice.resource_group
    if notice.host:
        row["host"] = notice.host
    row["units"] = notice.units
    if notice.taker_request:
        row["for"] = notice.taker_request
    elif notice.taker >= 0:
        row["for"] = paths[notice.taker]
    row["deadline"] = format_instant(notice.deadline)
    if notice.reason != "quota":
        row["reason"] = notice.reason
    if notice.started is not None:
        row["started"] = format_instant(notice.started)
    return row | _kind(plan, notice)


def _loan(paths: tuple[str, ...], loan: Loan) -> Row:
    ends: Row = {"borrower": paths[loan.borrower], "lender": paths[loan.lender]}
    return ends | {"resource_group": loan.resource_group, "units": loan.units}


def _shortage(paths: tuple[str, ...], short: Shortage) -> Row:
    row: Row = {"consumer": paths[short.consumer], "resource_group": short.resource_group}
    row["since"] = format_instant(short.since)
    return row | ({"taking": True} if short.is_taking else {})


def _held(held: HeldUnits) -> Row:
    row: Row = {"request": held.request}
    if held.host:
        row["host"] = held.host
    return row | {"units": held.units}


def _own_entry(plan: Plan, each: OwnEntry) -> Row:
    amounts = amounts_document(plan.resources, each.amounts)
    return {"host": each.host, "consumer": plan.tree.paths[each.consumer], "entry": each.entry, "amounts": amounts}


def _parcel(plan: Plan, parcel: Parcel) -> Row:
    amounts = amounts_document(plan.resources, parcel.amounts)
    return {"host": parcel.host, "consumer": plan.tree.paths[parcel.consumer], "amounts": amounts}
