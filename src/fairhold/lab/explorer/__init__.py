"""The explorer: change a number of a plan, or of what somebody wants, and see all quotas and why.

changes    what can be changed, as `/Trading:owned=8`     demand    what a leaf wants
exploring  the results before and after, checked          numbers   which of them differ
fields     what a page lets people change                 page      the page
serving    who serves it on this machine
"""

from fairhold.lab.explorer.changes import Change, parse_change
from fairhold.lab.explorer.exploring import Explored, Explorer, nobody_wants

__all__ = ["Change", "Explored", "Explorer", "nobody_wants", "parse_change"]
