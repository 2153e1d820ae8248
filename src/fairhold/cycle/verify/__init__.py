"""The independent check of a result: slow, exact, and without a line of the computation (`fairhold verify`).

What shares slots is judged by `fairhold.reference`; pools and queues are computed again here.

pooled      pools, and what hosts, units and notices are for queues, too
queued      queues
check       `verify`: the parts of a result that are slots, pools and queues, each by its own
"""

from fairhold.cycle.verify.check import not_judged, verify
from fairhold.reference.check import is_cycle
from fairhold.reference.finding import Finding

__all__ = ["Finding", "is_cycle", "not_judged", "verify"]
