"""Where would this packet go, and why: told by rules of ours, of others, and by none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from adon.flowvisor.action import Normal, Output
from adon.flowvisor.cookie import Kind, cookie
from adon.flowvisor.datapath import Packet
from adon.flowvisor.match import Match
from adon.flowvisor.path import CandidatePath, FiveTuple, Hop
from adon.flowvisor.path_rules import path_rules
from adon.flowvisor.pipeline import Pipeline
from adon.flowvisor.rule import Entry, Rule
from adon.flowvisor.rules import Steered, flow_rules, learn_rules
from adon.flowvisor.trace import Fate, Trace, Wire, trace, wires
from tests.flowvisor.network import AL2S, MU, OSU, PATHS, ROUTED, SOURCE, TARGET

LONG = replace(AL2S, hops=(Hop(0xC1, 1, 2), Hop(0xC2, 7, 8)))
PACKET = Packet(SOURCE.mac, SOURCE.gateway_mac, SOURCE.address, TARGET.address)
HOSTS = {(end.dpid, end.port): end.host for end in (SOURCE, TARGET)}
STAGED = {MU: Pipeline(staged=True), OSU: Pipeline(staged=True)}


def installed(path: CandidatePath, pipelines: dict[int, Pipeline]) -> list[Entry]:
    flow = Steered(17, SOURCE, TARGET, path, (path,), pipelines=pipelines)
    return [*path_rules(path, pipelines), *flow_rules(flow, (FiveTuple(6, 5001),), 500, 60)]


def traced(
    entries: Sequence[Entry], packet: Packet = PACKET, dead: frozenset[tuple[int, int]] = frozenset()
) -> Trace:
    both = [way for path in (LONG, *PATHS[1:]) for way in (path, path.reversed())]
    return trace(
        packet,
        SOURCE.dpid,
        SOURCE.port,
        lambda dpid: [entry for entry in entries if entry.dpid == dpid],
        wires(both),
        HOSTS,
        lambda dpid, port: (dpid, port) not in dead,
    )


@pytest.mark.parametrize("pipelines", [{}, STAGED])
@pytest.mark.parametrize("path", [LONG, ROUTED])
def test_a_flow_is_followed_to_the_other_dtn(path: CandidatePath, pipelines: dict[int, Pipeline]) -> None:
    found = traced(installed(path, pipelines))
    assert [(end.fate, end.detail) for end in found.ends] == [(Fate.DELIVERED, "to osu-dtn")]
    assert [leg.dpid for leg in found.legs] == [MU, *(hop.dpid for hop in path.hops), OSU]
    assert found.paths == (path.key.path,)
    assert [step.table for step in found.legs[0].passage.steps] == ([0, 2] if pipelines else [0])


def test_each_way_to_go_wrong_has_a_name() -> None:
    entries = installed(ROUTED, {})
    ours = cookie(Kind.FLOW_INGRESS, 17)
    everything = Match(in_port=SOURCE.port)
    table: list[tuple[Sequence[Entry], frozenset[tuple[int, int]], Fate]] = [
        ([], frozenset(), Fate.DROPPED),
        ([Rule(MU, 1, everything, (), ours)], frozenset(), Fate.DROPPED),
        ([Rule(MU, 1, everything, (Normal(),), ours)], frozenset(), Fate.NORMAL),
        ([*entries, Rule(MU, 65_000, everything, (), 0x5ADC15C0)], frozenset(), Fate.FOREIGN),
        (entries, frozenset({(MU, ROUTED.source_end.port)}), Fate.UNREACHABLE),
        ([Rule(MU, 1, everything, (Output(99),), ours)], frozenset(), Fate.LEFT),
        ([Rule(MU, 1, everything, (Output(ROUTED.source_end.port),), ours)], frozenset(), Fate.LOST),
        ([entry for entry in entries if entry.dpid == MU], frozenset(), Fate.DROPPED),
    ]
    for installed_now, dead, fate in table:
        (end,) = traced(installed_now, dead=dead).ends
        assert end.fate is fate, installed_now


def test_a_loop_ends() -> None:
    """Of three switches: to the port that it came in by no switch sends a packet."""
    ring = (MU, 0xC1, 0xC2)
    wired = [Wire("ring", dpid, 2, ring[number - 2], 3) for number, dpid in enumerate(ring)]
    rules = [Rule(dpid, 1, Match(), (Output(2),), cookie(Kind.TRANSIT, 0)) for dpid in ring]
    found = trace(
        PACKET, MU, 1, lambda dpid: [r for r in rules if r.dpid == dpid], wired, HOSTS, lambda *_: True
    )
    (end,) = found.ends
    assert end.fate is Fate.LOOP
    assert {leg.dpid for leg in found.legs} == set(ring)


def test_a_copy_for_the_controller_is_counted_not_followed() -> None:
    rules = learn_rules(Steered(17, SOURCE, TARGET, ROUTED, (ROUTED,)), 6)
    found = traced(rules)
    assert (found.copies, [end.fate for end in found.ends]) == (1, [Fate.DELIVERED])
