"""What two access documents say otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.access.document import Access
    from fairhold.access.notifications import Threshold

Document = dict[str, Any]


def access_changes(old: Access, new: Access) -> list[Document]:
    """Every place at which two documents differ; lists of people by whom they name, bindings by what they say."""
    before, after = _stated(old), _stated(new)
    places = dict.fromkeys((*before, *after))
    return [
        {"place": place, "old": before.get(place), "new": after.get(place)}
        for place in places
        if before.get(place) != after.get(place)
    ]


def _stated(access: Access) -> Mapping[str, Any]:
    found: Document = {"cluster": access.cluster or None, "others": access.others}
    provider = access.provider._asdict() if access.provider else {}
    found |= {f"oidc.{name}": value for name, value in provider.items()}
    found |= {f"users.{name}": True for name in sorted(access.users)}
    found |= {f"service_accounts.{name}": True for name in sorted(access.service_accounts)}
    for name, members in sorted(access.groups.items()):
        found |= {f"groups.{name}": True} | {f"groups.{name}.{member}": True for member in sorted(members)}
    found |= {f"roles.{name}": sorted(held) for name, held in sorted(access.roles.items())}
    for binding in access.bindings:
        place = f"bindings.{binding.role} at {binding.at}"
        for kind in ("users", "groups", "service_accounts"):
            found |= {f"{place}.{kind}.{name}": True for name in getattr(binding, kind)}
    told = access.notifications
    found |= {f"notifications.mail.{name}": value for name, value in (told.mail._asdict() if told.mail else {}).items()}
    found |= {f"notifications.mail.addresses.{name}": value for name, value in sorted(told.addresses.items())}
    found |= {f"notifications.webhooks.{name}": value for name, value in told.webhooks._asdict().items() if value}
    for each in told.thresholds:
        for kind in ("users", "groups", "service_accounts"):
            place = f"notifications.thresholds.{_threshold(each)}.{kind}"
            found |= {f"{place}.{name}": True for name in getattr(each, kind)}
    found |= {f"limits.{name}": value for name, value in access.limits._asdict().items()}
    found |= {f"limits.people.{name}": limits._asdict() for name, limits in sorted(access.own_limits.items())}
    return found


def _threshold(each: Threshold) -> str:
    """What tells a threshold apart from others, as people read it."""
    how = f"{each.percent} %" if each.percent else f"for {format_duration(each.span)}"
    return f"{each.when} at {each.at}, {how}"
