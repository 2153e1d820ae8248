"""What `/v1/simulate` answers: what came of a time, and what would have come under another plan."""

from pydantic import Field

from fairhold.service.models.answers import Answer, Instant


class PlayedRecord(Answer):
    """What was played."""

    begin: Instant
    end: Instant
    jobs: int = Field(description="That were submitted.")
    ends: int = Field(description="Of attempts.")
    changes: int = Field(description="Decisions that were written down.")
    plans: list[int] = Field(description="Versions that were in force, that of the begin first.")
    left_out: dict[str, int] = Field(description="What cannot be played → how often.")
    is_cut: bool = Field(description="The log no longer reaches back as far as was asked for.")


class AsRecorded(Answer):
    """Whether the same was decided again; where not, the first line that differs."""

    is_same: bool
    lines: int
    recorded: str | None
    played: str | None


class Otherwise(Answer):
    """What is not known under another plan."""

    passed_over: int = Field(description="Wishes and reports that mean nothing there.")
    guessed: int = Field(description="Tasks of which it is not known how long they run.")


class Sentence(Answer):
    """A sentence of the verdict; how: `good`, `fair`, `bad` or `plain`."""

    how: str
    text: str


class FaresBadly(Answer):
    """A consumer of the first level for whom it is not good, and why."""

    consumer: str
    why: str


class SeriesOfConsumer(Answer):
    """Means over each step of time; `consumer`: below the root, or how many others."""

    consumer: str
    own: list[float]
    borrowed: list[float]
    waiting: list[float]


class OverTime(Answer):
    """Who had how much when."""

    from_: Instant = Field(alias="from")
    step: float = Field(description="Seconds.")
    consumers: list[SeriesOfConsumer]


class Outcome(Answer):
    """What came of a resource."""

    utilisation: float = Field(description="Used of what there was, 0 to 1.")
    fairness: float = Field(description="Jain's index, 0 to 1.")
    preempted: int = Field(description="Units.")
    preempted_again: int
    verdict: list[Sentence]
    fares_badly: list[FaresBadly]
    over_time: OverTime


class Numbers(Answer):
    """Those of a consumer and all below it: tasks, seconds of waits, hours of the resource."""

    tasks: int
    finished: int
    notified: int
    stopped: int
    wait_mean: float
    wait_p95: float
    wait_max: float
    longest: float = Field(description="For which a unit that was owned and wanted was not there, seconds.")
    used: float
    borrowed: float
    deficit: float = Field(description="Owned, wanted and not there.")
    lost: float = Field(description="Of work that was stopped.")


class NumbersOfConsumer(Answer):
    """Of a consumer; null where the plan does not have it."""

    consumer: str
    before: Numbers | None
    after: Numbers | None


class SimulatedResource(Answer):
    """One resource; null under a plan that does not share it."""

    resource_group: str
    resource: str
    unit: str
    hours: str = Field(description="What hours of it are called.")
    before: Outcome | None
    after: Outcome | None
    consumers: list[NumbersOfConsumer]
    left_out: int = Field(description="Consumers that are not told, with less demand.")


class NumberDifference(Answer):
    """A number of a consumer that came out otherwise."""

    resource_group: str
    resource: str
    consumer: str
    number: str
    before: float
    after: float


class NeverRun(Answer):
    """Jobs that can never run under a plan."""

    under: str = Field(description="`before` or `after`.")
    consumer: str
    jobs: int
    first: str
    what: str


class Simulated(Answer):
    """A record as it was (`before`), and under another plan (`after`)."""

    record: PlayedRecord
    as_recorded: AsRecorded | None
    otherwise: Otherwise | None = Field(description="Null where the plan is the one of the record.")
    shared: list[SimulatedResource]
    differences: list[NumberDifference] = Field(description="The weightiest first.")
    never_run: list[NeverRun]
