"""State machine of the histories of a stage."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from adon.broker.events import FirstPacket
from adon.broker.flow import Flow, FlowState
from adon.errors import Conflict, InvalidInput
from adon.flowvisor.rules.action import Output
from adon.flowvisor.rules.match import Match
from adon.flowvisor.rules.pipeline import owner_of
from adon.flowvisor.rules.rule import Rule
from adon.flowvisor.topology.network_graph import PortState
from adon.flowvisor.topology.path import FiveTuple
from measurement.anomaly.alarm import Alarm
from measurement.model import Metric, PathKey
from tests.support.factories import clear_alarm, make_alarm
from tests.support.stage import MU_EDGE, OSU_EDGE, PORTS, Stage, know

EDGES = st.sampled_from([MU_EDGE, OSU_EDGE])
RATES = st.sampled_from([0.5, 5.0, 6.5, 13.0, 58.0])
NUMBERS = st.integers(0, 7)
PATH_PORTS = {"al2s": 2, "internet": 3}


class Histories(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.raised: dict[PathKey, Alarm] = {}

    @initialize(rate=RATES)
    def begin(self, rate: float) -> None:
        self.stage = Stage()
        self.stage.connect()
        know(self.stage, al2s=rate, internet=6.5)

    # -- what happens -----------------------------------------------------------------------------------

    @rule(
        template=st.sampled_from(["soykb", "neuroblastoma", "rivvir"]),
        mbps=st.sampled_from(["1 Mbps", "6 Mbps", "7 Mbps"]),
        ports=st.sampled_from([[], [5001], [5002], [5003, 5004]]),
        patience=st.sampled_from(["20 s", "1 h"]),
        times=st.sampled_from([{}, {}, {"deadline": "60 s"}, {"not_before": "10 s", "deadline": "1 h"}]),
    )
    def submit(
        self, template: str, mbps: str, ports: list[int], patience: str, times: dict[str, str]
    ) -> None:
        bound = {"throughput": {"min": mbps}}
        with suppress(Conflict, InvalidInput):  # a port in use; nothing left to reserve
            self.stage.submit(template, ports=ports, qspec=bound, queue_patience=patience, **times)

    @rule(number=NUMBERS)
    def cancel(self, number: int) -> None:
        if flow := self.one(number, FlowState.QUEUED, FlowState.INSTALLING, FlowState.ACTIVE):
            assert self.stage.cancel(flow).state is FlowState.CANCELLED

    @rule(number=NUMBERS, status=st.sampled_from(["started", "progress", "finished", "failed"]))
    def report(self, number: int, status: str) -> None:
        if flow := self.one(number, FlowState.INSTALLING, FlowState.ACTIVE):
            self.stage.report(flow, status, 1000)

    @rule(number=NUMBERS, arrive=st.booleans(), seconds=st.sampled_from([6, 21]))
    def transfer(self, number: int, arrive: bool, seconds: int) -> None:
        for _ in range(seconds // 3):
            if flow := self.one(number, FlowState.ACTIVE):
                self.stage.carry(flow, 100_000, arrive=arrive)
            self.stage.pass_time(3)

    @rule(number=NUMBERS, port=st.integers(20_000, 20_002))
    def first_packet(self, number: int, port: int) -> None:
        learning = [r for r in self.stage.rules_in(MU_EDGE) if r.cookie >> 48 & 0xFF == 0x12]
        if learning and MU_EDGE in self.stage.connected:
            cookie = learning[number % len(learning)].cookie
            seen = FiveTuple(6, port, 40_000)
            stamp = self.stage.stamp()
            self.stage.feed(FirstPacket(*stamp, MU_EDGE, cookie, "10.1.0.10", "10.2.0.10", seen))

    @rule(path=st.sampled_from(["al2s", "internet"]), rate=RATES)
    def measure(self, path: str, rate: float) -> None:
        know(self.stage, **{path: rate})

    @rule(
        path=st.sampled_from(["al2s", "internet"]),
        metric=st.sampled_from([Metric.THROUGHPUT, Metric.LOSS]),
        kind=st.sampled_from(["plateau", "absence"]),
        critical=st.booleans(),
        ends=st.booleans(),
    )
    def alarm(self, path: str, metric: Metric, kind: str, critical: bool, ends: bool) -> None:
        """Raised under a name of its own, or the end of the one before."""
        now = self.stage.now
        found = make_alarm(now, f"a-{now}", path, metric, kind=kind, critical=critical)
        before = self.raised.pop(found.series.key, found) if ends else found
        self.stage.alarm(clear_alarm(before, now) if ends else found)
        if not ends:
            self.raised.setdefault(found.series.key, found)

    @rule(seconds=st.sampled_from([0.05, 0.3, 2, 7, 31, 70]))
    def wait(self, seconds: float) -> None:
        self.stage.pass_time(seconds)

    @rule(edge=EDGES)
    def disconnect(self, edge: int) -> None:
        self.stage.disconnect(edge)

    @rule(edge=EDGES)
    def connect(self, edge: int) -> None:
        if edge not in self.stage.connected:
            self.stage.connect(edge)

    @rule(edge=EDGES)
    def wipe(self, edge: int) -> None:
        self.stage.wipe(edge)

    @rule(edge=EDGES, refuses=st.booleans())
    def refuse(self, edge: int, refuses: bool) -> None:
        self.stage.refuse(edge, "OFPET_FLOW_MOD_FAILED OFPFMFC_TABLE_FULL" if refuses else "")

    @rule(edge=EDGES, falls_silent=st.booleans())
    def silence(self, edge: int, falls_silent: bool) -> None:
        self.stage.switches[edge].faults.silent = falls_silent

    @rule(edge=EDGES, path=st.sampled_from(["al2s", "rtr", "dtn"]), live=st.sampled_from([True, False, None]))
    def port(self, edge: int, path: str, live: bool | None) -> None:
        if edge in self.stage.connected:
            prefix = "mu" if edge == MU_EDGE else "osu"
            name = f"{prefix}-edge-{path}"
            state = None if live is None else PortState(PORTS[edge][name], live)
            self.stage.change_port(edge, name, state)

    @rule(which=NUMBERS)
    def delete_by_hand(self, which: int) -> None:
        ours = sorted(self.stage.rules_in(), key=repr)
        if ours:
            self.stage.delete_by_hand(ours[which % len(ours)])

    @rule(which=NUMBERS)
    def foreign_rule(self, which: int) -> None:
        """Somebody puts a rule where one of ours was a moment ago."""
        ours = sorted(self.stage.rules_in(), key=repr)
        if ours:
            taken = ours[which % len(ours)]
            self.stage.delete_by_hand(taken)
            if taken.slot not in self.stage.switches[taken.dpid].table:
                self.stage.put_in(Rule(taken.dpid, taken.priority, taken.match, (Output(9),), cookie=7))
            self.stage.sync()  # between two reads nobody could know of it

    @rule()
    def unknown_kind(self) -> None:
        """A later version of ADON left a rule behind."""
        self.stage.put_in(Rule(MU_EDGE, 31_000, Match(in_port=9), (), cookie=0xAD7F << 48 | 5))

    @rule()
    def restart(self) -> None:
        self.stage.restart()

    def one(self, number: int, *states: FlowState) -> Flow | None:
        found = [flow for flow in self.stage.saved.flows.values() if flow.state in states]
        return found[number % len(found)] if found else None

    # -- what must hold ----------------------------------------------------------------------------------

    @invariant()
    def what_is_saved_is_what_is_held(self) -> None:
        held = {flow.number: flow for flow in self.stage.broker.flows}
        for number, saved in self.stage.saved.flows.items():
            if not saved.state.final:
                assert (held[number].state, held[number].path) == (saved.state, saved.path)
                assert held[number].tuples == saved.tuples
        assert all(self.stage.saved.flows[number].state is flow.state for number, flow in held.items())
        assert not [flow for flow in held.values() if flow.state is FlowState.REQUESTED]

    @invariant()
    def who_waits_is_in_line(self) -> None:
        waiting = sorted(f.number for f in self.stage.broker.flows if f.state is FlowState.QUEUED)
        assert sorted(self.stage.queue_order()) == waiting

    @invariant()
    def only_running_flows_have_a_path(self) -> None:
        for flow in self.stage.broker.flows:
            assert (flow.path is not None) == flow.state.holds_rules or flow.state.final

    @invariant()
    def rules_are_wanted_by_running_flows_only(self) -> None:
        running = {flow.id for flow in self.stage.broker.flows if flow.state.holds_rules}
        owners = {owner_of(entry) for entry in self.stage.desired()}
        assert {owner for owner in owners if owner.startswith("f-")} <= running

    def teardown(self) -> None:
        if hasattr(self, "stage"):
            self.mend()
            self.converges()
            self.leaves_nothing()

    def mend(self) -> None:
        """Everything works again."""
        stage = self.stage
        stage.end_faults()
        stage.remove_foreign()
        for dpid in PORTS:
            stage.disconnect(dpid)
            stage.connect(dpid)
        self.keep_busy(75)

    def keep_busy(self, seconds: int) -> None:
        for _ in range(seconds // 5):
            for flow in self.stage.saved.flows.values():
                if flow.state is FlowState.ACTIVE:
                    self.stage.carry(flow, 10_000)
            self.stage.pass_time(5)

    def converges(self) -> None:
        stage = self.stage
        desired = stage.desired()
        assert stage.installed() == desired
        live = [flow for flow in stage.saved.flows.values() if not flow.state.final]
        assert not [flow for flow in live if flow.state is FlowState.INSTALLING]
        owners = {owner_of(wanted) for wanted in desired}
        assert owners - {"path-0", "path-1"} == {f.id for f in live if f.state is FlowState.ACTIVE}
        for flow in live:
            for steering in (entry for entry in stage.rules_of(flow) if isinstance(entry, Rule)):
                if steering.cookie >> 48 & 0xFF in (0x10, 0x12):
                    assert steering.actions[-1] == Output(PATH_PORTS[str(flow.path)])

    def leaves_nothing(self) -> None:
        """When all have ended nothing of them is left, in the switches or in memory."""
        for flow in list(self.stage.saved.flows.values()):
            if not self.stage.saved.flows[flow.number].state.final:
                self.stage.cancel(flow)
        self.stage.pass_time(15)
        assert {owner_of(wanted) for wanted in self.stage.installed()} <= {"path-0", "path-1"}
        assert len(self.stage.broker.flows) == 0
        assert not any(self.stage.memory_of(flow) for flow in self.stage.saved.flows.values())
