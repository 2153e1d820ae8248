"""The rules of Fairhold once more, slow and exact, written from `docs/rules.md` alone (ADR 0047).

    consumers, situation          who there is, by path, and what is wanted and held, unit by unit
    filling, needs, ages          filling and rounding; needs; in which order units of a request go
    quotas                        what everybody is entitled to: slots by policy, and fair shares of queues
    slots                         a cycle of slots: settle, set aside, grant, reclaim, report
    check                         which rules a result breaks

It knows the nouns (`model`, `units`), and nothing of the core.
"""
