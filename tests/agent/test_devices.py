"""Which GPUs a task is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fairhold.agent.devices import visible, with_devices
from fairhold.agent.order import Order

if TYPE_CHECKING:
    from tests.agent.service import Service

OF_A_USER = {
    "CUDA_VISIBLE_DEVICES": "0,1,2,3",
    "CUDA_DEVICE_ORDER": "FASTEST_FIRST",
    "NVIDIA_VISIBLE_DEVICES": "all",
    "HIP_VISIBLE_DEVICES": "0",
    "ROCR_VISIBLE_DEVICES": "0,1",
    "ZE_AFFINITY_MASK": "0",
    "FAIRHOLD_DEVICES": "7",
}


def test_a_task_is_shown_its_own_gpus_whatever_its_user_says(service: Service) -> None:
    service.run(1, "/usr/bin/env", environment=OF_A_USER, devices=[5, 2])
    found = dict(line.split("=", 1) for line in service.output(1).splitlines())
    assert {name: value for name, value in found.items() if name in {*OF_A_USER, "GPU_DEVICE_ORDINAL"}} == {
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "CUDA_VISIBLE_DEVICES": "5,2",
        "FAIRHOLD_DEVICES": "5,2",
        "GPU_DEVICE_ORDINAL": "5,2",
        "HIP_VISIBLE_DEVICES": "5,2",
        "NVIDIA_VISIBLE_DEVICES": "5,2",
        "ZE_AFFINITY_MASK": "5,2",
    }


def test_a_task_without_gpus_is_shown_none(service: Service) -> None:
    service.run(1, "/usr/bin/env", environment=OF_A_USER, devices=[])
    found = dict(line.split("=", 1) for line in service.output(1).splitlines())
    assert found["FAIRHOLD_DEVICES"] == ""
    assert found["NVIDIA_VISIBLE_DEVICES"] == "void"
    assert "ROCR_VISIBLE_DEVICES" not in found
    told = [found[name] for name in ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ZE_AFFINITY_MASK")]
    assert told == ["-1", "-1", "9999"]


@pytest.mark.parametrize("more", [{}, {"devices": None}])
def test_where_nobody_hands_gpus_out_nothing_is_changed(service: Service, more: dict[str, Any]) -> None:
    service.run(1, "/usr/bin/env", environment=OF_A_USER, **more)
    found = dict(line.split("=", 1) for line in service.output(1).splitlines())
    assert found.items() >= OF_A_USER.items()
    assert "GPU_DEVICE_ORDINAL" not in found


@pytest.mark.parametrize(
    ("more", "detail"),
    [
        ({"devices": "0"}, "devices is not a list of whole numbers from 0"),
        ({"devices": [0, "1"]}, "devices is not a list of whole numbers from 0"),
        ({"devices": [-1]}, "devices is not a list of whole numbers from 0"),
        ({"devices": [True]}, "devices is not a list of whole numbers from 0"),
        ({"devices": [3, 1, 3]}, "devices lists a number twice"),
        ({"cpu": -1}, "cpu is not a whole number from 0"),
        ({"cpu": 1.5}, "cpu is not a whole number from 0"),
    ],
)
def test_an_order_that_hands_out_nonsense_is_refused(service: Service, more: dict[str, Any], detail: str) -> None:
    service.send(service.start(1, "true", **more))
    assert service.hear("refused", 1)["detail"] == detail


def test_an_order_of_an_older_service_limits_nothing(service: Service) -> None:
    order = Order(service.start(1, "true"), "/place")
    assert (order.cpu, order.devices) == (0, None)


def test_every_variable_is_set_or_taken_away() -> None:
    assert with_devices(OF_A_USER, (1,)) == visible((1,))
    assert visible((1,)).keys() == visible(()).keys() == {*OF_A_USER, "GPU_DEVICE_ORDINAL"} - {"ROCR_VISIBLE_DEVICES"}
