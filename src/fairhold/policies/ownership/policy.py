"""`ownership`: consumers own exact numbers of slots and lend by lists (SPEC §4); alone, or beside `hybrid`."""

from fairhold.model.policy import Policy
from fairhold.model.setting import Kind, Setting
from fairhold.policies.keys import OF_HOLDERS, OF_SLOTS, OWNED, RATIO, RESERVED
from fairhold.policies.rules import Rules
from fairhold.rules.aging import await_ages
from fairhold.rules.claiming import claim_hosts
from fairhold.rules.granting import grant_idle_slots, set_reserves_aside
from fairhold.rules.lending import count_loans, return_loans
from fairhold.rules.owning import assess_needs_of_owners, divide_by_lists
from fairhold.rules.reclaiming import reclaim
from fairhold.rules.restraining import only_observe
from fairhold.rules.returning import reclaim_for_owners, weigh_owners
from fairhold.rules.sharing import assess_needs, divide_by_ownership
from fairhold.rules.switching import give_up_at_a_switch
from fairhold.rules.waiting import await_ends

RULES = Rules(
    quotas=(assess_needs_of_owners, divide_by_lists),
    moves=(
        set_reserves_aside,
        give_up_at_a_switch,
        grant_idle_slots,
        await_ends,
        count_loans,
        claim_hosts,
        reclaim_for_owners,
        await_ages,
        only_observe,
    ),
    weigh=weigh_owners,
)
BESIDE_HYBRID = Rules(
    quotas=(assess_needs, assess_needs_of_owners, divide_by_ownership, divide_by_lists),
    moves=(
        set_reserves_aside,
        give_up_at_a_switch,
        grant_idle_slots,
        await_ends,
        count_loans,
        claim_hosts,
        return_loans,
        reclaim,
        await_ages,
        only_observe,
    ),
)
LEND_TO = Setting(
    "lend_to", Kind.PEERS, "Leaves that may use what is owned and not needed.", default=(), field="lend_to"
)
BORROW_FROM = Setting(
    "borrow_from",
    Kind.PEERS,
    "Leaves whose slots may be used, in the order in which they are asked.",
    default=(),
    field="borrow_from",
)
OWNERSHIP = Policy(
    "ownership",
    of_entry=OF_SLOTS,
    of_consumer=(OWNED, RESERVED, LEND_TO, BORROW_FROM, RATIO, *OF_HOLDERS),
    owns_exactly=True,
    rules=RULES,
    beside={"hybrid": BESIDE_HYBRID},
)
