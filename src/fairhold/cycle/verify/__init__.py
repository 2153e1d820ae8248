"""The independent check of a result: slow, exact, and without a line of the computation (`fairhold verify`).

sheet       one group's inputs by path          books      who holds what; stops
filling     fill and round                      quotas     need, floors, quotas, exact shares
granting    set aside, pass 1, pass 2           leaves     requests and hosts
reclaiming  claims and their division           lacking    what still lacks
victims     units and notices inside a leaf     takers     for whom units are taken
spare       free slots                          group      one group's whole cycle
expected    the result, recomputed              document   state documents
compare     result against recomputation        conditions what must hold of any result
check       `verify`                          pooled     the same of pools
"""

from fairhold.cycle.verify.check import is_cycle, verify
from fairhold.cycle.verify.expected import expected_cycle, expected_quota
from fairhold.cycle.verify.finding import Finding
from fairhold.cycle.verify.quotas import Quotas
from fairhold.cycle.verify.sheet import TOP, Sheet

__all__ = ["TOP", "Finding", "Quotas", "Sheet", "expected_cycle", "expected_quota", "is_cycle", "verify"]
