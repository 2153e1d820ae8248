"""Access documents: text → `Access`, with every fault of the file at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.access.document import ALL, NAME, OTHERS, Access, Binding, PersonLimits
from fairhold.access.notifications import Notifications
from fairhold.access.permissions import CLUSTER_WIDE, ROLES, ROOT, Permission
from fairhold.planio.document import parse_document
from fairhold.planio.names import name_fault
from fairhold.planio.notifications import Naming, read_notifications
from fairhold.planio.provider import read_provider
from fairhold.planio.report import Report, shown
from fairhold.units import LARGEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairhold.errors import Fault, Place
    from fairhold.model.tree import ConsumerTree
    from fairhold.planio.values import Value

KEYS = (
    *("fairhold_access", "cluster", "others", "users", "service_accounts", "groups", "roles", "bindings", "limits"),
    *("oidc", "notifications"),
)
BINDING_KEYS = ("role", "at", "users", "groups", "service_accounts")
LIMIT_KEYS = PersonLimits._fields
MOST_NAMES = 1_000_000
"""Members of all lists together."""
_NAME_MEND = "write 1 to 64 characters without spaces, `/` and `:`"
_PERMISSIONS = tuple(str(each) for each in Permission)


def parse_access(text: str, name: str, tree: ConsumerTree | None = None) -> tuple[Access, tuple[Fault, ...]]:
    """Read the access document of a text, and the warnings about it; raises InputError with all its faults.

    name : of the file, as faults show it
    tree : of the plan in force; a binding for a consumer that it does not have is a warning
    """
    report = Report(parse_document(text, name))
    top = report.mapping(report.document.value, (), what="a mapping with `fairhold_access: 1`")
    if not top:
        report.settle()
    report.version(top, "fairhold_access")
    report.keys(top, KEYS, (), {})
    cluster = report.text(top.get("cluster", ""), ("cluster",), what="the name of the cluster")
    others = report.word(top.get("others", ALL), ("others",), OTHERS)
    users = _names(report, top.get("users", []), ("users",), what="users")
    accounts = _names(report, top.get("service_accounts", []), ("service_accounts",), what="service accounts")
    for person in sorted({*users} & {*accounts}):
        what = f"`{shown(person)}` is both a user and a service account"
        report.fault("duplicate-key", what, "give one of them another name", ("service_accounts",))
    people = {*users, *accounts}
    groups = _groups(report, top.get("groups"), people)
    roles = _roles(report, top.get("roles"))
    known = _Known({*users}, {*accounts}, groups, roles)
    bindings = _bindings(report, top.get("bindings", []), known, tree)
    limits, own_limits = _limits(report, top.get("limits"), people)
    provider = read_provider(report, top["oidc"], {*groups}) if "oidc" in top else None
    told = _notifications(report, top["notifications"], known, tree) if "notifications" in top else Notifications()
    access = Access(
        *(frozenset(users), frozenset(accounts), groups, roles, bindings, others or ALL, limits, own_limits, cluster),
        *(provider, told),
    )
    return access, report.settle()


class _Known:
    """What bindings may name."""

    def __init__(
        self,
        users: set[str],
        accounts: set[str],
        groups: Mapping[str, frozenset[str]],
        roles: Mapping[str, frozenset[Permission]],
    ) -> None:
        self.names = {"users": users, "groups": {*groups}, "service_accounts": accounts}
        self.roles = {**ROLES, **roles}


def _names(report: Report, value: Value, place: Place, *, what: str) -> list[str]:
    """A list of names, none of them twice."""
    found: dict[str, None] = {}
    items = report.sequence(value, place, what=what)
    if len(items) > MOST_NAMES:
        report.fault("out-of-range", f"there are {len(items)} names", f"give at most {MOST_NAMES}", place)
        return []
    for at, item in enumerate(items):
        name = report.text(item, (*place, at), what="a name")
        if not isinstance(item, str):
            continue
        _check_name(report, name, (*place, at))
        if name in found:
            report.fault("duplicate-key", f"`{shown(name)}` is in this list twice", "name it once", (*place, at))
        found[name] = None
    return list(found)


def _check_name(report: Report, name: str, place: Place) -> None:
    if not NAME.fullmatch(name):
        report.fault("name", f"`{shown(name)}` cannot be a name here", _NAME_MEND, place)


def _members(report: Report, value: Value, place: Place, known: Iterable[str], *, what: str) -> list[str]:
    """A list of names that have to be known."""
    names, known = _names(report, value, place, what=what), set(known)
    for at, name in enumerate(names):
        if name not in known:
            mend = report.suggest(name, known, "add it to the document, or leave it out")
            report.fault("unknown-user", f"the document has no `{shown(name)}` of the {what}", mend, (*place, at))
    return names


def _groups(report: Report, value: Value, people: set[str]) -> dict[str, frozenset[str]]:
    found = {}
    for name, members in report.mapping(value, ("groups",), what="a mapping of groups").items():
        place = ("groups", name)
        _check_name(report, name, place)
        found[name] = frozenset(_members(report, members, place, people, what="users and service accounts"))
    return found


def _roles(report: Report, value: Value) -> dict[str, frozenset[Permission]]:
    found = {}
    for name, permissions in report.mapping(value, ("roles",), what="a mapping of roles").items():
        place = ("roles", name)
        _check_name(report, name, place)
        if name in ROLES:
            what = f"the role `{name}` is there already, and cannot be changed"
            report.fault("duplicate-key", what, "give yours another name", place)
        words = [
            report.word(each, (*place, at), _PERMISSIONS)
            for at, each in enumerate(report.sequence(permissions, place, what="permissions"))
        ]
        found[name] = frozenset(Permission(word) for word in words if word)
    return found


def _bindings(report: Report, value: Value, known: _Known, tree: ConsumerTree | None) -> tuple[Binding, ...]:
    rows = enumerate(report.sequence(value, ("bindings",), what="bindings"))
    return tuple(_binding(report, each, ("bindings", at), known, tree) for at, each in rows)


def _binding(report: Report, value: Value, place: Place, known: _Known, tree: ConsumerTree | None) -> Binding:
    node = report.mapping(value, place, what="a mapping with `role` and `at`")
    report.keys(node, BINDING_KEYS, place, {})
    report.missing(node, ("role", "at"), place, "a binding")
    role = report.word(node["role"], (*place, "role"), tuple(known.roles)) if "role" in node else ""
    at = report.text(node.get("at", ROOT), (*place, "at"), what="the path of a consumer")
    _check_path(report, at, (*place, "at"), tree)
    named = {
        key: tuple(_members(report, node.get(key, []), (*place, key), names, what=key.replace("_", " ")))
        for key, names in known.names.items()
    }
    if not any(key in node for key in known.names):
        mend = "add `users`, `groups` or `service_accounts`"
        report.fault("missing-key", "a binding says who holds the role", mend, place)
    useless = sorted(known.roles.get(role, frozenset()) & CLUSTER_WIDE) if at != ROOT else []
    if useless and role not in ROLES:
        what = f"{', '.join(f'`{each}`' for each in useless)} of `{role}` count only at `/`"
        report.warn("no-effect", what, "bind the role at `/`, or make one without them", place)
    return Binding(role, at, **named)


def _notifications(report: Report, value: Value, known: _Known, tree: ConsumerTree | None) -> Notifications:
    def members(report: Report, value: Value, place: Place, names: set[str], key: str) -> tuple[str, ...]:
        return tuple(_members(report, value, place, names, what=key.replace("_", " ")))

    def check_path(path: str, place: Place) -> None:
        _check_path(report, path, place, tree)

    return read_notifications(report, value, Naming(known.names, members, check_path))


def _check_path(report: Report, path: str, place: Place, tree: ConsumerTree | None) -> None:
    parts = path.split("/")
    if path != ROOT and (parts[0] or len(parts) == 1 or any(map(name_fault, parts[1:]))):
        report.fault("name", f"`{shown(path)}` is not the path of a consumer", "write it as `/Trading/Risk`", place)
    elif tree is not None and path not in tree.rows:
        what = f"the plan in force has no consumer `{shown(path)}`, so this gives nothing"
        report.warn("dead-binding", what, "it counts again as soon as a plan has it; else take it away", place)


def _limits(report: Report, value: Value, people: set[str]) -> tuple[PersonLimits, dict[str, PersonLimits]]:
    node = report.mapping(value, ("limits",), what="a mapping of limits")
    everybody = {key: each for key, each in node.items() if key != "people"}
    limits = _limits_of(report, everybody, ("limits",), PersonLimits())
    own = {}
    for name, each in report.mapping(node.get("people"), ("limits", "people"), what="a mapping of people").items():
        place = ("limits", "people", name)
        if name not in people:
            mend = report.suggest(name, people, "add it to the document, or leave it out")
            report.fault("unknown-user", f"the document has no user or service account `{shown(name)}`", mend, place)
        own[name] = _limits_of(report, report.mapping(each, place), place, limits)
    return limits, own


def _limits_of(report: Report, node: Mapping[str, Value], place: Place, otherwise: PersonLimits) -> PersonLimits:
    report.keys(node, (*LIMIT_KEYS, "people") if place == ("limits",) else LIMIT_KEYS, place, {})
    stated = {key: report.whole(node[key], (*place, key), most=LARGEST) for key in LIMIT_KEYS if key in node}
    return otherwise._replace(**stated)
