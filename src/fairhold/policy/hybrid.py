"""`hybrid`: ownership and sharing together (seed 1, SPEC §3)."""

from fairhold.policy.policy import Policy
from fairhold.rules.aging import await_ages
from fairhold.rules.claiming import claim_hosts
from fairhold.rules.granting import grant_idle_slots, set_reserves_aside
from fairhold.rules.lending import drop_loans
from fairhold.rules.reclaiming import reclaim
from fairhold.rules.restraining import only_observe
from fairhold.rules.sharing import assess_needs, divide_by_ownership
from fairhold.rules.switching import give_up_at_a_switch
from fairhold.rules.waiting import await_ends

HYBRID = Policy(
    "hybrid",
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
