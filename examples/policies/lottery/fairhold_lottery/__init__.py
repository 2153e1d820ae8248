"""The policy `lottery`: everybody has what it owns, and the other slots are drawn by lot."""

from fairhold.model.policy import OwnDivision, Policy
from fairhold.policies.hybrid.policy import RULES as RULES_OF_HYBRID
from fairhold.policies.keys import OF_HOLDERS, OF_SLOTS, OWNED
from fairhold.policies.rules import Rules
from fairhold_lottery.division import SEED, TICKETS, assess_entrants, divide_by_lottery
from fairhold_lottery.explanation import derive_draws
from fairhold_lottery.twin import recompute

LOTTERY = Policy(
    "lottery",
    of_entry=(SEED, *OF_SLOTS),
    of_consumer=(OWNED, TICKETS, *OF_HOLDERS),
    scales_owned=True,
    rules=Rules(quotas=(assess_entrants, divide_by_lottery), moves=RULES_OF_HYBRID.moves),
    division=OwnDivision(explain=derive_draws, recompute=recompute, weights=(TICKETS,), keeps_quotas=True),
)
