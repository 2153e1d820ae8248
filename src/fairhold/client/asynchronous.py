"""The client for asyncio; what `synchronous` has, to be awaited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from fairhold.client import looking, typed
from fairhold.client import steps as ask
from fairhold.client.clusters import AsyncClusterCalls
from fairhold.client.following import follow_async
from fairhold.client.people_asynchronous import AsyncPeopleCalls
from fairhold.client.what_if import AsyncWhatIfCalls

if TYPE_CHECKING:
    import os
    from collections.abc import AsyncIterator, Mapping, Sequence

    from fairhold.client.answers import Consumer, File, Host, Job, Plan, Result, Task
    from fairhold.client.exchange import Document
    from fairhold.client.typed import After, JobOrName, Moment, Terms

    Words = Mapping[str, str]
    Span = str | int | None
    When = Moment | None


class AsyncClient(AsyncPeopleCalls, AsyncClusterCalls, AsyncWhatIfCalls):
    """A service; to be closed, as by `async with`.

    Requests that are safe to repeat are repeated where the connection breaks, also a submission under its key.
    Errors: `Refused` where the service says what is wrong with a request, `ServiceError` where its side failed.
    """

    # Jobs

    async def submit(
        self,
        consumer: str,
        argv: Sequence[str],
        *,
        resource_group: str | None = None,
        name: str = "",
        count: int = 1,
        units: int = 1,
        unit: Mapping[str, int | float | str] | None = None,
        min_count: int = 0,
        preemptible: bool | None = None,
        throttle: int = 0,
        priority: int = 0,
        time_limit: str | int | None = None,
        memory: int | None = None,
        environment: Words | None = None,
        directory: str | os.PathLike[str] | None = None,
        stdin: bytes = b"",
        hold: bool = False,
        after: After = (),
        retries: int = 0,
        backoff: str | int | None = None,
        signal: str | None = None,
        lead: str | int | None = None,
        labels: Words | None = None,
        need: Sequence[str] = (),
        prefer: Sequence[str] = (),
        avoid: Sequence[str] = (),
        place: str | None = None,
        user: str | None = None,
        notify: Sequence[str] | None = None,
        key: str | None = None,
    ) -> Job:
        """Submit a job; when this returns, it is durable.

        argv        : the command, without a shell; `{index}` is the number of the task, from 0
        count       : tasks; units: slots of each; throttle: how many may run at once, 0 = any number
        unit        : what each task needs of resources, by name; min_count: tasks that begin together or not at all
        preemptible : of a queue, whether its units may be taken back; None = by its priority, below 100
        time_limit, backoff, lead : text such as `30s`, or seconds
        environment : the whole of it; None = the caller's. directory: None = the caller's
        after       : jobs to wait for: a job, `"ok:17"`, or a pair of a job and `ok`, `fail` or `any`
        signal      : that tells of a reclaim, `TERM` by itself
        need, prefer, avoid : labels of hosts, `name` or `name=value`; place: `spread` or `pack`
        key         : the same key again is the same job; None = a new one
        """
        others: dict[str, object] = {
            "resource_group": resource_group,
            "name": name,
            "count": count,
            "units": units,
            "unit": None if unit is None else dict(unit),
            "min_count": min_count,
            "preemptible": preemptible,
            "throttle": throttle,
            "priority": priority,
            "time_limit": time_limit,
            "memory": memory,
            "hold": hold,
            "retries": retries,
            "backoff": backoff,
            "signal": signal,
            "lead": lead,
            "labels": dict(labels or {}),
            "need": list(need),
            "prefer": list(prefer),
            "avoid": list(avoid),
            "place": place,
            "user": user,
            "notify": None if notify is None else list(notify),
        }
        return await self._run(
            typed.submit(
                consumer,
                argv,
                key=key,
                after=after,
                environment=environment,
                directory=directory,
                stdin=stdin,
                others=others,
            )
        )

    async def check_job(self, consumer: str, argv: Sequence[str], **terms: Unpack[Terms]) -> Document:
        """Whether a job would be accepted now, by itself; nothing is submitted. terms: as of `submit`."""
        return await self._run(typed.check_job(consumer, argv, terms))

    async def job(self, job: JobOrName, *, expected: bool = False) -> Job:
        """A job as it is now; `expected`: in `document` also when a task that waits will start."""
        return await self._run(typed.job(job, is_expected=expected))

    async def jobs(
        self,
        *,
        consumer: str | None = None,
        state: str | None = None,
        user: str | None = None,
        label: str | None = None,
        text: str | None = None,
        sort: str | None = None,
        finished: bool = False,
        expected: bool = False,
        limit: int = 0,
    ) -> list[Job]:
        """Jobs, `finished` ones too if wished; `expected`: starts in `document`; limit: 0 = all. label: `key:value`.

        sort : a column of `GET /v1/jobs`, as `priority`, or `-priority` for the highest first; None = the newest first
        """
        said = {"consumer": consumer, "state": state, "user": user, "label": label, "text": text, "sort": sort}
        query = typed.jobs_query(**said, finished=finished, expected=expected)
        return await self._run(typed.jobs(query, limit))

    async def wait(self, job: JobOrName, timeout: float | None = None) -> Job:  # noqa: ASYNC109 - of the job, which goes on
        """Wait until a job has ended, also while the service restarts. Raises TimeoutError."""
        return await self._run(typed.wait(job, timeout))

    async def tasks(self, job: JobOrName) -> list[Task]:
        """Tasks of a job with their attempts."""
        return await self._run(typed.tasks(job))

    async def output(self, job: JobOrName, task: int = 0, attempt: int | None = None, *, offset: int = 0) -> bytes:
        """What a task has written until now, from `offset` on; of its latest attempt where none is named."""
        return await self._run(typed.output(job, task, attempt, offset))

    async def files(self, job: JobOrName, path: str = "", task: int = 0, attempt: int | None = None) -> list[File]:
        """What a task has left in its job directory, or in a folder of it, on the host of its latest attempt."""
        return await self._run(typed.files(job, path, task, attempt))

    async def file(self, job: JobOrName, path: str, task: int = 0, attempt: int | None = None) -> bytes:
        """A file in the job directory of a task, whole."""
        return await self._run(typed.file(job, path, task, attempt))

    async def results(self, job: JobOrName, timeout: float | None = None) -> list[Result]:  # noqa: ASYNC109 - of the job, which goes on
        """Wait until a job has ended; returns the result of every task, with its output. Raises TimeoutError."""
        return await self._run(typed.results(job, timeout))

    async def cancel(self, job: JobOrName) -> Job:
        """Stop a job and all of its tasks."""
        return await self._run(typed.act(job, "cancel"))

    async def hold(self, job: JobOrName, reason: str = "") -> Job:
        """Hold a job: start no more of its tasks."""
        return await self._run(typed.act(job, "hold", {"reason": reason}))

    async def release(self, job: JobOrName) -> Job:
        """Release a held job."""
        return await self._run(typed.act(job, "release"))

    async def requeue(self, job: JobOrName) -> Job:
        """Stop the running tasks of a job and queue them again."""
        return await self._run(typed.act(job, "requeue"))

    async def change(
        self, job: JobOrName, *, priority: int | None = None, consumer: str | None = None, labels: Words | None = None
    ) -> Job:
        """Change the priority, consumer or labels of a job; None = unchanged."""
        changes = {"priority": priority, "consumer": consumer, "labels": None if labels is None else dict(labels)}
        return await self._run(typed.change(job, changes))

    async def forecast(self, job: JobOrName, draws: int = 100, seed: int = 0, ahead: int = 604_800) -> Document:
        """When a waiting job will start, `p50` and `p90`; ahead: how many seconds to look ahead."""
        return await self._run(ask.forecast(typed.name_of(job), draws, seed, ahead))

    async def explain(self, job: JobOrName) -> Document:
        """Why a job waits, or what was reclaimed from it; `text` says it in words."""
        return await self._run(ask.explanation(typed.name_of(job)))

    # The cluster

    async def consumers(self) -> list[Consumer]:
        """All consumers of all resource groups, as they are now."""
        return await self._run(typed.consumers())

    async def explain_consumer(
        self, path: str, resource_group: str | None = None, *, would_help: bool = True
    ) -> Document:
        """Why a consumer's numbers are what they are now; would_help: also what would give it one more."""
        return await self._run(looking.consumer_explanation(path, resource_group, would_help=would_help))

    async def lending(self, consumer: str) -> Document:
        """Who lends a consumer and those below it what, and to whom they lend, now."""
        return await self._run(looking.lending(consumer))

    async def hosts(self) -> list[Host]:
        """All hosts."""
        return await self._run(typed.hosts())

    async def close_host(
        self, host: str, reason: str = "", *, drain: bool = False, at: When = None, by: When = None, until: When = None
    ) -> Document:
        """Close a host: it starts nothing more; an instant is a `datetime` with a time zone, or text.

        reason : may be left out of a drain
        drain  : also take back what runs there; by: an instant at which the rest is stopped
        at     : from when on, None = now; until: when it opens again, None = when somebody opens it
        """
        return await self._run(typed.close_host(host, reason, drain=drain, at=at, by=by, until=until))

    async def open_host(self, host: str) -> Document:
        """Open a closed host."""
        return await self._run(ask.open_host(host))

    async def pause(self, resource_group: str, *, grants: bool = False, reclaims: bool = False) -> Document:
        """Pause grants or reclaims in a resource group; both if neither is given."""
        return await self._run(typed.pause(resource_group, "pause", grants=grants, reclaims=reclaims))

    async def resume(self, resource_group: str, *, grants: bool = False, reclaims: bool = False) -> Document:
        """Resume what `pause` paused."""
        return await self._run(typed.pause(resource_group, "resume", grants=grants, reclaims=reclaims))

    async def allocations(self, *, consumer: str | None = None, host: str | None = None) -> list[Document]:
        """Attempts that hold slots now."""
        return await self._run(typed.rows("allocations", {"consumer": consumer, "host": host}))

    async def cycles(
        self, *, resource_group: str | None = None, before: int | None = None, limit: int = 100
    ) -> list[Document]:
        """The latest cycles, or those before a number."""
        query = {"resource_group": resource_group, "before": before, "limit": limit}
        return await self._run(typed.rows("cycles", query))

    async def cycle(self, number: int) -> Document:
        """One cycle, with what it decided as long as that is kept."""
        return await self._run(ask.cycle(number))

    async def usage(
        self,
        by: str | Sequence[str] = ("consumer",),
        *,
        resource: str | Sequence[str] = (),
        start: Moment | None = None,
        end: Moment | None = None,
        consumer: str | None = None,
        step: Span = None,
    ) -> Document:
        """Resource-seconds in `rows`, exact decimals as text; by: as `--by`; step: rows for each part."""
        return await self._run(ask.listing("usage", typed.usage_query(by, resource, (start, end), consumer, step)))

    async def events(self, after: int = 0, limit: int = 1000) -> Document:
        """Events of the log with a number above `after`; `next` is where to go on."""
        return await self._run(ask.listing("events", {"after": after, "limit": limit}))

    async def follow(self, after: int | None = None) -> AsyncIterator[Document]:
        """Events above `after` as they are committed, without an end; None = from now on.

        A connection that breaks is made again, and goes on where it broke. Refused where the log no longer reaches back
        so far.
        """
        place = (await self.health())["entries"] if after is None else after
        async for event in follow_async(self._each, self._rotation, place):
            yield event

    async def snapshot(self, until: Moment | None = None) -> Document:
        """The state at an entry of the log, `seq`, as the service keeps it; until: taken then or earlier."""
        return await self._run(ask.snapshot(typed.moment(until)))

    async def health(self) -> Document:
        """The state of the service."""
        return await self._run(ask.health())

    async def status(self) -> Document:
        """The service, its plan, hosts, what is used, who waits and the last cycle, in a few numbers."""
        return await self._run(ask.status())

    async def state(self) -> Document:
        """The live state as a state file has it, and the version of the plan in force."""
        return await self._run(ask.state())

    async def metrics(self) -> str:
        """Numbers of the service for Prometheus, as text."""
        return await self._run(ask.metrics())

    async def stop(self, how: str = "leave") -> Document:
        """Stop the service: `leave` (tasks continue), `drain` or `kill`; answered when stopping has begun."""
        return await self._run(ask.stop(how))

    # The plan

    async def plan(self, version: int | None = None) -> Plan:
        """The plan in force, or a version of it."""
        return await self._run(typed.plan(version))

    async def plan_versions(self) -> list[Plan]:
        """All versions of the plan, without their texts."""
        return await self._run(typed.plan_versions())

    async def plan_schema(self) -> Document:
        """The JSON schema of plans: their keys, and what may stand there."""
        return await self._run(looking.plan_schema())

    async def check_plan(self, text: str) -> Document:
        """Faults, warnings and balances of a plan."""
        return await self._run(ask.check_plan(text))

    async def diff_plan(
        self, text: str, was: Words | None = None, *, ahead: Span = None, checkpoint: Span = None
    ) -> Document:
        """What a plan would change now, at the coming windows and over time.

        was   : new path → old path of consumers that it calls otherwise
        ahead : how far to look, as text or whole seconds; None = seven days
        checkpoint : time between two states that tasks save, likewise; None = a stop loses all that a task has done
        """
        return await self._run(ask.diff_plan(text, was, ahead, checkpoint))

    async def apply_plan(
        self,
        text: str,
        *,
        comment: str = "",
        was: Words | None = None,
        for_: Span = None,
        seen: int | None = None,
        ahead: Span = None,
        checkpoint: Span = None,
        dry_run: bool = False,
        over_time: bool = False,
    ) -> Document:
        """Put a plan in force, whole or not at all.

        for_ : how long, after which the one before comes back; None = for good
        seen : version that the change was made from: refused where another is in force; None = the one in force
        was, ahead, checkpoint : as in `diff_plan`; over time is looked in a dry run, and where `over_time` asks
        """
        body = typed.plan_body(text, comment, was, for_, ahead, checkpoint)
        return await self._run(ask.apply_plan(body, seen, is_dry=dry_run, over_time=over_time))

    async def revert_plan(
        self,
        to: int | None = None,
        comment: str = "",
        *,
        was: Words | None = None,
        seen: int | None = None,
        dry_run: bool = False,
    ) -> Document:
        """Put an earlier plan in force again: the one before, or a version; all else is as in `apply_plan`."""
        return await self._run(ask.revert_plan(to, comment, was, seen, is_dry=dry_run))
