"""`share_ratio`: everything is shared, by ratio (seed 3, SPEC §5)."""

from fairhold.model.plan import ENFORCED, ENTITLEMENTS
from fairhold.model.policy import Policy
from fairhold.model.setting import Kind, Setting
from fairhold.policies.keys import OF_HOLDERS, OF_SLOTS, RATIO
from fairhold.policies.rules import Rules
from fairhold.rules.aging import await_ages
from fairhold.rules.claiming import claim_hosts
from fairhold.rules.granting import grant_idle_slots, set_reserves_aside
from fairhold.rules.lending import drop_loans
from fairhold.rules.ratios import assess_needs_of_sharers, divide_by_ratio, plan_shares
from fairhold.rules.reclaiming import reclaim
from fairhold.rules.restraining import only_observe
from fairhold.rules.waiting import await_ends

RULES = Rules(
    quotas=(assess_needs_of_sharers, plan_shares, divide_by_ratio),
    moves=(
        set_reserves_aside,
        grant_idle_slots,
        await_ends,
        claim_hosts,
        reclaim,
        drop_loans,
        await_ages,
        only_observe,
    ),
)
ENFORCE = Setting(
    "enforce", Kind.WORD, "At which level share ratios hold.", default="leaf", field="enforce", words=ENFORCED
)
ENTITLEMENT = Setting(
    "entitlement",
    Kind.WORD,
    "How much a leaf can take back.",
    default="planned",
    field="entitlement",
    words=ENTITLEMENTS,
)
SHARE_RATIO = Policy(
    "share_ratio",
    of_entry=(ENFORCE, ENTITLEMENT, *OF_SLOTS),
    of_consumer=(RATIO, *OF_HOLDERS),
    divides_by_ratio=True,
    rules=RULES,
)
