"""Stores of earlier formats: a service takes them up with all that they have, and leaves them to no earlier one."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from fairhold.access.chain import first_break
from fairhold.access.tokens import parse_token
from fairhold.errors import InputError
from fairhold.ledger.vectors import POOLED
from fairhold.model.vector import decimal_text
from fairhold.orchestrator.events import Woken
from fairhold.orchestrator.queue_fitting import is_preemptible
from fairhold.ports.people import RecordFilter
from fairhold.runtime.live.auditing import Deed
from fairhold.runtime.live.closings import Closing, Return
from fairhold.runtime.live.contents import LiveContents
from fairhold.runtime.live.core import Core
from fairhold.runtime.live.people import Wished
from fairhold.runtime.live.views.usage import UsageQuery, usage_document
from fairhold.store import check_store, open_store
from fairhold.store.directory import FILE
from fairhold.store.schema import MIGRATIONS, steps
from fairhold.units import SECOND, parse_instant
from tests.live.play import START

STORES = Path(__file__).parent.parent / "store"
FORMAT_1, FORMAT_2, FORMAT_3, FORMAT_4, FORMAT_5, FORMAT_6 = (
    STORES / f"service_{number}.sql" for number in range(1, 7)
)
FORMAT_7, FORMAT_8 = STORES / "service_7.sql", STORES / "service_8.sql"
OF_USERS = STORES / "service_6_users.sql"
"""Of format 6, too: jobs of several users."""


LARGE = (
    *(("/", "cpu", "2"), ("/", "memory", "16"), ("/", "gpu", "1")),
    *(("/A", "cpu", "2"), ("/A", "gpu", "1"), ("/A/a1", "cpu", "2"), ("/A/a1", "gpu", "1"), ("/B", "cpu", "1")),
)
"""What a unit of 7 CPU, 16 GiB and 3 GPUs uses of whose parcels."""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """The directory of a service of format 1."""
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.executescript(FORMAT_1.read_text())
    return tmp_path


def test_a_service_of_format_1_goes_on_with_all_that_it_had(old: Path) -> None:
    assert check_store(old, LiveContents) == ()
    with closing(open_store(old)) as store:
        core = Core(store, lambda: store.last_at + 1)
        core.open("", "", "ann")
        jobs = core.cluster.jobs.values()
        assert {
            job.name: (job.waiting, job.running, job.finished, job.priority, job.hold, job.needs) for job in jobs
        } == {
            "1": (1, 1, 1, 0, None, 0),
            "2": (4, 2, 0, 3, None, 0),
            "3": (1, 2, 0, 0, None, 0),
            "4": (1, 1, 0, 1, "why", 0),
            "5": (1, 0, 0, 0, "", 0),
            "6": (5, 0, 0, 0, None, 1),
        }
        held = {name: (each.job.name, each.index, each.places) for name, each in core.cluster.attempts.items()}
        assert held == {
            5: ("2", 0, (("h2", 1),)),
            6: ("2", 1, (("h2", 1),)),
            7: ("3", 0, (("", 1),)),
            8: ("3", 1, (("", 1),)),
            9: ("4", 0, (("h1", 2),)),
            10: ("1", 3, (("h2", 1),)),
        }
        assert core.cluster.jobs["1"].delays
        assert {name: each.shut for name, each in core.cluster.machines.items()} == {
            "": None,
            "h1": "broken",
            "h2": None,
        }
        assert core.cluster.paused["gpu"] == (True, False)
        day = START + 9_000_200_020
        assert core.closings == {"h2": Closing(day, day + 90_000_000_000, "dust", drain=True)}
        assert (core.version, core.next_job, core.returns) == (2, 7, (Return(START + 50_000_200_021, 1, {}),))
        core.commit()
    assert check_store(old, LiveContents) == ()


def test_a_service_of_format_2_goes_on_with_all_that_it_had(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.executescript(FORMAT_2.read_text())
    assert check_store(tmp_path, LiveContents) == ()
    with closing(open_store(tmp_path)) as store:
        core = Core(store, lambda: store.last_at + 1)
        core.open("", "", "ann")
        jobs = core.cluster.jobs.values()
        assert {job.name: (job.waiting, job.running, job.hold, job.terms.time_limit) for job in jobs} == {
            "1": (0, 2, None, 0),
            "2": (1, 5, "why", 5_000_000),
            "3": (2, 0, None, 0),
            "4": (2, 0, None, 0),
        }
        assert core.cluster.jobs["1"].delays
        assert {name: each.places[0][0] for name, each in core.cluster.attempts.items()} == {
            **dict.fromkeys((1, 3, 4, 8), "h1"),
            **dict.fromkeys((5, 6, 7), "h2"),
        }
        notices = {name: each.notice for name, each in core.cluster.attempts.items() if each.notice}
        assert {name: (each.taker, each.cycle, each.job) for name, each in notices.items()} == {
            7: ("/A/a2", 7, ""),
            8: ("/A/a2", 7, ""),
        }
        assert core.cluster.books["compute"].spending is not None
        core.commit()
    assert check_store(tmp_path, LiveContents) == ()


def test_a_service_of_format_3_goes_on_with_all_that_it_had(tmp_path: Path) -> None:
    """Units of vectors, whose parts of parcels were not said yet: the next cycle books them and says so."""
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.executescript(FORMAT_3.read_text())
    assert check_store(tmp_path, LiveContents) == ()
    with closing(open_store(tmp_path)) as store:
        core = Core(store, lambda: store.last_at + 1)
        core.open("", "", "ann")
        jobs = core.cluster.jobs.values()
        assert {job.name: (job.waiting, job.running, job.finished, job.terms.min_count) for job in jobs} == {
            "1": (0, 2, 0, 0),
            "2": (0, 2, 1, 0),
            "3": (4, 0, 0, 2),
            "4": (1, 0, 0, 0),
            "5": (2, 0, 0, 0),
            "6": (1, 0, 0, 0),
        }
        large = [core.cluster.attempts[name] for name in (1, 2)]
        assert [(each.lenders, each.devices, each.parts) for each in large] == [
            (("/A", "/A/a1", "/B"), (0, 1, 2), ())
        ] * 2
        assert [each.notice.job for each in large if each.notice] == ["4", "6"]
        vectors = core.cluster.books[POOLED].vectors
        assert vectors is not None
        assert vectors.held == {("4", "h1"): 1, ("6", "h2"): 1}
        assert vectors.ownership is not None
        assert len(vectors.ownership) == 6
        core.orchestrator.changed_all()
        core.feed(Woken())
        assert [each.parts for each in large] == [LARGE, LARGE]
        core.commit()
    assert check_store(tmp_path, LiveContents) == ()


def test_a_service_of_format_4_goes_on_with_all_that_it_had(tmp_path: Path) -> None:
    """Queues, whose jobs did not say whether they may be taken back: it goes by their priority."""
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.executescript(FORMAT_4.read_text())
    assert check_store(tmp_path, LiveContents) == ()
    with closing(open_store(tmp_path)) as store:
        core = Core(store, lambda: store.last_at + 1)
        core.open("", "", "ann")
        jobs = core.cluster.jobs.values()
        assert {job.name: (job.waiting, job.running, job.terms.min_count, job.terms.preemptible) for job in jobs} == {
            "1": (1, 7, 0, None),
            "2": (0, 2, 0, None),
            "3": (2, 1, 0, None),
            "4": (4, 0, 2, None),
            "5": (1, 0, 0, None),
        }
        assert [job.name for job in jobs if not is_preemptible(core.cluster, job)] == ["3"]
        notices = {name: each.notice for name, each in core.cluster.attempts.items() if each.notice}
        assert {name: notice.job for name, notice in notices.items()} == {5: "4", 6: "4", 7: "3", 8: "3", 10: "5"}
        core.commit()
    assert check_store(tmp_path, LiveContents) == ()


def test_an_earlier_fairhold_refuses_what_this_one_has_opened(old: Path, tmp_path: Path) -> None:
    first = tmp_path / "steps of format 1"
    first.mkdir()
    shutil.copy(steps()[0], first)
    open_store(old, migrations=MIGRATIONS).close()
    with pytest.raises(InputError, match="store-newer"):
        open_store(old, migrations=first)


def test_a_service_of_format_5_tells_usage_in_amounts_as_far_as_units_are_known(tmp_path: Path) -> None:
    """Slots and units of resources were counted alike. A job that goes on, and one that is kept, say their units; of a
    job that is gone it is known where the plan had no resources then."""
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.executescript(FORMAT_5.read_text())
    assert check_store(tmp_path, LiveContents) == ()
    for _ in range(2):
        with closing(open_store(tmp_path)) as store:
            core = Core(store, lambda: store.last_at + 1)
            core.open("", "", "ann")
            core.commit()
            now = core.now()
            begin = START + 10_000_008
            told = usage_document(store, core.usage.tail(now), UsageQuery(0, now, ("job", "kind", "consumer")))["rows"]
            cut = usage_document(store, core.usage.tail(now), UsageQuery(begin + SECOND, begin + 2 * SECOND, ("job",)))[
                "rows"
            ]
        found = {(row["job"], row["kind"], row["resource"], row["unit"]): row["resource_seconds"] for row in told}
        goes_on = found.pop(("5", "own", "gpu", ""))
        assert found.pop(("5", "own", "memory", "GiB")) == decimal_text(8 * Fraction(goes_on))
        assert {key: seconds for key, seconds in found.items() if key[0] in "1236" and key[0]} == {
            ("1", "own", "slots", ""): "9.999998",
            ("1", "own", "", ""): "0.000004",
            ("2", "own", "", ""): "19.999998",
            ("3", "borrowed", "cpu", ""): "74.99999875",
            ("3", "borrowed", "gpu", ""): "29.9999995",
            ("6", "borrowed", "gpu", ""): "4.999998",
            ("6", "borrowed", "memory", "GiB"): "39.999984",
        }
        assert {(row["job"], row["resource"], row["resource_seconds"]) for row in cut} == {
            *(("2", "", "1"), ("3", "cpu", "2.5"), ("3", "gpu", "1"), ("4", "slots", "3")),
            *(("5", "gpu", "1"), ("5", "memory", "8")),
        }
    assert check_store(tmp_path, LiveContents) == ()


def test_a_service_of_format_6_goes_on_and_knows_lenders_and_capacity_from_then_on(tmp_path: Path) -> None:
    """Queues and pools: what was lent before was not recorded, and usage says so."""
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.executescript(FORMAT_6.read_text())
    with closing(open_store(tmp_path)) as store:
        before = [row for row in store.usage(0, 2**62) if row.kind == "borrowed"]
        assert {row.consumer for row in before} == {"/A/a1", "/B", "/C"}
        core = Core(store, lambda: store.last_at + 30 * SECOND)
        core.open("", "", "ann")
        core.commit()
        now = core.now()
        tail = core.usage.tail(now)
        whole = usage_document(store, tail, UsageQuery(0, now, ("kind",)))
        gpu = next(row for row in whole["balance"] if row["resource"] == "gpu")
        assert Fraction(gpu["borrowed_seconds"]) > Fraction(gpu["lent_seconds"]) > 0
        assert gpu["why"].startswith("capacity and the lenders of resources are on record only from 2026-01-05T08:00:")
        assert (whole["dominant"], whole["capacity_whole"]) == ([], False)
        since = parse_instant(whole["capacity_from"])
        assert since is not None
        later = usage_document(store, tail, UsageQuery(since, now, ("consumer",)))
        assert [row["why"] for row in later["balance"]] == [""] * len(later["balance"])
        assert {row["consumer"] for row in later["dominant"]} == {"/A/a1", "/B", "/C"}
    assert check_store(tmp_path, LiveContents) == ()


def test_a_service_of_format_6_locks_nobody_out_and_can_make_tokens(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.executescript(OF_USERS.read_text())
    assert check_store(tmp_path, LiveContents) == ()
    with closing(open_store(tmp_path)) as store:
        core = Core(store, lambda: store.last_at + 1)
        core.open("", "", "ann")
        assert {job.name: job.terms.user for job in core.cluster.jobs.values()} == {"2": "ben", "3": "dan"}
        assert (core.people.version, core.people.tokens(), store.records(0, RecordFilter())) == (0, [], [])
        core.people.apply(core, "fairhold_access: 1\nusers: [ben]", ("ann", ""), 0)
        _, text = core.people.create(core, Wished("ben", "", 0, "ann"))
        core.audit.note(Deed("ann", "uid 0", "here", "create_token"), core.now())
        core.commit()
    with closing(open_store(tmp_path)) as store:
        core = Core(store, lambda: store.last_at + 1)
        core.open("", "", "ann")
        token = parse_token(text)
        assert token is not None
        assert token.cluster == core.people.mark
        assert token.is_of(core.people.tokens()[0].digest)
        assert core.people.knows("ben")
        assert first_break(store.records(0, RecordFilter()))[1] is None
    assert check_store(tmp_path, LiveContents) == ()


def test_a_service_of_format_7_goes_on_and_notices_damage_from_then_on(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.executescript(FORMAT_7.read_text())
        connection.execute("UPDATE meta SET value = 'green' WHERE name = 'cluster'")
        connection.commit()
    assert check_store(tmp_path, LiveContents) == ()
    with closing(open_store(tmp_path)) as store:
        core = Core(store, lambda: store.last_at + 1)
        core.open("", "", "ann")
        assert {job.name: job.terms.user for job in core.cluster.jobs.values()} == {"2": "ben", "3": "dan"}
        assert (core.people.version, [token.name for token in core.people.tokens()]) == (1, ["laptop"])
        records = store.records(0, RecordFilter())
        assert (len(records), first_break(records)[1], core.next_job) == (2, None, 7)
        core.commit()
    assert check_store(tmp_path, LiveContents) == ()
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.execute("UPDATE jobs SET user = 'bem' WHERE job = '1'")
        connection.commit()
    assert next(fault.what for fault in check_store(tmp_path)) == "row 1 of jobs is not as it was written"


def test_a_service_of_format_8_goes_on_and_tells_what_happens_from_then_on(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.executescript(FORMAT_8.read_text())
    assert check_store(tmp_path, LiveContents) == ()
    with closing(open_store(tmp_path)) as store:
        core = Core(store, lambda: store.last_at + 1)
        core.open("", "", "ann")
        jobs = {job.name: (job.terms.user, job.waiting, job.running) for job in core.cluster.jobs.values()}
        assert jobs == {"2": ("ben", 0, 3), "3": ("dan", 4, 5), "4": ("dan", 1, 0)}
        assert core.notifications.subscription("ben").events == ()
        core.commit()
    assert check_store(tmp_path, LiveContents) == ()
