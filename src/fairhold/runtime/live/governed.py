"""A live service that governs a Kubernetes cluster: store, core and desk as ever, a governor in the place of agents."""

from __future__ import annotations

import socket
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from fairhold.engines.kubernetes.access import find_access
from fairhold.engines.kubernetes.api import Api, ApiError, in_words
from fairhold.engines.kubernetes.engine import Kubernetes
from fairhold.engines.kubernetes.leader import Unfenced
from fairhold.planio.document import read_text
from fairhold.planio.plan import parse_plan
from fairhold.runtime.clock import WallClock
from fairhold.runtime.live.cluster_checks import OTHER_LEASE, RIGHTS, check_cluster
from fairhold.runtime.live.consumer_objects import ConsumerObjects
from fairhold.runtime.live.core import Core
from fairhold.runtime.live.desk import Desk
from fairhold.runtime.live.governing import Governing
from fairhold.runtime.live.leading import end_while_waiting, follow, lease_namespace, open_leader, take_over
from fairhold.runtime.live.led import Led, on_signals
from fairhold.runtime.live.opening import Rising, author, live_jobs
from fairhold.runtime.live.place import JOBS, make_state_directory
from fairhold.runtime.live.plan_objects import FirstPlan, PlanObject, first_plan
from fairhold.runtime.live.recovery import refusing_damage
from fairhold.runtime.live.retention import Caretaker, Housekeeping
from fairhold.store.choosing import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairhold.ports import Store
    from fairhold.runtime.live.opening import ClusterSettings, LiveSettings


class GovernedLive:
    """A service that governs a cluster, without its HTTP side."""

    def __init__(self, settings: LiveSettings, cluster: ClusterSettings, listen: Callable[[], object]) -> None:
        """Open everything; see `open_governed`."""
        self.settings = settings
        directory = settings.directory
        make_state_directory(directory)
        wakes: list[Callable[[], None]] = []

        def wake() -> None:
            for each in wakes:
                each()

        with ExitStack() as opened:
            access = find_access(cluster.kubeconfig, cluster.context)
            api = Api(access)
            opened.callback(api.close)
            with _told_of_the_cluster(api):
                check_cluster(api, lease_namespace(access, cluster), cluster.plan_object, observes=cluster.observes)
            _plan_of_file(settings)  # who waits with a plan at fault would be of no use
            node = socket.gethostname()
            self.store: Store = open_store(directory, settings.place, cluster="", node=node, now=WallClock().now())
            opened.callback(self.store.close)
            listen()
            self.leader = open_leader(access, cluster, wake)
            if self.leader is not None:
                opened.callback(self.leader.close)
                with _told_of_the_cluster(api, f"{RIGHTS}; {OTHER_LEASE}"):
                    follow(self.leader)
            with _told_of_the_cluster(api):
                first = self._first_plan(api, cluster.plan_object)
            now = Rising(self.store.last_at)
            self.core = self._open_core(first, now)
            (directory / JOBS).mkdir(mode=0o700, exist_ok=True)
            with _told_of_the_cluster(api):
                observes = cluster.observes
                self.engine = Kubernetes(api, self.core.plan, now.look, wake, self.leader, observes=observes)
                governing = Governing(self.core, self.engine.governor)
                self.desk = Desk(self.core, self.engine, Led(governing, self.leader) if self.leader else governing)
                wakes.append(self.desk.wake)
                self.engine.start()
            opened.pop_all()
        self.desk.start()
        self._objects = self._open_objects(api, now, cluster)
        keeping = Housekeeping(self.store, directory / JOBS, partial(live_jobs, self.desk), settings.keep)
        self._caretaker = Caretaker(keeping, WallClock().now, lambda _: None)

    def _first_plan(self, api: Api, plan_object: str) -> FirstPlan:
        """The plan that a file says now, or the object where nothing else says one; without text the store has it."""
        if found := _plan_of_file(self.settings):
            return found
        if not plan_object or self.store.plan() is not None:
            return FirstPlan("", "the store", author())
        with on_signals(end_while_waiting):
            return first_plan(api, plan_object, WallClock().now, self.settings.tell, self.leader)

    def _open_objects(self, api: Api, now: Rising, cluster: ClusterSettings) -> list[PlanObject | ConsumerObjects]:
        """Begin to keep the objects of Fairhold's own kinds: the plan, where one is followed, and consumers."""
        fence = self.leader or Unfenced()
        found: list[PlanObject | ConsumerObjects] = []
        if cluster.plan_object:
            found.append(PlanObject(api, cluster.plan_object, self.desk, now.look, fence))
        if not cluster.observes:
            governor = self.engine.governor
            found.append(ConsumerObjects(api, self.desk, fence, lambda: governor.stale_since is None))
        for each in found:
            each.start()
        return found

    def _open_core(self, first: FirstPlan, now: Rising) -> Core:
        settings = self.settings
        core = Core(
            self.store,
            now,
            limits=settings.limits,
            observes=settings.cluster is not None and settings.cluster.observes,
            cycle_min_gap=settings.cycle_min_gap,
            cycle_max_interval=settings.cycle_max_interval,
        )
        with refusing_damage(self.store):
            core.open(*first)
        if self.leader is not None:
            take_over(core, self.leader.term)
        return core

    def close(self, *, with_agent: bool = False) -> None:
        """Stop deciding and leave; pods run on. May be called twice."""
        del with_agent  # there are none
        for each in self._objects:
            each.close()
        self._caretaker.close()
        self.desk.stop()
        self.engine.close()
        if self.leader is not None:
            self.leader.close()  # when nothing is written any more
        self.store.close()


def open_governed(settings: LiveSettings, listen: Callable[[], object] = lambda: None) -> GovernedLive:
    """Open a service that governs a cluster; listen as in `open_live`.

    Raises InputError where the plan, the store or the directory are at fault, or the cluster is not to be had: it does
    not answer, does not give the rights that are needed, or is too old.
    """
    assert settings.cluster is not None
    return GovernedLive(settings, settings.cluster, listen)


def _plan_of_file(settings: LiveSettings) -> FirstPlan | None:
    """The plan that a file says, None = there is none. Raises InputError where it is at fault."""
    if not settings.plan:
        return None
    text = read_text(settings.plan)
    parse_plan(text, str(settings.plan), places=True)
    return FirstPlan(text, str(settings.plan), author())


@contextmanager
def _told_of_the_cluster(api: Api, rights: str = RIGHTS) -> Iterator[None]:
    """Tell a refusal of the API server at a start as what it is, an InputError. rights: as of `in_words`."""
    try:
        yield
    except ApiError as error:
        raise in_words(api.access.url, error, rights) from None
