"""`consumers:` of a policy entry: what each consumer owns, shares and may use at most (SPEC §3, §5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from fairhold.model.plan import ConsumerSettings
from fairhold.model.setting import Kind
from fairhold.model.tree import ROOT
from fairhold.planio.absent import ABSENT
from fairhold.planio.installed import all_policies
from fairhold.planio.names import unknown_path
from fairhold.planio.report import listed, shown
from fairhold.planio.settings import make, read_value
from fairhold.policies.multidimensional.policy import OWN_KEYS

if TYPE_CHECKING:
    from fairhold.errors import Place
    from fairhold.model.policy import Policy
    from fairhold.planio.report import Report
    from fairhold.planio.settings import Reading
    from fairhold.planio.values import Value


def read_consumers_of_entry(reading: Reading, value: Value, place: Place) -> dict[int, ConsumerSettings]:
    """Row → settings of all consumers that the entry lists; those that state the same alike share one object."""
    report, tree, settings = reading.report, reading.tree, reading.policy.of_consumer
    schema = {each.key: each for each in settings}
    most = {each.key: each.most for each in settings if each.kind is Kind.WHOLE and each.least == 0}
    nodes = report.mapping(value, place, what="the consumers of a policy entry")
    rows = tree.rows if nodes else {}
    found: dict[int, ConsumerSettings] = {}
    known: dict[tuple[object, ...], ConsumerSettings] = {}
    for path, node in nodes.items():
        row = rows.get(path, -1)
        if row == ROOT:
            report.fault("name", "the root `/` is the cluster and has no settings", "leave it out", (*place, path))
        elif row < 0:
            unknown_path(report, tree, path, (*place, path))
        stated: dict[str, object] = {}
        for key, word in report.mapping(node, (*place, path), what="the settings of a consumer").items():
            if type(word) is int and 0 <= word <= most.get(key, -1):
                stated[key] = word  # most numbers of a large plan are right: spare them the call
            elif key in schema:
                stated[key] = read_value(reading, schema[key], word, (*place, path, key))
            else:
                refuse_key(report, key, reading.policy, (*place, path, key), part="keys")
        if row > ROOT:
            alike = tuple(stated.items())
            kept = known.get(alike)
            if kept is None:
                kept = known[alike] = make(ConsumerSettings, settings, stated)
            found[row] = kept
    return found


def refuse_key(report: Report, key: str, policy: Policy, place: Place, *, part: Literal["settings", "keys"]) -> None:
    """Refuse a key that a policy does not read under `settings:`, or of a consumer; another policy may."""
    known: tuple[str, ...] = getattr(policy, part)
    others = [name for name, other in all_policies().items() if key in getattr(other, part)]
    owns_hosts = "own" in policy.keys
    if owns_hosts and key in OWN_KEYS and key not in known:
        what, mend = f"`{shown(key)}` applies to one entry of `own`", "write it in an entry of `own`"
        report.fault("wrong-place", what, mend, place)
    elif owns_hosts and key in ABSENT:
        why, mend = ABSENT[key]
        report.fault("other-policy", f"`{key}` is not available under `{policy.name}`: {why}", mend, place)
    elif others:
        what = f"`{shown(key)}` belongs to the policy {listed(others)}, and this entry's is `{policy.name}`"
        report.fault("other-policy", what, f"leave it out, or use {listed(known)}", place)
    else:
        report.unknown_key(key, known, place, {})
