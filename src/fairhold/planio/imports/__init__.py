"""Queue objects of other systems → a plan: KAI-Scheduler's and Kueue's (ADR 0037).

`importing.py` is the way in. Nothing here opens a file: texts come in, the text of a plan and notes go out.
"""
