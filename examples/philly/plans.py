"""Five plans for one workload: who asks for more owns more, and the policies differ in what they do with it.

Reads what `fairhold workload show --json` says of a workload, and writes the plans side by side:

    fairhold workload show scenario.yaml --json | python plans.py --gpus 480 --folder .
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

GRACE = "10m"
HOST = 8
"""GPUs of a host."""

SLOTS = "resource_groups:\n  gpu: {{slots: {gpus}}}\n"
HOSTS = "resources: {{gpu: {{}}}}\nresource_groups:\n  gpu:\n    hosts:\n      - {{name: {hosts}, gpu: 8}}\n"
PLANS = {
    "static": ("ownership", SLOTS, "{{owned: {gpus}, limit: {gpus}}}"),
    "hybrid": ("hybrid", SLOTS, "{{owned: {gpus}}}"),
    "share_ratio": ("share_ratio", SLOTS, "{{share_ratio: {gpus}}}"),
    "multidimensional": (
        "multidimensional",
        HOSTS,
        "{{own: [{{resource_group: gpu, total: {{gpu: {gpus}}}}}], share_ratio: {gpus}}}",
    ),
    "fair_share": ("fair_share", HOSTS, "{{deserved: {{gpu: {gpus}}}, over_quota_weight: {{gpu: {gpus}}}}}"),
}
"""Name of a plan → its policy, what there is, and what a consumer is given."""


def divided(work: dict[str, int], gpus: int) -> dict[str, int]:
    """GPUs in proportion to work, whole ones, one at least: largest remainder, ties by name."""
    owned: dict[str, int] = {}
    rest = dict(work)
    while small := [name for name in rest if rest[name] * (gpus - len(owned)) <= sum(rest.values())]:
        for name in small:
            owned[name] = 1
            del rest[name]
    left, total = gpus - len(owned), sum(rest.values())
    for name, seconds in rest.items():
        owned[name] = left * seconds // total
    by_remainder = sorted(rest, key=lambda name: (-(left * rest[name] % total), name))
    for name in by_remainder[: gpus - sum(owned.values())]:
        owned[name] += 1
    return {name: owned[name] for name in work}


def plan(policy: str, group: str, settings: str, owned: dict[str, int]) -> str:
    """The text of a plan file."""
    gpus = sum(owned.values())
    hosts = -(-gpus // HOST)
    lines = [f"# Written by plans.py: {gpus} GPUs, divided by the work of each virtual cluster.", "fairhold: 1"]
    lines.append(group.format(gpus=gpus, hosts=f'"g[01-{hosts:02}]"').rstrip())
    lines.append("consumers:")
    lines += [f'  "{name[1:]}": {{reclaim_grace: {GRACE}}}' for name in owned]
    lines += ["policies:", "  - resource_groups: [gpu]", f"    policy: {policy}", "    consumers:"]
    lines += [f'      "{name}": {settings.format(gpus=gpus)}' for name, gpus in owned.items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the plans."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpus", type=int, default=480, help="how many there are; whole hosts of 8")
    parser.add_argument("--folder", type=Path, default=Path(), help="where the plans go")
    arguments = parser.parse_args()
    if arguments.gpus % HOST:
        parser.error(f"--gpus: write a multiple of {HOST}")
    shown = json.load(sys.stdin)
    work = {name: of["unit_seconds"] for name, of in sorted(shown["consumers"].items())}
    if not 0 < len(work) <= arguments.gpus:
        parser.error("--gpus: there has to be one for every consumer")
    if not any(work.values()):
        parser.error("there is no work by which to divide")
    owned = divided(work, arguments.gpus)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name, (policy, group, settings) in PLANS.items():
        (arguments.folder / f"{name}.yaml").write_text(plan(policy, group, settings, owned))


if __name__ == "__main__":
    main()
