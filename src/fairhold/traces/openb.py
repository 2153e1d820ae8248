"""The table of pods that Alibaba published in 2023: CPUs, memory, and parts of GPUs."""

from __future__ import annotations

from fairhold.traces.tables import Table, csv_table


def openb_table(text: str, name: str) -> Table:
    """Read the table; pods that were never scheduled are passed over. Raises InputError."""
    table = csv_table(text, name)
    table = table.kept([each != "" for each in table.cells("scheduled_time")], "never began")
    gpus, parts = table.cells("num_gpu"), table.cells("gpu_milli")
    table.columns["gpu_milli_all"] = [
        str(int(count) * int(part)) if count.isdecimal() and part.isdecimal() else part
        for count, part in zip(gpus, parts, strict=True)
    ]
    return table
