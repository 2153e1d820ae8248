"""What jobs say of hosts, over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.service.support import Bank


def test_what_a_job_says_of_hosts_is_told(bank: Bank) -> None:
    """R-SITE-1: as it was said, also when the job is over."""
    said: dict[str, Any] = {"need": [], "prefer": ["zone=a"], "avoid": ["old"], "place": "spread"}
    job = bank.submit(**said)
    assert {name: job[name] for name in said} == said
    bank.hub.wait_started(1)
    bank.hub.end(1)
    over = bank.get(f"/jobs/{job['job']}?wait=5")
    assert over["state"] == "done"
    assert {name: over[name] for name in said} == said


def test_what_no_host_has_is_refused(bank: Bank) -> None:
    """R-SITE-2."""
    body = {"consumer": "/Research", "argv": ["true"], "need": ["zone=a"]}
    told = bank._ask("POST", "/jobs", 422, json=body)
    assert (told["code"], "no host with zone=a" in told["detail"]) == ("never-fits", True)
    wrong = bank._ask("POST", "/jobs", 422, json=body | {"need": ["zone==a"]})
    assert "a label of a host is a name or NAME=VALUE" in str(wrong)
