"""What it costs to know who asks: 10,000 users, 1,000 groups, 100,000 jobs."""

from __future__ import annotations

import json
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from fairhold.access.permissions import Permission
from fairhold.model.spec import Spec
from fairhold.orchestrator.events import JobSubmitted
from fairhold.runtime.live.core import Core
from fairhold.runtime.live.opening import Rising
from fairhold.runtime.live.people import Wished
from fairhold.runtime.live.submitting import Submission
from fairhold.runtime.live.views.consumers import consumers_document
from fairhold.runtime.live.views.jobs import Wanted, jobs_elsewhere, jobs_page
from fairhold.service.allowing import cache_of
from fairhold.service.auth import Caller, Guard, Peer
from fairhold.service.rates import Rates
from fairhold.service.settings import ServiceSettings
from fairhold.service.veil import Veil, veiled
from fairhold.store import open_store

if TYPE_CHECKING:
    from collections.abc import Callable

USERS, GROUPS, LEAVES, JOBS = 10_000, 1_000, 1_000, 100_000
_LOOPS = 2_000


def access_text() -> str:
    """Every group submits to a leaf of its own; requests have a limit, so that it is looked at."""
    users = [f"u{number}" for number in range(USERS)]
    return json.dumps(
        {
            "fairhold_access": 1,
            "others": "sums",
            "users": users,
            "groups": {f"g{number}": users[number::GROUPS] for number in range(GROUPS)},
            "bindings": [
                {"role": "submitter", "at": f"/L{number}", "groups": [f"g{number}"]} for number in range(GROUPS)
            ],
            "limits": {"requests": 10**9},
        }
    )


def plan_text() -> str:
    """A leaf for every group."""
    return json.dumps(
        {
            "fairhold": 1,
            "resource_groups": {"compute": {"slots": LEAVES}},
            "consumers": {f"L{number}": {} for number in range(LEAVES)},
            "policies": [{"resource_groups": ["compute"], "policy": "hybrid"}],
        }
    )


def filled(place: Path) -> Core:
    """A core with all of it; nothing runs."""
    store = open_store(place, now=1)
    core = Core(store, Rising(store.last_at))
    core.open(plan_text(), "plan", "bench")
    core.people.apply(core, access_text(), ("bench", ""), 0)
    for number in range(JOBS):
        leaf, user = f"/L{number % LEAVES}", f"u{number % USERS}"
        terms = JobSubmitted("", leaf, "compute", 1, user=user, is_held=True)
        core.submit(Submission(user, "", terms, Spec(leaf, ("true",), user=user)))
        if number % 5_000 == 0:
            core.commit()
    core.commit()
    return core


def people() -> dict[str, dict[str, float]]:
    """A request's way through the door, and pages of one who sees one leaf of a thousand."""
    with tempfile.TemporaryDirectory() as folder:
        core = filled(Path(folder) / "state")
        _, text = core.people.create(core, Wished("u7", "", 0, "bench"))
        guard = Guard("x" * 43, ServiceSettings(Path(folder)), core.people)
        rights = core.people.rights("u7")
        figures = {
            "who asks, and whether he may": {"ms": _one(partial(_asked, guard, text, Rates())), "goal_ms": 0.2},
            f"rights of a user of {USERS:,}, the first time": {"ms": _one(partial(_rights, core), 20)},
            f"page of one's own of {JOBS:,} jobs": {
                "ms": _one(lambda: _page(core, Wanted(sees=cache_of(rights)), rights), 10),
                "goal_ms": 50,
            },
            f"consumers, others as a sum, of {LEAVES:,}": {
                "ms": _one(lambda: veiled(consumers_document(core), Veil.of(core, rights)), 5),
                "goal_ms": 50,
            },
        }
        core.store.close()
    return figures


def _one(call: Callable[[], object], runs: int = _LOOPS) -> float:
    """Median milliseconds of processor time: nothing here waits, and others may load the machine."""
    call()
    times = []
    for _ in range(runs):
        began = time.thread_time()
        call()
        times.append((time.thread_time() - began) * 1e3)
    return round(median(times), 4)


def _asked(guard: Guard, text: str, rates: Rates) -> None:
    headers = {b"host": b"localhost", b"authorization": f"Bearer {text}".encode()}
    caller = guard.check(headers, Peer(None))
    assert isinstance(caller, Caller)
    assert rates.take(caller.user, caller.rights.limits.requests, time.monotonic())
    assert caller.rights.somewhere(Permission.SUBMIT)
    assert caller.rights.may(Permission.SUBMIT, "/L7")


def _rights(core: Core) -> None:
    core.people._rights.clear()  # noqa: SLF001 - as after a change of the document
    core.people.rights("u8")


def _page(core: Core, wanted: Wanted, rights: Any) -> None:  # noqa: ANN401 - as its neighbour has it
    page = veiled(jobs_page(core, wanted), Veil.of(core, rights))
    assert jobs_elsewhere(core, rights.sees) == JOBS * (LEAVES - 1) // LEAVES
    assert len(page["jobs"]) > 30, len(page["jobs"])
