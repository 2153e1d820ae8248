"""What callers want to be told of, for the desk's thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from fairhold.access.notifications import EVENTS
from fairhold.access.webhooks import url_fault
from fairhold.service.notifying.webhook import new_secret
from fairhold.service.notifying.wording import TEST
from fairhold.service.problems import refused
from fairhold.units import SECOND, format_instant

if TYPE_CHECKING:
    from collections.abc import Collection

    from fairhold.runtime.live.core import Core
    from fairhold.runtime.live.notifications import Subscription
    from fairhold.service.auth import Caller
    from fairhold.service.models.people_requests import NotificationsBody

_SET_UP = "set a webhook with `fairhold notify --webhook URL`, or have an administrator add your mail address"


_RENEWED = 86_400 * SECOND
"""After which what the provider says of somebody is taken down anew, as he asks for whatever it is."""


def ordered(events: Collection[str]) -> tuple[str, ...]:
    """Events in their order, each once."""
    return tuple(each for each in EVENTS if each in events)


def subscription_of(core: Core, caller: Caller) -> Subscription:
    """What is kept of a caller, with what is known of him by now."""
    known = core.notifications.subscription(caller.user)
    if caller.provider is not None:
        known = known._replace(groups=caller.groups, address=caller.address, seen=core.now())
    return known._replace(is_built_in=caller.is_built_in)


def is_old(known: Subscription, caller: Caller, now: int) -> bool:
    """Whether what the provider says of a caller is kept, and is to be taken down anew."""
    return caller.provider is not None and 0 < known.seen <= now - _RENEWED


def renew(core: Core, caller: Caller) -> None:
    """Take down anew what the provider says of a caller, so that he goes on being told; at most once a day."""
    if is_old(core.notifications.subscription(caller.user), caller, core.now()):
        core.notifications.subscribe(subscription_of(core, caller))


def _require_reached(core: Core, known: Subscription) -> None:
    if not core.notifications.channels(known, core.now()):
        raise refused("unreached", f"nothing reaches `{known.user}`: there is no mail address and no webhook", _SET_UP)


def check_watch(core: Core, caller: Caller, job: str, user: str, events: Collection[str]) -> Subscription:
    """How somebody is reached who is to be told of a job: the caller, or in whose name he submits.

    job : empty = a new one. Raises InputError `unreached`, `too-many`.
    """
    own = user == caller.user
    known = subscription_of(core, caller) if own else core.notifications.subscription(user)
    if events:
        _require_reached(core, known)
    core.notifications.check_watch(job, user)
    return known


def watch(core: Core, known: Subscription, job: str, events: Collection[str]) -> None:
    """Let somebody be told of a job; after `check_watch`."""
    core.notifications.subscribe(known)
    core.notifications.watch(job, known.user, ordered(events))


def test(core: Core, caller: Caller) -> None:
    """Send the caller a message that says that it is a test. InputError `unreached`."""
    known, instant = subscription_of(core, caller), core.now()
    _require_reached(core, known)
    core.notifications.subscribe(known)
    core.notifications.tell(caller.user, {"event": TEST, "at": format_instant(instant)}, instant)


def change(core: Core, caller: Caller, body: NotificationsBody) -> str:
    """Keep what a caller wants from now on; the secret of his webhook where it is new, which is told this once.

    InputError `webhook-refused` where it may not lead there, `unreached`: nothing is changed.
    """
    known, secret = subscription_of(core, caller), ""
    if body.mail is not None:
        known = known._replace(mail=body.mail)
    if body.events is not None:
        known = known._replace(events=ordered(body.events))
    if body.webhook is not None and body.webhook != known.webhook:
        if body.webhook and (why := url_fault(core.people.access.notifications.webhooks, body.webhook)):
            mend = "`fairhold notify` shows where webhooks may lead; an administrator may allow more"
            raise refused("webhook-refused", f"the address {why}", mend)
        known = known._replace(webhook=body.webhook, secret="")
    if known.webhook and (body.new_secret or not known.secret):
        secret = new_secret()
        known = known._replace(secret=secret)
    if body.events:
        _require_reached(core, known)
    core.notifications.subscribe(known)
    return secret


def document(core: Core, caller: Caller) -> dict[str, Any]:
    """How a caller is reached, and what he is told of all his jobs; never the secret."""
    known, now = subscription_of(core, caller), core.now()
    told = core.people.access.notifications
    return {
        "user": caller.user,
        "events": [*known.events],
        "mail": core.notifications.address(known, now) or None,
        "wants_mail": known.mail,
        "webhook": known.webhook or None,
        "channels": core.notifications.channels(known, now),
        "offers": {"mail": told.mail is not None, "webhooks": [*told.webhooks.hosts]},
    }


def host_of(url: str) -> str:
    """Where a webhook leads, for the record: the rest of the address may be a secret."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
