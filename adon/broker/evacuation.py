"""Which flows have lost their path, and where all of them go together (spec section 4, R16).

Gathers for :mod:`adon.broker.refuge` what it plans with: the flows that an event displaced, the paths that
each could take, and the room that each path has.  Nothing is changed, and nothing is measured first: on a
failure the last known values decide (R16).

*Room* is what the path carries less the throughput bounds of the flows that stay on it and what is kept free
for reservations.  What it carries is
its configured capacity, or less where a fresh test says so: a test with n streams that measured T beside k
streams saw T·(k+n)/n altogether (:func:`adon.flowvisor.selection.performance.compute_total_rate`).

A path that is *gone* (its port is down) carries nothing, so every usable path is better, even one of which
nothing is known now; values too old to trust still rank such paths.  A path that we merely do not use for a
while (a switch refused a rule) is left for a qualified one only; one with a switch that is not connected,
but forwards (R10), is not lost.  A path that is to be taken out of service is left in any case
(:mod:`adon.broker.maintenance`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from adon.broker.choice import Choice, Need, choose
from adon.broker.decision_records import choose_path
from adon.broker.displaced import Displaced, Grade, Option
from adon.broker.flow import Flow
from adon.broker.refuge import NODES, Exodus, Loss, Place
from adon.broker.resources.paths import kept_free
from adon.broker.world import World
from adon.flowvisor.selection.assessment import CandidateRecord, Verdict
from adon.flowvisor.selection.performance import compute_total_rate
from adon.flowvisor.topology.path import KnownValue
from adon.flowvisor.topology.topology import Candidate
from adon.reasons import Reason
from measurement.model import Metric, PathKey

NOTHING: Mapping[str, Reason] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Fled:
    """One displaced flow with what was found out about it, and its place in the plan."""

    flow: Flow
    need: Need
    choice: Choice
    loss: Loss
    place: Place
    exodus: Exodus

    @property
    def path(self) -> str | None:
        """The path it goes to."""
        return None if self.place.option is None else self.place.option.key.path

    @property
    def reason(self) -> str:
        """Why it leaves, and where it goes or why it cannot."""
        return f"{self.flow.path}: {self.loss.why}; {self.place.why}"


def losses(
    world: World, flows: Iterable[Flow], now: float, dead: Mapping[str, Reason] = NOTHING
) -> dict[int, Loss]:
    """The running flows among these whose path cannot be used now, by number.

    :param dead: paths to be taken as gone whatever the switches say, with the reason (a rehearsal).
    """
    between: dict[tuple[str, str], tuple[Candidate, ...]] = {}
    found: dict[int, Loss] = {}
    for flow in flows:
        hosts = flow.request.source, flow.request.destination
        if hosts not in between:
            between[hosts] = world.network.topology.candidates(*hosts)
        present = next((one for one in between[hosts] if one.key.path == flow.path), None)
        loss = _find_loss(world, flow, present, now, dead)
        if loss is not None:
            found[flow.number] = loss
    return found


def _find_loss(
    world: World, flow: Flow, candidate: Candidate | None, now: float, dead: Mapping[str, Reason]
) -> Loss | None:
    if candidate is None:
        return Loss("is no longer a candidate", gone=True)
    name = candidate.key.path
    if name in dead:
        return Loss(dead[name].text, gone=True)
    closed = world.windows.closed_paths(world.network.topology, flow, world.flows.bound(flow), now)
    if name in closed and _edges_connected(world, candidate):
        return Loss(closed[name].text, gone=True, vacate=True)
    if not candidate.usable and not candidate.unheard:
        why = "" if candidate.reason is None else candidate.reason.text
        return Loss(why, gone=_edges_connected(world, candidate))
    until, why = world.shunned.get(name, (0.0, ""))
    return Loss(why, gone=False) if until > now else None


def plan_evacuation(
    world: World,
    leaving: Mapping[int, Loss],
    now: float,
    dead: Mapping[str, Reason] = NOTHING,
    nodes: int = NODES,
) -> tuple[Fled, ...]:
    """A place for every flow that lost its path, none of which over-subscribes a path; by priority.

    :param leaving: per flow number, why.
    """
    flows = [flow for flow in world.flows.running() if flow.number in leaving]
    flows.sort(key=lambda flow: (-world.flows.priority(flow), flow.number))
    looked = {flow.number: choose_path(world, flow, now, dead) for flow in flows}
    displaced = tuple(
        Displaced(
            flow.number,
            world.flows.priority(flow),
            world.flows.bound(flow),
            options(flow, world.flows.ends(flow), *looked[flow.number], leaving[flow.number]),
        )
        for flow in flows
    )
    keys = sorted({option.key for one in displaced for option in one.options})
    oldest = max((need.template.selection.max_age for need, _ in looked.values()), default=0.0)
    room = tuple((key, _room(world, key, leaving, now, oldest)) for key in keys)
    exodus = Exodus(displaced, room, nodes)
    places = exodus.places()
    return tuple(
        to_its_place(flow, *looked[flow.number], leaving[flow.number], places[flow.number], exodus)
        for flow in flows
    )


def to_its_place(flow: Flow, need: Need, choice: Choice, loss: Loss, place: Place, exodus: Exodus) -> Fled:
    """A displaced flow with its place in the plan."""
    if place.option is not None:
        choice = choice.taking(place.option.key.path, Reason("path-down", place.why))
    return Fled(flow, need, choice, loss, place, exodus)


def _room(world: World, key: PathKey, leaving: Mapping[int, Loss], now: float, oldest: float) -> float:
    """What of a path displaced flows may have, in bits/s."""
    return carries(world, key, now, oldest) - staying(world, key, leaving) - kept_free(world, key, now)


def carries(world: World, key: PathKey, now: float, max_age: float) -> float:
    """bits/s that a directed path carries: its capacity, or less where a test of this age says so."""
    capacity = world.network.topology.capacity_of(key.path) or 0.0
    tested = world.performance.latest(key, Metric.THROUGHPUT)
    known = world.performance.knowledge(key, Metric.THROUGHPUT, now, max_age)
    if tested is None or not isinstance(known, KnownValue):
        return capacity
    before = sum(
        world.flows.need(flow).streams
        for flow in on(world, key)
        if flow.path_since is not None and flow.path_since < tested.started_at
    )
    return min(capacity, compute_total_rate(tested, before))


def staying(world: World, key: PathKey, leaving: Iterable[int] = ()) -> float:
    """bits/s of throughput bounds on a directed path, without some flows'."""
    gone = frozenset(leaving)
    return sum(world.flows.bound(flow) for flow in on(world, key) if flow.number not in gone)


def on(world: World, key: PathKey) -> list[Flow]:
    """The flows that hold rules on one directed path."""
    ends = (key.source, key.destination)
    return [f for f in world.flows.running() if f.path == key.path and world.flows.ends(f) == ends]


# -- one flow -------------------------------------------------------------------------------------------


def _edges_connected(world: World, candidate: Candidate) -> bool:
    """Whether both edges are there to tell: then what is not usable is really down."""
    configuration = world.configuration
    edges = (configuration.sites[site].edge for site in (candidate.key.source, candidate.key.destination))
    return all(configuration.switches[edge].dpid in world.network.topology.connected for edge in edges)


def options(flow: Flow, ends: tuple[str, str], need: Need, choice: Choice, loss: Loss) -> tuple[Option, ...]:
    """The paths that a displaced flow could take, in the order of the configuration.

    :param ends: the sites it goes from and to.
    """
    others = [record for record in choice.selection.records if record.path != flow.path]
    ageless: Choice | None = None
    if loss.gone and choice.asked is not None and any(o.verdict is Verdict.UNKNOWN for o in others):
        ageless = choose(flow, _ageless(need), choice.asked, choice.surveyed)
    found = ((record.path, _grade(record, ageless)) for record in others)
    return tuple(Option(PathKey(path, *ends), *judged) for path, judged in found if judged is not None)


def _grade(record: CandidateRecord, ageless: Choice | None) -> tuple[Grade, float] | None:
    """How good a refuge a path is; None if it is none."""
    if record.verdict is Verdict.QUALIFIED and record.q is not None:
        return Grade.QUALIFIED, record.q
    if record.verdict is not Verdict.UNKNOWN or ageless is None:
        return None
    once = ageless.record(record.path)
    if once is not None and once.verdict is Verdict.QUALIFIED and once.q is not None:
        return Grade.LAST_KNOWN, once.q
    return Grade.UNKNOWN, 0.0


def _ageless(need: Need) -> Need:
    """The same need, for which no value is too old."""
    patient = need.template.selection.model_copy(update={"max_age": float("inf")})
    return replace(need, template=need.template.model_copy(update={"selection": patient}))
