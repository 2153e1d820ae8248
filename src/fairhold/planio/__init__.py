"""Files: plans, states and jobs, read strictly and written back.

    text ──document──▶ plain values ──plan, state, jobs──▶ model
                 └──locate──▶ lines of what is at fault

`document` knows YAML and JSON and nothing of plans; `locate` finds a place again only when something is at fault there.
A reader collects every fault of a file before it raises one `InputError`; `codes` lists what a fault can be called.
"""
