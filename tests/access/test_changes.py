"""What two access documents say otherwise, as people read it."""

from __future__ import annotations

from fairhold.access.changes import access_changes
from fairhold.planio.access import parse_access

DOCUMENT = """\
fairhold_access: 1
users: [ada]
notifications:
  thresholds:
    - {when: budget_used, percent: 80, at: /Trading, users: [ada]}
    - {when: host_silent, for: 10m, users: [ada]}
"""


def test_thresholds_are_called_by_what_they_say_with_units() -> None:
    old, new = (parse_access(text, "access.yaml")[0] for text in (DOCUMENT.partition("notif")[0], DOCUMENT))
    assert [each["place"] for each in access_changes(old, new)] == [
        "notifications.thresholds.budget_used at /Trading, 80 %.users.ada",
        "notifications.thresholds.host_silent at /, for 10m.users.ada",
    ]
