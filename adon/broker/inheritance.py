"""What a controller takes over from the run before it, and what it cannot.

A restart changes nothing where nothing else has changed.  But the configuration and the catalog may
have: a flow whose template, hosts or paths are gone ends (failed if it ran, cancelled if it waited), and
rules without an owner are removed from the switches.  That is said and saved with
the first event, because nothing can be saved without a cause.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from adon.broker.effects import Announce, Effect, RuleState, SaveFlow, SaveOutcome, SaveRules
from adon.broker.flow import Flow, FlowState
from adon.broker.flow_end import outcome_of
from adon.broker.intake import unservable
from adon.broker.outcomes import FlowOutcome
from adon.broker.wanted import Wanted
from adon.flowvisor.rules.rule import Entry
from adon.flowvisor.topology.topology import Topology
from adon.templates_catalog.catalog import Catalog


@dataclass(frozen=True, slots=True)
class Inheritance:
    """The flows and rules that are taken over, and those that are not, the flows with the reason."""

    flows: tuple[Flow, ...]
    rules: tuple[Entry, ...]
    lost_flows: tuple[tuple[Flow, str], ...]
    stale_rules: tuple[Entry, ...]

    def settle(self, cause: str, at: float) -> list[Effect]:
        """End what is not taken over."""
        effects: list[Effect] = []
        for flow, why in self.lost_flows:
            state = FlowState.FAILED if flow.state.holds_rules else FlowState.CANCELLED
            ended = flow.step(state, at, f"it cannot be served after a restart: {why}", ended_at=at)
            text = f"flow {flow.id} is {state}: {ended.reason}"
            left = SaveOutcome(cause, _outcome(ended))
            told = Announce(cause, "warning", "flow-not-restored", text, flow.id)
            effects += [SaveFlow(cause, ended), left, told]
        if self.stale_rules:
            effects.append(SaveRules(cause, self.stale_rules, RuleState.REMOVED))
        return effects


def inherit(
    flows: Iterable[Flow], rules: Iterable[Entry], catalog: Catalog, topology: Topology
) -> Inheritance:
    """Sort what the last run left: flows that had not ended, and the rules it wanted."""
    judged = [(flow, unservable(flow, catalog, topology)) for flow in flows]
    served = tuple(flow for flow, why in judged if not why)
    owners = {flow.id for flow in served if flow.state.holds_rules}
    owners |= standing(topology)
    found = tuple(rules)
    owner_of = Wanted(found).owner
    return Inheritance(
        flows=served,
        rules=tuple(rule for rule in found if owner_of(rule) in owners),
        lost_flows=tuple((flow, why) for flow, why in judged if why),
        stale_rules=tuple(rule for rule in found if owner_of(rule) not in owners),
    )


def standing(topology: Topology) -> set[str]:
    """The owners of rules that belong to no flow: every path, every circuit and every switch."""
    paths = {f"path-{index}" for index, _ in enumerate(topology.configuration.paths)}
    circuits = {f"path-{circuit.index}" for circuit in topology.overlay_paths.circuits}
    switches = {f"switch-{index}" for index, _ in enumerate(topology.configuration.switches)}
    return paths | circuits | switches


def _outcome(ended: Flow) -> FlowOutcome:
    """What a flow leaves whose template may be gone: as much as its request says."""
    asked = ended.request
    streams = 1 if asked.streams is None else asked.streams
    return outcome_of(ended, streams=streams, priority=0 if asked.priority is None else asked.priority)
