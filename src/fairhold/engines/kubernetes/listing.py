"""All objects of some kinds that a cluster has, whatever version it serves them in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.engines.kubernetes.api import ApiError, in_words
from fairhold.errors import Fault, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fairhold.engines.kubernetes.api import Api

Document = dict[str, Any]


def list_kinds(api: Api, group: str, versions: Mapping[str, Sequence[str]], title: str) -> list[Document]:
    """All objects of some kinds of an API group; kinds that the cluster does not have are left out, unless it has none.

    versions : kind → versions that are known; title: of the system, for people
    Raises InputError: `kubernetes-no-kind`, `kubernetes-rights`, `kubernetes-access`.
    """
    served = _served(api, group, title)
    plurals = {
        version: _plurals(api, f"/apis/{group}/{version}", title)
        for version in served
        if any(version in known for known in versions.values())
    }
    found: list[Document] = []
    is_known = False
    for kind, known in versions.items():
        version = next((each for each in plurals if each in known and kind in plurals[each]), None)
        if version is not None:
            is_known = True
            found += list_kind(api, f"{group}/{version}", kind, plurals[version][kind])
    if not is_known:
        what = f"{api.access.url} serves {group} as {', '.join(served)}, and of those no kind is known here"
        raise InputError([Fault("kubernetes-no-kind", what, f"use another version of {title}, or give files")])
    return found


def list_kind(api: Api, version: str, kind: str, plural: str) -> list[Document]:
    """All objects of a kind, each as a file would have it; version: with its group. Raises InputError."""
    base = f"/apis/{version}" if "/" in version else f"/api/{version}"
    try:
        found = api.list(f"{base}/{plural}")[0]
    except ApiError as error:
        raise _refusal(api, error, plural) from None
    return [{"apiVersion": version, "kind": kind} | each for each in found]


def _served(api: Api, group: str, title: str) -> list[str]:
    """Versions of a group, the preferred one in front."""
    try:
        found = api.request("GET", f"/apis/{group}")
    except ApiError as error:
        raise _refusal(api, error, group, title) from None
    return _preferred_first(found)


def _preferred_first(found: Document) -> list[str]:
    versions: Iterable[str] = (each["version"] for each in found.get("versions") or ())
    first = (found.get("preferredVersion") or {}).get("version")
    return sorted(versions, key=lambda each: each != first)


def _plurals(api: Api, path: str, title: str) -> dict[str, str]:
    """Kind → its name in paths."""
    try:
        resources = api.request("GET", path).get("resources") or ()
    except ApiError as error:
        raise _refusal(api, error, path, title) from None
    return {each["kind"]: each["name"] for each in resources if "/" not in each["name"]}


def _refusal(api: Api, error: ApiError, what: str, title: str = "") -> InputError:
    rights = f"ask for the right to list {what} in all namespaces, or give files: `kubectl get {what} -A -o yaml`"
    said = f"{api.access.url} has no {title or 'such'} objects: it does not know {what}"
    absent = Fault("kubernetes-no-kind", said, "name another cluster with --context, or give files")
    return in_words(api.access.url, error, rights, absent)
