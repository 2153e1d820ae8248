"""`hybrid`: ownership and sharing together (seed 1, SPEC §3)."""

from fairhold.model.policy import Policy
from fairhold.policies.keys import OF_HOLDERS, OF_SLOTS
from fairhold.policies.rules import Rules
from fairhold.rules.aging import await_ages
from fairhold.rules.claiming import claim_hosts
from fairhold.rules.granting import grant_idle_slots, set_reserves_aside
from fairhold.rules.lending import drop_loans
from fairhold.rules.reclaiming import reclaim
from fairhold.rules.restraining import only_observe
from fairhold.rules.sharing import assess_needs, divide_by_ownership
from fairhold.rules.switching import give_up_at_a_switch
from fairhold.rules.waiting import await_ends

RULES = Rules(
    quotas=(assess_needs, divide_by_ownership),
    moves=(
        set_reserves_aside,
        grant_idle_slots,
        await_ends,
        give_up_at_a_switch,
        claim_hosts,
        reclaim,
        drop_loans,
        await_ages,
        only_observe,
    ),
)
HYBRID = Policy(
    "hybrid",
    settings=("distribute_evenly", "disable_reclaim_own", *OF_SLOTS),
    keys=("owned", "reserved", *OF_HOLDERS),
    scales_owned=True,
    rules=RULES,
)
