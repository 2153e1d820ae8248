"""The independent check of pools: recomputes one cycle of `multidimensional` by path, unit by unit, with fractions.

amounts   vectors                                terms      what the plan says of each consumer
stock     hosts, parcels, requests, units        force      which entries share vectors now
owners    who owns which hosts                   booking    on which parcels units stand
opening   plan and state to a stock; stops       lending    bounds, levels, content, capacity
usage     usages, demands, quotas                limits     share limits
filling   idle resource goes out                 seeking    which host comes first for a unit
turns     whose turn it is                       coming     what is on its way; withdrawn notices
givers    who might give a unit, and where       choices    what would go on one host
taking    whose units go, for whom               controls   how far a cycle takes back
sweeps    both sweeps in their order             restraint  both, held back as the entry says
expected  the result, recomputed                 report     its rows and tables
compare   result against recomputation           conditions what must hold of any result
"""
