"""Between the core and the governor of a cluster: pods become jobs, and jobs find their pods again after a start."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from fairhold.engines.kubernetes.reports import AllSeen, Appeared, NodesChanged, Replaced
from fairhold.engines.kubernetes.works import AWAITED
from fairhold.errors import Fault, InputError
from fairhold.orchestrator.events import JobCancelled, JobChanged, TaskAdopted
from fairhold.runtime.live import in_force
from fairhold.runtime.live.submitting import Submission

if TYPE_CHECKING:
    from fairhold.engines.kubernetes.governor import Governor, Report
    from fairhold.orchestrator.tasks import JobRecord
    from fairhold.runtime.live.core import Core

_LOG = logging.getLogger("fairhold")


class Governing:
    """Hands the governor's reports to the core, and answers them."""

    def __init__(self, core: Core, governor: Governor) -> None:
        self.governor = governor
        self._job_of = _jobs_by_pod(core)
        """Uid of a pod → job, of jobs from before this start that were not met again."""

    def begin(self, core: Core) -> None:
        """A round begins: tell the governor what clients have changed."""
        if core.plan is not self.governor.asking.plan:
            self.governor.use(core.plan)
        for job in core.over:
            self.governor.is_over(job)

    def take(self, core: Core, report: Report) -> None:
        """Hand a report to the core."""
        if isinstance(report, NodesChanged):
            if in_force.change_nodes(core, report.nodes):
                self.governor.use(core.plan)
        elif isinstance(report, Appeared):
            self._ask(core, report)
        elif isinstance(report, Replaced):
            self._replace(core, report)
        elif isinstance(report, AllSeen):
            self._compare(core, report.uids)
        else:
            try:
                core.feed(report)
            except InputError as error:  # the job is over meanwhile, or the node is no host
                _LOG.debug("not done: %s", error)

    def _ask(self, core: Core, asked: Appeared) -> None:
        """Work has appeared: it gets a job, finds the one that it had, or is refused."""
        uid = asked.work[0]
        job = self._job_of.pop(uid, "")
        known = core.cluster.jobs.get(job)
        if asked.is_going and (known is None or asked.attempt not in known.attempts):
            self.governor.unwanted(uid)
            return
        group = asked.terms.resource_group
        if not job and asked.host and (group, asked.host) not in core.cluster.hosts:
            what = f"it runs on the node `{asked.host}`, which is no host of `{asked.terms.consumer}`"
            self.governor.refused(
                uid, Fault("unknown-host", what, "compare `nodes` of the plan with the node's labels")
            )
            return
        if not job:
            try:
                job = core.submit(Submission(asked.user, uid, asked.terms, asked.spec))
            except InputError as error:
                self.governor.refused(uid, error.faults[0])
                return
        record = core.cluster.jobs.get(job)
        if record is None or record.is_cancelled or record.is_over:
            self.governor.unwanted(uid)
            return
        self._find(core, asked, record)

    def _find(self, core: Core, asked: Appeared, job: JobRecord) -> None:
        """Tell the governor where a pod stands: it waits, was let go, or is adopted as it runs already."""
        uid, attempts = asked.work[0], job.attempts
        if attempts and asked.attempt not in {0, *attempts}:  # from before another attempt of its job
            self.governor.unwanted(uid)
            return
        if not attempts and asked.host:
            try:
                core.feed(TaskAdopted(job.name, asked.host, asked.is_running))
            except InputError as error:
                core.feed(JobCancelled(job.name))
                self.governor.refused(uid, error.faults[0])
                return
            attempts = job.attempts
        if not attempts:
            self.governor.accepted(uid, job.name)
            return
        number = asked.attempt if asked.attempt in attempts else next(iter(attempts))
        self.governor.accepted(uid, job.name, number, core.cluster.attempts[number].places[0][0])

    def _replace(self, core: Core, report: Replaced) -> None:
        """A pod takes the place of another: later starts find the job by it."""
        spec = core.specs.of(report.job)
        if report.job in core.cluster.jobs and spec is not None:
            core.change(JobChanged(report.job), dict(spec.labels) | dict(report.labels))

    def _compare(self, core: Core, uids: frozenset[str]) -> None:
        """Jobs from before this start whose pods are not there any more are over, but those that wait for another."""
        for uid, job in self._job_of.items():
            record = core.cluster.jobs.get(job)
            if uid in uids or record is None:
                continue
            labels = spec.labels if (spec := core.specs.of(job)) else {}
            if record.hold == AWAITED and "owner" in labels:
                self.governor.vacant(job, (labels["owner"], labels.get("index", "")))
            else:
                core.feed(JobCancelled(job))
        self._job_of = {}


def _jobs_by_pod(core: Core) -> dict[str, str]:
    """Uid of a pod → job that has not ended."""
    found = {}
    for job in core.cluster.jobs:
        spec = core.specs.of(job)
        if spec is not None and "uid" in spec.labels:
            found[spec.labels["uid"]] = job
    return found
