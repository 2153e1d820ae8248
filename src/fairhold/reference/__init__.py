"""The rules of Fairhold once more, slow and exact, written from `docs/rules.md` alone (ADR 0047).

    consumers, situation          who there is, by path, and what is wanted and held, unit by unit
    filling, needs, ages          filling and rounding; needs; in which order units of a request go
    quotas                        what everybody is entitled to: slots by policy, usage quotas of pools
    slots                         a cycle of slots: settle, set aside, grant, reclaim, report
    sharing                       entries in force that share vectors, and what budgets make of them
    queues                        a cycle of queues: fair shares, serve, take, move, look once more, report
    check                         which rules a result breaks

It knows the nouns (`model`, `units`), and nothing of the core.
"""
