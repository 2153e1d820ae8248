"""The pods of a governed cluster: where each stands, and why."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fairhold.engines.kubernetes.work import RUNS, camel, standing
from fairhold.errors import Fault, InputError, printable
from fairhold.runtime.live.views.waiting import reason_of
from fairhold.units import format_instant

if TYPE_CHECKING:
    from fairhold.engines.kubernetes.governor import Governor
    from fairhold.engines.kubernetes.work import Work
    from fairhold.runtime.live.core import Core

Document = dict[str, Any]


def pods_document(core: Core, governor: Governor, namespace: str, state: str, most: int) -> Document:
    """The first pods that are governed and not over, by namespace and name, with the reasons that are known already.

    namespace, state : of them alone, empty = of all
    """
    works = (work for work in governor.works.of.values() if not work.is_told)
    found = [work for work in works if namespace in {"", work.pod.namespace} and state in {"", standing(work)}]
    found.sort(key=lambda work: (work.pod.namespace, work.pod.name, work.pod.uid))
    rows = [_row(core, work, *_known(governor, work)) for work in found[:most]]
    return {"pods": rows, "left_out": max(0, len(found) - most)}


def pod_document(core: Core, governor: Governor, namespace: str, name: str) -> Document:
    """One pod; of several of a name, of which all but one are ending, the latest. Raises InputError `unknown-pod`."""
    there = [work for work in governor.works.of.values() if (work.pod.namespace, work.pod.name) == (namespace, name)]
    if not there:
        what = f"no pod `{printable(name)}` of the namespace `{printable(namespace)}` is governed"
        raise InputError([Fault("unknown-pod", what, "`fairhold kubernetes pods` shows those that are")])
    work = there[-1]
    job = core.cluster.jobs.get(work.job)
    reason = reason_of(core, job) if job is not None and standing(work) == "waiting" else None
    if reason is None:
        return _row(core, work, *_known(governor, work))
    return _row(core, work, camel(reason.code), governor.fleet.in_words(reason.text))


def _known(governor: Governor, work: Work) -> tuple[str, str]:
    """Why it waits, as far as that was looked for; why it is stopped, or cannot start; that its node is gone."""
    if work.attempt and (since := governor.fleet.gone_since(work.host)):
        text = f"its node {work.host} was deleted at {format_instant(since)}: it keeps its units until the node is back"
        return "NodeGone", text
    if work.stopping:
        return camel(work.stopping), work.notice or work.stopping
    if not work.attempt:
        return work.why
    return ("", "") if work.said == RUNS else work.said


def _row(core: Core, work: Work, reason: str, text: str) -> Document:
    pod, job = work.pod, core.cluster.jobs.get(work.job)
    return {
        "namespace": pod.namespace,
        "pod": pod.name,
        "uid": pod.uid,
        "state": standing(work),
        "consumer": job.consumer if job else None,
        "job": work.job or None,
        "task": work.index if work.job else None,
        "node": work.host or pod.node or None,
        "reason": reason or None,
        "text": text,
        "notice": json.loads(work.notice) if work.notice else None,
        "would": None,
    }
