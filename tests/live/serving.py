"""A service without HTTP in a process of its own, to be killed: it accepts jobs on standard input.

Every line is a job: KEY CONSUMER COUNT, or KEY CONSUMER COUNT together, whose tasks wait for one another before they
end. What is accepted, durably, is answered with KEY JOB.
"""

import json
import logging
import sys
from pathlib import Path

from fairhold.model.spec import Spec
from fairhold.orchestrator.events import JobSubmitted
from fairhold.runtime.live.opening import LiveSettings, open_live
from fairhold.runtime.live.submitting import Submission

SLOTS = 6
PLAN = f"""\
fairhold: 1
cluster: storm
resource_groups: {{compute: {{slots: {SLOTS}}}}}
consumers:
  A: {{reclaim_grace: 200ms}}
  B: {{reclaim_grace: 200ms}}
policies:
  - resource_groups: [compute]
    policy: hybrid
    consumers: {{/A: {{owned: 3}}, /B: {{owned: 3}}}}
"""
TASK = str(Path(__file__).with_name("task.sh"))


def main(directory: Path) -> None:
    logging.basicConfig(level=logging.WARNING)
    plan = directory / "plan.yaml"
    if not plan.exists():
        plan.write_text(PLAN)
    live = open_live(LiveSettings(plan, directory / "state"))
    sys.stdout.write("open\n")
    sys.stdout.flush()
    for line in sys.stdin:
        if line.strip() == "status":
            status = live.desk.read(
                lambda core: {
                    "jobs": len(core.orchestrator.jobs),
                    "attempts": len(core.orchestrator.attempts),
                    "held": sum(core.orchestrator.books["compute"].held),
                    "used": list(core.orchestrator.books["compute"].hosts.used),
                    "connected": [each.is_connected for each in live.hub.status()],
                }
            ).result()
            sys.stdout.write("status " + json.dumps(status) + "\n")
            sys.stdout.flush()
            continue
        if line.strip() == "close":
            break
        key, consumer, count, *together = line.split()
        argv = ("sh", TASK, str(directory / "work"), key, "{index}", *(count for _ in together))
        spec = Spec(consumer, argv, {"PATH": "/usr/bin:/bin"}, "/")
        asked = Submission("storm", key, JobSubmitted("", consumer, "compute", int(count)), spec)
        job = live.desk.write(lambda core, asked=asked: core.submit(asked)).result()  # type: ignore[misc]
        sys.stdout.write(f"{key} {job}\n")
        sys.stdout.flush()
    live.close(with_agent=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
