"""What a decision saw, as text and back, exactly; and the digests that name its parts.

The text is JSON in which nothing is left open: no white space, keys in the order of the fields, floats in
Python's shortest form that reads back the same, infinities as ``"inf"`` and ``"-inf"``.  Keys are *not*
sorted: the order of paths in a configuration decides between equals.  Parts are named by the digest of their
text, so equal parts of several decisions are kept once.

An :class:`Encoder` encodes a part once per object: configuration, topology and templates stay for as long
as nothing about them changes, what is known of a path until the next result.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field

from adon.broker.flow import Flow
from adon.broker.gate import Gate
from adon.broker.optimisation.plan import Together
from adon.broker.preemption import Rivals
from adon.broker.recompute.encoded import Encoded, digest
from adon.broker.recompute.seen import (
    Displaced,
    Expelled,
    Known,
    Load,
    Looked,
    OwnRates,
    Placed,
    Seen,
    Snapshot,
    Step,
)
from adon.broker.refuge import Exodus, Loss
from adon.broker.site_comparison import Regarded
from adon.config import Configuration
from adon.flowvisor.selection.performance import MeasuredLoad, PathChange
from adon.flowvisor.topology.network_graph import PortState
from adon.flowvisor.topology.overlay import OverlayPaths
from adon.flowvisor.topology.topology import Topology
from adon.reasons import Reason
from adon.templates_catalog.model import Template
from adon.values import FrozenMap
from measurement.model import Measurement, Metric, PathKey, finite, from_json, to_json, type_adapter

KEPT = 4096
"""Parts that an encoder remembers."""


@dataclass(frozen=True, slots=True)
class _Expelled:
    """As :class:`Expelled`, the others named by their digest."""

    loss: Loss
    exodus: str
    kind: Literal["expelled"] = "expelled"


@dataclass(frozen=True, slots=True)
class _Placed:
    """As :class:`Placed`, those planned together named by their digest."""

    rivals: Rivals | None
    nowhere: str
    regarded: Regarded
    together: str | None
    apart: Reason | None
    kind: Literal["placed"] = "placed"


@dataclass(frozen=True, slots=True)
class _Root:
    """A snapshot with digests in the place of its parts."""

    decision: str
    event: str
    at: float
    alarm: str | None
    flow: Flow
    shut: Mapping[str, Reason]
    best: Mapping[Metric, float]
    loads: Mapping[str, Load]
    own: OwnRates | None
    step: Annotated[_Placed | Looked | _Expelled | Displaced, Field(discriminator="kind")]
    gate: Gate | None
    meter: int | None
    trigger: str | None
    cause_text: str
    paths: tuple[str, ...]
    template: str
    topology: str
    configuration: str


class Encoder:
    """See the module's text."""

    def __init__(self) -> None:
        self._digests: OrderedDict[int, tuple[object, str]] = OrderedDict()
        for kind in (_Root, Exodus, Together):
            type_adapter(kind)  # takes some 20 ms the first time, which no decision is to wait for

    def encode(self, snapshot: Snapshot) -> Encoded:
        """One snapshot as text, with the parts that are new."""
        seen, parts = snapshot.seen, dict[str, str]()
        step: Any = seen.step
        if isinstance(step, Expelled):
            step = _Expelled(step.loss, self._part(step.exodus, to_json, parts))
        elif isinstance(step, Placed):
            plan = None if step.together is None else self._part(step.together, to_json, parts)
            step = _Placed(step.rivals, step.nowhere, step.regarded, plan, step.apart)
        root = _Root(
            decision=snapshot.decision,
            event=seen.event,
            at=seen.at,
            alarm=snapshot.alarm,
            flow=seen.flow,
            shut=seen.shut,
            best=seen.best,
            loads=seen.loads,
            own=seen.own,
            step=step,
            gate=snapshot.gate,
            meter=snapshot.meter,
            trigger=snapshot.trigger,
            cause_text=snapshot.cause_text,
            paths=tuple(self._part(known, _known_to_json, parts) for known in seen.paths),
            template=self._part(seen.template, to_json, parts),
            topology=self._part(seen.topology, _topology_to_json, parts),
            configuration=self._part(seen.configuration, to_json, parts),
        )
        return Encoded(snapshot.decision, _text(to_json(root)), FrozenMap(parts))

    def _part(self, value: Any, to_json: Callable[[Any], object], parts: dict[str, str]) -> str:
        held = self._digests.get(id(value))  # the value is kept with its digest, so no other has its id
        if held is not None:
            self._digests.move_to_end(id(value))
            return held[1]
        text = _text(to_json(value))
        name = digest(text)
        parts[name] = text
        self._digests[id(value)] = (value, name)
        if len(self._digests) > KEPT:
            self._digests.popitem(last=False)
        return name


class Decoder:
    """Reads snapshots back; a part that several have is read once.

    :param fetch: the text of a part by its digest.
    """

    def __init__(self, fetch: Callable[[str], str]) -> None:
        self._fetch = fetch
        self._parts: dict[str, Any] = {}

    def decode(self, text: str) -> Snapshot:
        """The snapshot that :meth:`Encoder.encode` wrote.

        :raises ValueError: for text that is none of this version, or a part that is not what its name says.
        """
        root = from_json(_Root, json.loads(text))
        configuration = self._part(root.configuration, Configuration.model_validate)
        topology = self._part(root.topology, lambda body: _topology_from_json(body, configuration))
        if topology.configuration is not configuration:  # equal topologies of two configurations
            topology = replace(topology, configuration=configuration)
        step: Step
        match root.step:
            case _Expelled(loss=loss, exodus=exodus):
                step = Expelled(loss, self._part(exodus, partial(from_json, Exodus)))
            case _Placed(together=name) as was:
                plan = None if name is None else self._part(name, partial(from_json, Together))
                step = Placed(was.rivals, was.nowhere, was.regarded, plan, was.apart)
            case Looked() | Displaced() as known:
                step = known
        seen = Seen(
            event=root.event,
            at=root.at,
            flow=root.flow,
            shut=root.shut,
            best=root.best,
            loads=root.loads,
            own=root.own,
            step=step,
            paths=tuple(self._part(name, _known_from_json) for name in root.paths),
            template=self._part(root.template, Template.model_validate),
            topology=topology,
            configuration=configuration,
        )
        return Snapshot(root.decision, seen, root.alarm, root.gate, root.meter, root.trigger, root.cause_text)

    def _part(self, name: str, from_json: Callable[[Any], Any]) -> Any:
        if name not in self._parts:
            text = self._fetch(name)
            if digest(text) != name:
                raise ValueError(f"part {name[:12]}: its content is not what its name says")
            self._parts[name] = from_json(json.loads(text))
        return self._parts[name]


def parts_of(text: str) -> tuple[str, ...]:
    """The digests of the parts that a snapshot refers to.

    :raises ValueError: for text that is no snapshot of this version.
    """
    root = from_json(_Root, json.loads(text))
    more: tuple[str, ...] = ()
    if isinstance(root.step, _Expelled):
        more = (root.step.exodus,)
    elif isinstance(root.step, _Placed) and root.step.together is not None:
        more = (root.step.together,)
    return tuple(dict.fromkeys((*root.paths, root.template, root.topology, root.configuration, *more)))


# -- the parts ------------------------------------------------------------------------------------------


def _text(value: object) -> str:
    return json.dumps(finite(value), separators=(",", ":"), allow_nan=False)


def _known_to_json(known: Known) -> object:
    changes = [
        [metric.value, [changed.since, changed.why, changed.less]] for metric, changed in known.changes
    ]
    results = [to_json(result) for result in known.results]
    carried = known.carried
    return {
        "key": to_json(known.key),
        "results": results,
        "changes": changes,
        "carried": None if carried is None else [carried.bits, carried.streams, carried.observed_at],
        "best": known.best,
        "beside": known.beside,
    }


def _known_from_json(body: Any) -> Known:
    changes = tuple((Metric(metric), _path_change(*changed)) for metric, changed in body["changes"])
    results = tuple(from_json(Measurement, result) for result in body["results"])
    carried = None if body["carried"] is None else MeasuredLoad(*map(float, body["carried"]))
    best, beside = (None if body[name] is None else float(body[name]) for name in ("best", "beside"))
    return Known(from_json(PathKey, body["key"]), results, changes, carried, best, beside)


def _path_change(since: float | str, why: str, less: bool) -> PathChange:
    return PathChange(float(since), why, less)


def _topology_to_json(topology: Topology) -> object:
    ports = {
        _hex(dpid): {name: [one.number, one.live, one.mac, one.admin, one.oper] for name, one in held.items()}
        for dpid, held in topology.ports.items()
    }
    return {
        "ports": ports,
        "connected": [_hex(dpid) for dpid in sorted(topology.connected)],
        "circuits": to_json(topology.overlay_paths),
        "seen": [[_hex(a), one, _hex(b), other] for a, one, b, other in sorted(topology.seen)],
        "groupless": [_hex(dpid) for dpid in sorted(topology.groupless)],
    }


def _topology_from_json(body: Any, configuration: Configuration) -> Topology:
    ports = {
        int(dpid, 16): FrozenMap({name: PortState(*one) for name, one in held.items()})
        for dpid, held in body["ports"].items()
    }
    return Topology(
        configuration,
        ports=FrozenMap(ports),
        connected=frozenset(int(dpid, 16) for dpid in body["connected"]),
        overlay_paths=from_json(OverlayPaths, body["circuits"]),
        seen=frozenset((int(a, 16), one, int(b, 16), other) for a, one, b, other in body["seen"]),
        groupless=frozenset(int(dpid, 16) for dpid in body["groupless"]),
    )


def _hex(dpid: int) -> str:
    return f"{dpid:016x}"
