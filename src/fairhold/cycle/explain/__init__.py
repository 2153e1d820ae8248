"""Why a number is what it is: derivations made when asked for, as data; the words are the shells'."""

from fairhold.cycle.explain.derivation import bound_by_need, explain
from fairhold.cycle.explain.nouns import Bound, Control, Explanation, Level, Loan, Move, OwnBound, Parts, Standing
from fairhold.cycle.explain.parameter import Change
from fairhold.cycle.explain.standing import standing
from fairhold.cycle.explain.trials import apart
from fairhold.cycle.explain.whatif import Counterfactual, WhatIf, one_more

__all__ = [
    "Bound",
    "Change",
    "Control",
    "Counterfactual",
    "Explanation",
    "Level",
    "Loan",
    "Move",
    "OwnBound",
    "Parts",
    "Standing",
    "WhatIf",
    "apart",
    "bound_by_need",
    "explain",
    "one_more",
    "standing",
]
