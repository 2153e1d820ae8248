"""`hybrid`: ownership and sharing together (seed 1, SPEC §3)."""

from fairhold.model.policy import Policy
from fairhold.model.setting import Kind, Setting
from fairhold.policies.keys import OF_HOLDERS, OF_SLOTS, OWNED, RESERVED
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
        give_up_at_a_switch,
        grant_idle_slots,
        await_ends,
        claim_hosts,
        reclaim,
        drop_loans,
        await_ages,
        only_observe,
    ),
)
DISTRIBUTE_EVENLY = Setting(
    "distribute_evenly",
    Kind.FLAG,
    "What owners leave is added in equal amounts to all.",
    default=False,
    field="distribute_evenly",
)
DISABLE_RECLAIM_OWN = Setting(
    "disable_reclaim_own",
    Kind.FLAG,
    "After a loss of hosts, no consumer is reduced below what it owned.",
    default=False,
    field="disable_reclaim_own",
)
HYBRID = Policy(
    "hybrid",
    of_entry=(DISTRIBUTE_EVENLY, DISABLE_RECLAIM_OWN, *OF_SLOTS),
    of_consumer=(OWNED, RESERVED, *OF_HOLDERS),
    scales_owned=True,
    rules=RULES,
)
