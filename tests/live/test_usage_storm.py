"""Usage of a storm of events equals what brute force makes of the log, for any instants and by any keys."""

from __future__ import annotations

import json
import os
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.errors import InputError
from fairhold.model.spec import Spec
from fairhold.orchestrator.events import JobSubmitted
from fairhold.ports import Retention
from fairhold.runtime.live.submitting import Submission
from fairhold.runtime.live.usage import HOUR
from fairhold.runtime.live.using import BY, Terms, usage_document
from fairhold.units import SECOND, parse_instant
from tests.live.integral import Integral, integral
from tests.live.play import START, Play
from tests.orchestrator.storm import OWN, Storm, plan_document

if TYPE_CHECKING:
    from pathlib import Path

KEYS = [keys for count in range(1, len(BY) + 1) for keys in combinations(BY, count)]
PAUSES = (0, 0, 1, 1000, 60_000, SECOND, 20 * SECOND, 400 * SECOND)


class UsageStorm:
    """A core on a store, under the events of a storm, plans that change, starts, snapshots and compaction."""

    def __init__(self, directory: Path, random: Random) -> None:
        self.random = random
        self.names = {"C": "C", "a1": "a1"}
        self.play = Play(directory, self._plan(), most=random.choice((5, 40, 10**9)), own=OWN)
        self.storm = Storm(random, forgets=True)
        self.oracle = Integral({}, OWN)
        self.seen = 0
        self.plans = 1
        self.first = 0
        """Instant from which on the log is kept."""

    def run(self, steps: int) -> None:
        random = self.random
        for _ in range(steps):
            self.play.pass_time(random.choice(PAUSES))
            self.storm.live = self.play.core.orchestrator
            self._take(self.storm.draw())
            for chance, happen in ((0.02, self._change_plan), (0.02, self._restart), (0.02, self._compact)):
                if random.random() < chance:
                    happen()
            if random.random() < 0.2:
                self.play.commit()

    def measured(self) -> Integral:
        """What brute force makes of the log up to now."""
        self.play.commit()
        self._read()
        self.oracle.pass_to(self.play.clock.instant)
        return self.oracle

    def told(self, since: int, until: int, by: tuple[str, ...]) -> tuple[dict[tuple[str, ...], int], int, int]:
        tail = self.play.core.usage.tail(self.play.clock.instant)
        document = usage_document(self.play.store, tail, since, until, Terms(by))
        rows = {
            tuple(row[key] for key in by): int(Fraction(row["resource_seconds"]) * SECOND) for row in document["rows"]
        }
        first, last = parse_instant(document["from"]), parse_instant(document["to"])
        assert first is not None
        assert last is not None
        return rows, first, last

    def _take(self, event: Any) -> None:
        core = self.play.core
        try:
            if isinstance(event, JobSubmitted):
                core.submit(Submission(event.user, "", event, Spec(event.consumer, ("true",))))
            else:
                core.feed(event)
        except InputError:
            pass

    def _plan(self) -> str:
        """The storm's plan with other numbers, hosts and names."""
        random, plan = self.random, plan_document()
        hosts = plan["resource_groups"]["cpu"]["hosts"]
        hosts[1]["slots"] = random.choice((3, 3, 5))
        if random.random() < 0.3:
            hosts.pop()
        for settings in plan["policies"][0]["consumers"].values():
            settings.update(random.choice(({}, {"owned": 3}, {"owned": 4, "reserved": 2})))
        owned = plan["policies"][0]["consumers"]
        owned["/A"]["owned"] = owned["/A/a1"].get("owned", 0) + random.choice((0, 1))
        owned["/A"]["reserved"] = owned["/A/a1"].get("reserved", 0)
        tree = plan["consumers"]
        if self.names["C"] == "D":
            tree["D"] = tree.pop("C")
            owned["/D"] = owned.pop("/C")
        if self.names["a1"] == "x":
            below = tree["A"]["consumers"]
            below["x"] = below.pop("a1")
            owned["/A/x"] = owned.pop("/A/a1")
        return json.dumps(plan)

    def _change_plan(self) -> None:
        before = dict(self.names)
        self.names = {"C": self.random.choice("CD"), "a1": self.random.choice(("a1", "x"))}
        paths = {"C": "/", "a1": "/A/"}
        moved = {paths[key] + before[key]: paths[key] + self.names[key] for key in paths}
        moved = {old: new for old, new in moved.items() if old != new}
        core = self.play.core
        core.apply_plan(self._plan(), "ann", "", core.version, moved=moved)
        self.plans += 1

    def _restart(self) -> None:
        self.play.restart(snapshot=self.random.random() < 0.5)

    def _compact(self) -> None:
        """What two snapshots cover goes, up to some entry."""
        self.play.snapshot()
        self._read()
        through = self.random.randint(1, self.play.store.last)
        while self.play.store.compact(Retention(entries_through=through)):
            pass
        gone = self.play.store.first() - 1
        self.first = max(self.first, self.instants[gone]) if gone > 0 else self.first

    @property
    def instants(self) -> list[int]:
        """Of all entries, by number."""
        return self._instants

    _instants: list[int]

    def _read(self) -> None:
        if not self.seen:
            self._instants = [0]
        for entry in self.play.store.entries(self.seen, limit=10**6):
            assert entry.seq == self.seen + 1
            self.seen = entry.seq
            fields = json.loads(entry.body)
            if fields[0] == "PlanApplied":
                found = self.play.store.plan(fields[1])
                assert found is not None
                self.oracle.plans = {**self.oracle.plans, fields[1]: found.text}
            self.oracle.take(entry.at, entry.body)
            self._instants.append(entry.at)


def check_storm(place: Path, seed: int, steps: int) -> UsageStorm:
    storm = UsageStorm(place, Random(seed))
    random = storm.random
    for _ in range(4):
        storm.run(steps // 4)
        oracle = storm.measured()
        now = storm.play.clock.instant
        instants = [START - HOUR, *random.sample(storm.instants[1:], 6), now, now + HOUR]
        instants += [random.randrange(START, now) for _ in range(6)]
        for by in KEYS:
            since, until = sorted(random.sample(instants, 2))
            asked = min(until, now)
            rows, first, last = storm.told(since, until, by)
            assert rows == integral(oracle.pieces, first, last, by)
            if since >= storm.first:
                assert (first, last) == (since, max(since, asked))
            else:
                assert first <= since <= asked <= last
                assert since - first <= HOUR
                assert last - asked <= HOUR
    end = storm.play.clock.instant
    assert storm.told(0, end, ("kind",))[0] == integral(storm.oracle.pieces, 0, end, ("kind",))
    return storm


@pytest.mark.parametrize("seed", range(10))
def test_usage_of_a_storm_is_the_integral_of_its_log(tmp_path: Path, seed: int) -> None:
    storm = check_storm(tmp_path, seed, 240)
    assert {piece.row[3] for piece in storm.oracle.pieces} == {"own", "borrowed", "lent", "lost"}
    storm.play.store.close()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(int(os.environ.get("STORM_SEEDS", "400")) // 4))
def test_usage_of_a_long_storm_is_the_integral_of_its_log(tmp_path: Path, seed: int) -> None:
    check_storm(tmp_path, 1000 + seed, 1_200).play.store.close()
