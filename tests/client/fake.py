"""What a service that follows the contract answers, in memory."""

from __future__ import annotations

import threading
from typing import Any
from urllib.parse import parse_qs, urlsplit

Document = dict[str, Any]
TOKEN = "secret-of-the-fake"
NOW = "2026-01-05T09:00:00.123456Z"
LATER = "2026-01-05T09:00:02.500000Z"
COUNTS = ("waiting", "delayed", "running", "done", "failed", "cancelled", "reclaimed")
PLAN = """\
fairhold: 1
resource_groups: {compute: {slots: 10}}
consumers: {Trading: {}, Research: {}}
policies:
  - resource_groups: [compute]
    policy: hybrid
    consumers: {/Trading: {owned: 6}, /Research: {owned: 4}}
"""


def fault(code: str, what: str, mend: str = "", place: str = "", line: int = 0) -> Document:
    return {"code": code, "what": what, "mend": mend, "file": "", "line": line, "place": place}


class Problem(Exception):  # noqa: N818 - as HTTP calls it
    def __init__(self, status: int, *faults: Document) -> None:
        self.status, self.faults = status, list(faults)


def consumer(path: str, *, leaf: bool = True, **numbers: int) -> Document:
    names = (
        "owned",
        "reserved",
        "demand",
        "allocated",
        "quota",
        "borrowed",
        "lent",
        "waiting",
        "reclaiming",
        "running",
    )
    return {"path": path, "leaf": leaf, "limit": None, "users": {}} | dict.fromkeys(names, 0) | numbers


class Fake:
    """What the service knows.

    streams : what the next connections that follow events get; without one the service stops
    cuts : how the next connections end, first things first: `before` a request is carried out, `during` its answer,
           `after` it was carried out and before an answer; `ok` = not at all
    asked : every request that came whole: method, path with query, body
    """

    def __init__(self) -> None:
        self.jobs: dict[str, Document] = {}
        self.keys: dict[str, str] = {}
        self.outputs: dict[tuple[str, int, int], bytes] = {}
        self.tasks: dict[str, list[Document]] = {}
        self.cuts: list[str] = []
        self.asked: list[tuple[str, str, Any]] = []
        self.hosts_called: list[str] = []
        self.enforced: dict[str, dict[str, str]] = {}
        self.plans = [PLAN]
        self.problems: dict[str, Problem] = {}
        self.stopped: list[str] = []
        self.streams: list[bytes] = []
        self.lock = threading.Lock()
        self.on_wait: Any = None
        self.page = 1000
        self.begin = self.unbalanced = self.currency = self.prefix = ""
        self.kinds: tuple[str, ...] = ()
        self.url = ""
        self.socket = ""
        self.groups: Document = {
            "compute": {
                "slots": 10,
                "idle": 1,
                "consumers": [
                    consumer("/Trading", leaf=False, owned=6, allocated=2, lent=4),
                    consumer("/Trading/Risk", owned=6, allocated=2, quota=2, lent=4, demand=2),
                    consumer(
                        "/Research", owned=4, allocated=7, quota=8, borrowed=3, waiting=20, reclaiming=1, demand=27
                    ),
                ],
            }
        }

    def add(self, body: Document) -> Document:
        name = str(len(self.jobs) + 1)
        counts = dict.fromkeys(COUNTS, 0) | {"tasks": body.get("count", 1), "waiting": body.get("count", 1)}
        self.jobs[name] = {
            "job": name,
            "name": body.get("name", ""),
            "consumer": body["consumer"],
            "resource_group": "compute",
            "user": "ann",
            "state": "held" if body.get("hold") else "waiting",
            "reason": "held" if body.get("hold") else "no-slots",
            "text": "all slots of its leaf are in use",
            "priority": body.get("priority", 0),
            "units": body.get("units", 1),
            "tasks": counts,
            "submitted": NOW,
            "ended": None,
            "labels": body.get("labels", {}),
            "argv": body["argv"],
            "directory": body.get("directory", "/"),
            "hold": None,
            "after": body.get("after", []),
            "throttle": body.get("throttle", 0),
            "retries": body.get("retries", 0),
            "time_limit": 0,
            "exit_code": None,
        }
        return self.jobs[name]

    def end(self, name: str, code: int = 0) -> None:
        job = self.jobs[name]
        state = "done" if code == 0 else "failed"
        job.update(state=state, reason=None, text="", ended=LATER, exit_code=code)
        job["tasks"] |= {"waiting": 0, "running": 0, state: job["tasks"]["tasks"]}

    def run(self, name: str, outputs: list[bytes], code: int = 0) -> None:
        """Let every task have run, and the job be over."""
        self.end(name, code)
        state = self.jobs[name]["state"]
        rows = []
        for task, data in enumerate(outputs):
            self.outputs[name, task, 1] = data
            rows.append({"task": task, "state": state, "attempts": [self.attempt(1, "finished", code)]})
        self.tasks[name] = rows

    @staticmethod
    def attempt(number: int, reason: str | None, code: int | None) -> Document:
        return {
            "attempt": 100 + number,
            "number": number,
            "host": "",
            "units": 1,
            "state": "ended" if reason else "running",
            "reason": reason,
            "code": code,
            "signal": None,
            "detail": "",
            "started": NOW,
            "ended": LATER if reason else None,
            "deadline": None,
            "for": None,
        }

    # Requests

    def answer(self, method: str, url: str, body: Any, headers: Any) -> Any:  # noqa: PLR0911 - as below
        parts = urlsplit(url)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        path = parts.path.removeprefix("/v1/").split("/")
        if "/".join(path) in self.problems:
            raise self.problems["/".join(path)]
        if path[0] == "jobs":
            return self._jobs(method, path[1:], query, body, headers)
        if path[0] == "plan":
            return self._plan(method, path[1:], query, body, headers)
        if path == ["events"] and headers.get("Accept") == "text/event-stream":
            return self._stream()
        if path == ["metrics"]:
            return 200, b"fairhold_jobs 1\n", {}
        if path[0] == "stop":
            self.stopped.append(body["how"])
            return 202, body, {}
        if path[0] == "groups":
            is_paused = path[2] == "pause"
            return 200, {"resource_group": path[1], **{name: is_paused and body[name] for name in body}}, {}
        if path[0] == "hosts" and method == "POST":
            state = {"open": "up", "close": "draining" if (body or {}).get("drain") else "closed"}[path[2]]
            why = (body or {}).get("reason", "drained" if (body or {}).get("drain") else "")
            return 200, self._host(path[1], state, why), {}
        found: Document = {
            "consumers": {"resource_groups": self.groups},
            "consumers/explanation": {"text": f"{query.get('consumer')} in compute: quota 2", "explanations": []},
            "hosts": {"hosts": [self._host("g1", "up", ""), self._host("g2", "closed", "starts fail")]},
            "health": {"state": "ok", "started": NOW, "entries": 7},
            "usage": self._usage(query),
            "allocations": {"allocations": []},
            "cycles": {"cycles": []},
            "events": {"events": [], "next": 0},
        }
        document = found.get("/".join(path))
        if document is None:
            raise Problem(404, fault("no-such-page", f"there is no {parts.path}"))
        return 200, document, {}

    def _stream(self) -> Any:
        if not self.streams:
            raise Problem(503, fault("stopping", "the service stops"))
        return 200, self.streams.pop(0), {}

    def _host(self, name: str, state: str, reason: str) -> Document:
        return {
            "host": name,
            "machine": name,
            "resource_groups": {"compute": 8},
            "state": state,
            "reason": reason,
            "enforced": self.enforced.get(name),
            "connected": True,
            "since": NOW,
            "running": 2,
            "starting": 0,
            "refusals": 0,
        }

    def _usage(self, query: Document) -> Document:
        keys = query.get("by", "consumer").split(",")
        found = ("slots", "", "12.5"), ("slots", "", "3600"), ("gpu", "", "5400"), ("memory", "GiB", "3600")
        rows: list[Document] = [
            {key: f"{self.prefix}{key}{at}" for key in keys}
            | {"resource": name, "unit": unit, "resource_seconds": text}
            for at, (name, unit, text) in enumerate(found)
            if name in query.get("resource", name).split(",")
        ]
        rows[-1] |= {key: f"{self.prefix}{key}2" for key in keys}
        for row, kind in zip(rows, self.kinds, strict=False) if "kind" in keys else ():
            row["kind"] = kind
        for row, cost in zip(rows, ("1.2345", "-0.001", "3"), strict=False) if self.currency else ():
            row["cost"] = cost
        costs = {"currency": self.currency, "cost": "-4.2335", "unpriced": ["memory"]} if self.currency else {}
        dominant = {key: f"{key}2" for key in keys} | {"resource": "gpu", "share": "0.4207", "cluster_seconds": "1"}
        return {
            "from": self.begin or query.get("from", NOW),
            "to": query.get("to", LATER),
            "by": keys,
            "rows": rows,
            "capacity": [
                {"hour": "hour2", "resource": "gpu", "unit": "", "up_seconds": "7200", "down_seconds": "0"}
                | {"reserved_seconds": "360", "held_seconds": "5400"}
            ],
            "capacity_from": NOW,
            "capacity_whole": True,
            **costs,
            "dominant": [dominant],
            "balance": [{"resource": "gpu", "borrowed_seconds": "2", "lent_seconds": "1", "why": self.unbalanced}],
        }

    def _jobs(self, method: str, path: list[str], query: Document, body: Any, headers: Any) -> Any:  # noqa: PLR0911 - one for each address
        if not path:
            return self._submit(body, headers) if method == "POST" else (200, self._list(query), {})
        if path == ["check"]:
            return 200, {"resource_group": "compute", "tasks": body.get("count", 1), "units": body.get("units", 1)}, {}
        job = self.jobs.get(path[0])
        if job is None:
            raise Problem(404, fault("unknown-job", f"there is no job `{path[0]}`", "`fairhold jobs --all` shows them"))
        if len(path) == 1 and method == "GET":
            if "wait" in query and job["ended"] is None and self.on_wait:
                self.on_wait(path[0])
            return 200, job, {}
        if len(path) == 1:
            job.update(body)
            return 200, job, {}
        if path[1] == "tasks" and len(path) == 2:
            start = int(query.get("cursor", 0))
            rows = self.tasks.get(path[0], [])
            size = min(int(query.get("limit", 100)), self.page)
            after = start + size if start + size < len(rows) else None
            return 200, {"tasks": rows[start : start + size], "next": None if after is None else str(after)}, {}
        if path[1] == "tasks":
            return self._output(path[0], int(path[2]), query)
        if path[1] == "explanation":
            return 200, self._explanation(job), {}
        if path[1] in {"hold", "release", "requeue"} and job["ended"]:
            raise Problem(409, fault("job-over", f"job `{path[0]}` is over", "submit it again"))
        if path[1] == "cancel" and not job["ended"]:
            self.end(path[0], 1)
        state = {"cancel": "cancelled", "hold": "held", "release": "waiting", "requeue": "waiting"}[path[1]]
        job["state"] = state
        return 200, job, {}

    def _list(self, query: Document) -> Document:
        rows = [row for row in reversed(self.jobs.values()) if query.get("all") == "1" or row["ended"] is None]
        rows = [row for row in rows if query.get("state") in (None, row["state"])]
        start = int(query.get("cursor", 0))
        size = min(int(query.get("limit", 100)), self.page)
        after = start + size if start + size < len(rows) else None
        return {"jobs": rows[start : start + size], "next": None if after is None else str(after)}

    def _submit(self, body: Document, headers: Any) -> tuple[int, Document, Document]:
        if body["consumer"] not in {"/Trading", "/Research"}:
            raise Problem(
                422, fault("unknown-consumer", f"there is no leaf `{body['consumer']}`", "did you mean `/R`?")
            )
        key = headers.get("Idempotency-Key")
        if key and key in self.keys:
            return 200, self.jobs[self.keys[key]], {}
        job = self.add(body)
        if key:
            self.keys[key] = job["job"]
        return 201, job, {}

    def _output(self, job: str, task: int, query: Document) -> Any:
        numbers = [number for name, index, number in self.outputs if (name, index) == (job, task)]
        number = int(query.get("attempt", 0)) or max(numbers, default=0)
        if number and number not in numbers:
            raise Problem(404, fault("unknown-attempt", f"task {task} has no attempt {number}"))
        if self.on_wait and "wait" in query:
            self.on_wait(job)
        offset, limit = int(query["offset"]), min(int(query["limit"]), self.page)
        data = self.outputs.get((job, task, number), b"")[offset : offset + limit]
        rows = self.tasks.get(job, [])
        attempts = rows[task]["attempts"] if task < len(rows) else []
        is_over = any(each["number"] == number and each["ended"] for each in attempts)
        ended = is_over and len(data) < limit
        head = {"Fairhold-Attempt": number, "Fairhold-Next": offset + len(data), "Fairhold-Ended": int(ended)}
        return 200, data, head

    @staticmethod
    def _explanation(job: Document) -> Document:
        return {
            "job": job["job"],
            "state": job["state"],
            "reason": job["reason"],
            "text": job["text"],
            "place": 3,
            "leaf": {"quota": 2, "allocated": 2, "demand": 5, "limit": None, "owned": 4},
            "bound": "ratio",
            "holders": [{"consumer": "/Research", "units": 3, "deadline": LATER}],
            "notices": [],
            "reclaims": [{"attempt": 101, "cycle": 12, "rule": "R-RECLAIM-4", "for": "/Trading", "at": NOW,
                          "deadline": LATER}],
        }  # fmt: skip

    def _plan(self, method: str, path: list[str], query: Document, body: Any, headers: Any) -> Any:
        version = len(self.plans)
        head = {"version": version, "at": NOW, "author": "ann", "comment": "", "until": None}
        if method == "GET" and path == ["versions"]:
            last = int(query.get("before", version + 1)) - 1
            return 200, {"versions": [head | {"version": at} for at in range(last, 0, -1)][: int(query["limit"])]}, {}
        if method == "GET":
            wanted = int(path[1]) if path else version
            return 200, head | {"version": wanted, "text": self.plans[wanted - 1]}, {"ETag": f'"{wanted}"'}
        difference = {
            "now": NOW,
            "resource_groups": {"compute": {"consumers": {}}},
            "reclaims": {"added": [], "removed": []},
        }
        if path in (["check"], ["diff"]):
            self._refuse(body["text"])
            return 200, {"faults": [], "warnings": [], "balances": []} if path == ["check"] else difference, {}
        if headers.get("If-Match") != f'"{version}"':
            raise Problem(412, fault("plan-changed", f"plan {version} is in force", "make the change again"))
        text = self.plans[(body.get("to") or version - 1) - 1] if path == ["revert"] else body["text"]
        self._refuse(text)
        if query.get("dry_run") != "1":
            self.plans.append(text)
        return 200, {"version": len(self.plans), "warnings": [], "diff": difference}, {}

    @staticmethod
    def _refuse(text: str) -> None:
        if "broken" in text:
            raise Problem(422, fault("unknown-key", "`broken` means nothing here", "remove it", "broken", 3))
