"""What a job says of hosts, on its way from the command line or a job file to the service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cli.live.test_live_commands import fairhold

if TYPE_CHECKING:
    from pathlib import Path

    from tests.client.fake import Fake

SAID = ("need", "prefer", "avoid", "place")


def test_options_and_keys_say_the_same(fake: Fake, tmp_path: Path) -> None:
    """R-SITE-1, R-SITE-3."""
    options = ("--need", "zone=a", "--need", "ssd", "--prefer", "rack=3", "--avoid", "old", "--pack")
    fairhold("submit", "/Research", *options, "--", "true")
    file = tmp_path / "jobs.yaml"
    job = "{consumer: /Research, argv: [x], need: [zone=a, ssd], prefer: rack=3, avoid: [old], place: pack}"
    file.write_text(f"fairhold_jobs: 1\njobs:\n  - {job}\n")
    fairhold("submit", "--file", str(file))
    sent = [body for method, url, body in fake.asked if (method, url) == ("POST", "/v1/jobs")]
    right = {"need": ["zone=a", "ssd"], "prefer": ["rack=3"], "avoid": ["old"], "place": "pack"}
    assert [{name: body[name] for name in SAID} for body in sent] == [right, right]


def test_a_job_spreads_or_packs(fake: Fake) -> None:
    assert "exclude each other" in fairhold("submit", "/Research", "--spread", "--pack", "--", "true", exits=2).stderr
    assert not fake.jobs
