"""Less left goes first: running flows are stopped, and waiting ones held back, for those with less to carry.

Shortest remaining processing time first has the smallest mean completion time of all ways to serve one path
(Schrage, *Operations Research* 16(3), 1968), and needs no knowledge of what will come.  Equal sharing, which
is what TCP does, makes everybody late; letting flows wait *without* stopping anybody makes small ones wait
behind large ones, which is worse still (docs/simulation.md has the figures).

**Who takes part**: flows that say that they can be stopped (``pausable``, of the request or the template):
one that is stopped goes back to the queue, and its transfer has to be by a tool that heeds that and later
goes on where it was.  Who cannot pause neither lets others go first nor is let go first; it shares as ever.
Nor does who has a rate of its own (UDP, a ceiling well below what the path gives, an application that is seen
not to take its share: :mod:`adon.broker.filling`), has reserved its place, or is unannounced.

**The order**: who was asked for :data:`~adon.broker.queueing.turns.LONGEST_S` ago is first (nobody starves:
it is neither held back nor stopped any more), then the higher priority, then who has clearly less left.

**What follows**, on a path that one flow can fill (the least left first by the fastest machine first: the
greedy rule of uniform machines, Pinedo, *Scheduling*, ch. 5):

- who wants in, or looks around, takes no notice of those there who would let it go first, and does not get a
  path where somebody is whom it lets go first;
- who shares a path with somebody whom it lets go first takes another one, or else goes back to the queue;
- who has a path to itself takes another one that is clearly faster and clearly brings it home sooner.

Paths that no single flow fills (windows, hosts) are shared as ever: whether one flow fills a path is seen
when two run together there for the first time, by whether both together have much more than one alone; a path
of which a single flow gets nearly the configured capacity is full anyway.

**No thrashing**: a flow is stopped only for somebody who has clearly less left, so two of them never change
places; nobody is stopped, or moved for its speed, before it has run for :data:`LEAST_S`, and before the
next stops for twice as long each time (:mod:`adon.broker.damping`).

Reads the world and changes nothing in it; what is kept is what was seen of paths.  Bytes, bits/s, seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from adon.broker.flow import Flow, FlowState
from adon.broker.load import PathLoad
from adon.broker.queueing.turns import LONGEST_S
from adon.broker.register import Ends
from adon.broker.scheduler import arrived
from measurement.model import PathKey

if TYPE_CHECKING:
    from adon.broker.choice import Need
    from adon.broker.world import World

CLEARLY = 1.2
"""Times what the other has left: a smaller difference is not worth an interruption."""

MOST_OF_IT = 0.7
"""A flow whose ceiling is below this part of what the path gives has a rate of its own."""

LEAST_S = 2.0


@dataclass(slots=True)
class Interrupting:
    """See the module's text; what it keeps is there to be quick."""

    _less: dict[PathKey, tuple[PathLoad, PathLoad]] = field(default_factory=dict)

    # -- what a flow looks at -----------------------------------------------------------------------------

    def loads(
        self, world: World, ends: Ends, need: Need, own: str | None, now: float
    ) -> Mapping[str, PathLoad]:
        """What flows put on each path, for a flow of this need: without those that would let it go first.

        :param own: the path that it is on; there it sees all that is.
        """
        loads = world.flows.loads(ends)
        if not _may_take_part(world, need):
            return loads
        return {name: self._seen_of(world, ends, name, need, own, now) for name in loads}

    def _seen_of(
        self, world: World, ends: Ends, path: str, need: Need, own: str | None, now: float
    ) -> PathLoad:
        load, key = world.flows.loads(ends)[path], PathKey(path, *ends)
        rate = None if path == own or not load.numbers else world.filling.filled(world, key, now)
        if rate is None or not _fills(need, rate):
            return load
        gone = frozenset(flow.number for flow in _on(world, ends, path) if _lets_go(world, flow, rate, now))
        if not gone:
            return load
        held = self._less.get(key)
        if held is None or held[0] is not load or held[1].stamp != (load.version, gone):
            held = self._less[key] = (load, load.less(gone))
        return held[1]

    def held_back(self, world: World, flow: Flow, now: float) -> dict[str, str]:
        """Per path name, whom a flow lets go first there, on paths other than its own."""
        if not takes_part(world, flow):
            return {}
        ends = world.flows.ends(flow)
        if flow.path is not None and not _works(world, ends, flow.path, now):
            return {}  # it has to leave: who goes first is settled when it has gone
        found = ((path, self.before(world, flow, path, now)) for path in world.flows.loads(ends))
        return {path: words(first) for path, first in found if first is not None and path != flow.path}

    def holds_back(self, world: World, flow: Flow, now: float) -> bool:
        """Whether a flow is held back on some path."""
        return world.configuration.policy.interrupting and bool(self.held_back(world, flow, now))

    # -- who goes first -----------------------------------------------------------------------------------

    def before(self, world: World, flow: Flow, path: str, now: float) -> Flow | None:
        """Whom a flow lets go first on a path; None if nobody is there whom it would have to."""
        ends = world.flows.ends(flow)
        rate = world.filling.filled(world, PathKey(path, *ends), now)
        if rate is None:
            return None
        others = (other for other in _on(world, ends, path) if other is not flow)
        return next((other for other in others if _goes_first(world, other, flow, rate, now)), None)

    def behind(self, world: World, flow: Flow, path: str, now: float) -> list[Flow]:
        """Those on a path who would let a flow go first that came there."""
        ends, comes = world.flows.ends(flow), replace(flow, path=path)
        rate = world.filling.filled(world, PathKey(path, *ends), now)
        if rate is None or path not in world.flows.loads(ends):
            return []
        return [other for other in _on(world, ends, path) if _goes_first(world, comes, other, rate, now)]

    def running(self, world: World, ends: Ends, now: float) -> list[int]:
        """The flows that run between two sites and take part, who goes first before the others."""
        groups = [group for group in world.flows.groups(ends) if group.kind.need.pausable]
        found = (world.flows.get(number) for group in groups for number in group.numbers)
        flows = [flow for flow in found if flow is not None and takes_part(world, flow)]
        return [flow.number for flow in sorted(flows, key=lambda flow: _rank(world, flow, now))]


def young(flow: Flow, now: float, least: float) -> float | None:
    """Until when a flow that came to its path a moment ago is left in peace; None if it is not."""
    if flow.path_since is None or now >= flow.path_since + least:
        return None
    return flow.path_since + least


def _may_take_part(world: World, need: Need) -> bool:
    """Whether flows of this need may take part."""
    return world.configuration.policy.interrupting and need.pausable and need.template.protocol == "tcp"


def takes_part(world: World, flow: Flow) -> bool:
    """Whether a flow stops for others, and others for it."""
    return _may_take_part(world, world.flows.need(flow)) and not (
        flow.unannounced or flow.advised or flow.booking
    )


def _on(world: World, ends: Ends, path: str) -> list[Flow]:
    load = world.flows.loads(ends)[path]
    flows = (world.flows.get(number) for number in sorted(load.numbers))
    return [flow for flow in flows if flow is not None]


def _works(world: World, ends: Ends, path: str, now: float) -> bool:
    until, _ = world.shunned.get(path, (0.0, ""))
    found = next((one for one in world.network.topology.between(*ends) if one.key.path == path), None)
    return found is not None and found.usable and until <= now


def _rank(world: World, flow: Flow, now: float) -> tuple[bool, int, float, int]:
    return (not _patient(flow, now), -world.flows.priority(flow), left(world, flow, now), flow.number)


def _lets_go(world: World, flow: Flow, rate: float, now: float) -> bool:
    """Whether a running flow lets anybody go first."""
    return takes_part(world, flow) and _takes_all(world, flow, rate) and not _patient(flow, now)


def _goes_first(world: World, one: Flow, other: Flow, rate: float, now: float) -> bool:
    """Whether one, who is on a path, goes before the other there."""
    if not (takes_part(world, one) and takes_part(world, other)) or _patient(other, now):
        return False
    if not (_takes_all(world, one, rate) and _takes_all(world, other, rate)):
        return False
    ours, theirs = world.flows.priority(one), world.flows.priority(other)
    if _patient(one, now) or ours != theirs:
        return _patient(one, now) or ours > theirs
    mine, its = left(world, one, now), left(world, other, now)
    if other.path == one.path:
        return (mine, one.number) < (its, other.number)
    return mine < its * CLEARLY  # who has the path keeps it until somebody has clearly less


def left(world: World, flow: Flow, now: float) -> float:
    """Bytes that a flow has left, by its rate since it was counted last."""
    latest = world.flows.counters(flow).latest() if flow.state is FlowState.ACTIVE else None
    if latest is None:
        return float(flow.left)
    rate, at = latest
    return max(0.0, flow.left - rate * max(0.0, now - at) / 8)


def _takes_all(world: World, flow: Flow, rate: float) -> bool:
    return flow.number not in world.filling.limited and _fills(world.flows.need(flow), rate)


def _fills(need: Need, rate: float) -> bool:
    """Whether a flow of this need takes all that a path gives, until it is done."""
    ceiling = need.template.rspec.bandwidth_ceiling
    return ceiling is None or ceiling >= MOST_OF_IT * rate


def _patient(flow: Flow, now: float) -> bool:
    return now >= arrived(flow) + LONGEST_S


def words(first: Flow) -> str:
    """Whom a flow lets go first, and why."""
    return f"lets {first.id} go first, which has less left, a higher priority or waited long"
