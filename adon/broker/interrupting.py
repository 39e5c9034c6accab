"""Less left goes first: running flows are stopped, and waiting ones held back, for those with less to carry.

Shortest remaining processing time first has the smallest mean completion time of all ways to serve one path
(Schrage, *Operations Research* 16(3), 1968), and needs no knowledge of what will come.  Equal sharing, which
is what TCP does, makes everybody late; letting flows wait *without* stopping anybody makes small ones wait
behind large ones, which is worse still (docs/simulation.md has the figures).  So this is a policy of its own,
``policy.interrupting``, off unless asked for: a flow that is stopped goes back to the queue, and its
transfer has to be by a tool that heeds that and later goes on where it was.

On a path that one flow can fill, the flow that comes first by priority, then by what is left, runs; who
shares it and has clearly more left is stopped, and who waits and has no less left is held back.  Paths that
no single flow fills (windows, hosts) are shared as ever: whether one flow fills a path is seen when two run
together there for the first time, by whether both together have much more than the best single test.

Neither interrupts nor is interrupted who has a rate of its own (UDP, a ceiling well below what the path
gives) or an unknown size (unannounced).  Nobody starves: a flow that was asked for
:data:`~adon.broker.queueing.turns.LONGEST_S` ago is neither held back nor stopped any more, and before that
nobody is stopped who has not run for :data:`LEAST_S`.

Reads the world and changes nothing in it; what is kept is what was seen of paths.  Bytes, bits/s, seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from adon.broker.flow import Flow, FlowState
from adon.broker.queueing.turns import LONGEST_S
from adon.broker.register import Ends
from adon.broker.scheduler import arrived
from measurement.model import Metric, PathKey

if TYPE_CHECKING:
    from adon.broker.world import World

CLEARLY = 1.2
"""Times what the other has left: a smaller difference is not worth an interruption."""

SEVERAL = 1.4
"""Times the best single test: flows that have so much together share a path that one alone does not fill."""

MOST_OF_IT = 0.7
"""A flow whose ceiling is below this part of what the path gives has a rate of its own."""

LEAST_S = 10.0


@dataclass(slots=True)
class Interrupting:
    """See the module's text.

    :param together: bits/s that several flows had together, at most, per directed path.
    :param version: how often that has changed: who is held back rests on it.
    """

    together: dict[PathKey, float] = field(default_factory=dict)
    version: int = 0

    def look(self, world: World) -> None:
        """Note what flows that run together have, as far as their counters tell."""
        for ends in world.flows.directions():
            for path, load in world.flows.loads(ends).items():
                used = load.used() if len(load.numbers) > 1 else None
                if used is not None and used.used > 0:
                    key = PathKey(path, *ends)
                    self._seen(key, used.used)

    def _seen(self, key: PathKey, rate: float) -> None:
        if rate > self.together.get(key, 0.0):
            self.together[key] = rate
            self.version += 1

    def held_back(self, world: World, flow: Flow, now: float) -> dict[str, str]:
        """Per path name, whom a waiting flow lets go first there."""
        if flow.state.holds_rules or _patient_enough(flow, now):
            return {}
        ends = world.flows.ends(flow)
        reasons: dict[str, str] = {}
        for path in world.flows.loads(ends):
            rate = self._filled(world, PathKey(path, *ends), now)
            first = (other for other in _on(world, ends, path) if _goes_first(world, other, flow, rate, 1.0))
            words = next((_words(other) for other in first), None)
            if words is not None:
                reasons[path] = words
        return reasons

    def to_stop(self, world: World, now: float) -> list[tuple[Flow, str]]:
        """The running flows that let another one go first, and why."""
        return [
            found
            for ends in world.flows.directions()
            for path in world.flows.loads(ends)
            for found in self._sharing(world, ends, path, now)
        ]

    def _sharing(self, world: World, ends: Ends, path: str, now: float) -> Iterator[tuple[Flow, str]]:
        rate = self._filled(world, PathKey(path, *ends), now)
        settled = [
            flow
            for flow in _on(world, ends, path)
            if flow.state is FlowState.ACTIVE and not world.network.busy(flow.id)
        ]
        for flow in settled:
            if flow.path_since is None or now - flow.path_since < LEAST_S or _patient_enough(flow, now):
                continue
            first = (other for other in settled if _goes_first(world, other, flow, rate, CLEARLY))
            words = next((_words(other) for other in first), None)
            if words is not None:
                yield flow, words

    def _filled(self, world: World, key: PathKey, now: float) -> float | None:
        """What a path gives to one flow if one flow fills it; None if not, or while that is not known."""
        window = world.configuration.measurements.window
        best = world.performance.best([key], Metric.THROUGHPUT, now - window)
        together = self.together.get(key)
        if best is None or together is None or together >= SEVERAL * best:
            return None
        return best


def _on(world: World, ends: Ends, path: str) -> list[Flow]:
    load = world.flows.loads(ends)[path]
    flows = (world.flows.get(number) for number in sorted(load.numbers))
    return [flow for flow in flows if flow is not None]


def _goes_first(world: World, one: Flow, other: Flow, rate: float | None, clearly: float) -> bool:
    """Whether one goes before the other on a path that gives so much to one flow that fills it."""
    if rate is None or one is other or not (_fills(world, one, rate) and _fills(world, other, rate)):
        return False
    ours, theirs = world.flows.priority(one), world.flows.priority(other)
    return ours > theirs or (ours == theirs and one.left * clearly < other.left)


def _fills(world: World, flow: Flow, rate: float) -> bool:
    """Whether a flow takes all that a path gives, until it is done."""
    template = world.flows.need(flow).template
    ceiling = template.rspec.bandwidth_ceiling
    elastic = template.protocol == "tcp" and (ceiling is None or ceiling >= MOST_OF_IT * rate)
    return elastic and not flow.unannounced and not flow.advised


def _patient_enough(flow: Flow, now: float) -> bool:
    return now >= arrived(flow) + LONGEST_S


def _words(first: Flow) -> str:
    return f"lets {first.id} go first, which has less left or a higher priority"
