"""From the broker's state to what a decision saw in it, at the moment of the decision.

References to immutable values are taken, nothing is encoded: results, flows and the topology are replaced,
never changed.  What is kept in place (loads, counters, the ledger of worker nodes) is read out as far as a
decision reads it.  What was known of a path, and what is on it, is the same value for all decisions until
it changes; so encoding it once is enough.
"""

from __future__ import annotations

from collections.abc import Mapping

from adon.broker.choice import Choice, Need, Situation, others_on
from adon.broker.events import Event
from adon.broker.flow import Flow
from adon.broker.heard import Heard
from adon.broker.load import PathLoad
from adon.broker.queueing.trial import Trial
from adon.broker.recompute.seen import Known, Load, OwnRates, Placed, Seen, Step
from adon.broker.world import World
from adon.flowvisor.topology.path import CandidatePath
from adon.values import FrozenMap
from measurement.model import Metric, PathKey


def capture_trial(trial: Trial) -> Placed:
    """What else the step looks at by which a flow without a path is tried."""
    return Placed(trial.asked, trial.nowhere, trial.regarded, trial.plan, trial.apart)


class Looking:
    """See the module's text.

    :param world: what the broker holds; nothing in it is changed here.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._known: dict[PathKey, tuple[Heard, int, Known]] = {}
        self._loads: dict[PathKey, tuple[Heard, int, PathLoad, int, Load]] = {}

    def capture(self, flow: Flow, choice: Choice, step: Step, event: Event) -> Seen:
        """What a choice, and the step that it is made for, look at; to be called before anything changes.

        :param flow: as the decision takes it.
        :raises ValueError: for a choice that does not say what it was made from.
        """
        asked, surveyed = choice.asked, choice.surveyed
        if asked is None or surveyed is None:
            raise ValueError("the choice does not say what it was made from")
        need = self._world.flows.need(flow)
        found = [candidate.path for candidate in surveyed.found if candidate.path is not None]
        names = [candidate.key.path for candidate in surveyed.found]
        return Seen(
            event=event.id,
            at=event.at,
            flow=flow,
            shut=FrozenMap({name: asked.shunned[name] for name in names if name in asked.shunned}),
            best=FrozenMap(surveyed.best),
            loads=FrozenMap(self._path_loads(flow, need, asked, found)),
            own=self._own(flow, asked, found),
            step=step,
            paths=tuple(self._what_is_known(candidate.key) for candidate in surveyed.found),
            template=need.template,
            topology=asked.topology,
            configuration=self._world.configuration,
        )

    def _what_is_known(self, key: PathKey) -> Known:
        performance = self._world.performance
        version, held = performance.of(key), self._known.get(key)
        if held is not None and held[0] is performance and held[1] == version:
            return held[2]
        latest = (performance.latest(key, metric) for metric in Metric)
        changes = ((metric, performance.find_change(key, metric)) for metric in Metric)
        known = Known(
            key,
            tuple(result for result in latest if result is not None),
            tuple((metric, changed) for metric, changed in changes if changed is not None),
            performance.find_test_load(key),
            performance.best([key], Metric.THROUGHPUT, 0.0),
            performance.beside(key),
        )
        self._known[key] = (performance, version, known)
        return known

    def _path_loads(
        self, flow: Flow, need: Need, asked: Situation, found: list[CandidatePath]
    ) -> Mapping[str, Load]:
        loads: dict[str, Load] = {}
        for path in found:
            load = asked.loads.get(path.key.path)
            if load is None or not load.numbers:
                continue
            here = flow.path == path.key.path
            name = path.key.path
            loads[name] = self._load(load, flow, need, path) if here else self._of_others(load, need, path)
        return loads

    def _of_others(self, load: PathLoad, need: Need, path: CandidatePath) -> Load:
        """The load on a path for any flow that is not on it."""
        performance, key = self._world.performance, path.key
        version, held = performance.of(key), self._loads.get(key)
        now = (version, load.version)
        if held is not None and held[0] is performance and held[2] is load and (held[1], held[3]) == now:
            return held[4]
        found = self._load(load, None, need, path)
        self._loads[key] = (performance, version, load, load.version, found)
        return found

    def _load(self, load: PathLoad, flow: Flow | None, need: Need, path: CandidatePath) -> Load:
        tested = self._world.performance.latest(path.key, Metric.THROUGHPUT)
        used = load.used_bandwidth()
        return Load(tuple(others_on(load, flow, need, path, tested, used)), used)

    def _own(self, flow: Flow, asked: Situation, found: list[CandidatePath]) -> OwnRates | None:
        path = next((path for path in found if path.key.path == flow.path), None)
        if asked.own is None or path is None:
            return None
        tested = asked.performance.latest(path.key, Metric.THROUGHPUT)
        during = None if tested is None else asked.own.rate(tested.started_at, tested.observed_at)
        return OwnRates(during, asked.own.latest())
