"""The GPUs of a host that a task sees: environment variables of the vendors' programs (docs/adr/0025).

They name GPUs by their numbers on the host. A program that changes the variables sees other GPUs: they prevent
mistakes, not abuse.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

DEVICES = "FAIRHOLD_DEVICES"
"""Our own; empty where the task has no GPU."""
NOBODY = "-1"
"""To CUDA and HIP a number that no GPU has. An empty text HIP takes for no text at all, and shows all GPUs."""
_LISTED = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL")
_NUMBERED_BY_PLACE = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
"""Else CUDA puts the fastest in front, and its numbers are not those of the host."""
_CONTAINERS, _NO_CONTAINERS = "NVIDIA_VISIBLE_DEVICES", "void"
_LEVEL_ZERO, _NO_LEVEL_ZERO = "ZE_AFFINITY_MASK", "9999"
"""Intel's: an empty text means all, and a number without a GPU none."""
TAKEN_AWAY = ("ROCR_VISIBLE_DEVICES",)
"""AMD's: what the others name counts among those that this one leaves, so that one of the two has to go."""


def visible(devices: Iterable[int]) -> dict[str, str]:
    """The variables of a task that has these GPUs only; an empty list hides all GPUs."""
    text = ",".join(str(device) for device in devices)
    return {
        DEVICES: text,
        **dict.fromkeys(_LISTED, text or NOBODY),
        **_NUMBERED_BY_PLACE,
        _CONTAINERS: text or _NO_CONTAINERS,
        _LEVEL_ZERO: text or _NO_LEVEL_ZERO,
    }


def with_devices(environment: dict[str, str], devices: Iterable[int] | None) -> dict[str, str]:
    """An environment that shows these GPUs, whatever it says itself.

    devices : None = GPUs are not handed out here, and the environment stays as it is
    """
    if devices is None:
        return environment
    kept = {name: value for name, value in environment.items() if name not in TAKEN_AWAY}
    return {**kept, **visible(devices)}
