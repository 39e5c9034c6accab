"""After any history of crashes, reconnects and hand-made changes: desired is installed.

Four switches, two paths between the edges, both forms of the pipeline, meters or none.  A controller may die
between any two effects, a switch hang up half-way in a batch, refuse, fall silent, forget everything; hands
change rules, groups and meters, ours and others'.  When it is quiet again every connected switch holds what
it should and nothing else of ours, nothing of anybody else's was touched, and the store says the same.

``ADON_TEST_DEPTH=50`` looks at fifty times as many histories.
"""

from __future__ import annotations

from contextlib import suppress

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from adon.broker.effects import RuleState
from adon.broker.events import MaintenanceAsked, SwitchUp
from adon.broker.flow import Flow, FlowState
from adon.broker.maintenance import Scope, WindowRequest
from adon.errors import Conflict, InvalidInput
from adon.flowvisor.pipeline import owner_of
from adon.flowvisor.port import PortState
from adon.flowvisor.rule import GroupEntry, MeterEntry, Rule
from tests.broker.faults import Died, Faults, faults, strange
from tests.broker.test_overlay import PORTS
from tests.depth import DEPTH

SWITCHES = st.sampled_from(sorted(PORTS))
NUMBERS = st.integers(0, 30)
STANDING = ("path-", "switch-")
KINDS = {"rule": Rule, "group": GroupEntry, "meter": MeterEntry}
SETTLED = (RuleState.INSTALLED, RuleState.REMOVED)
COUNTED = {"histories": 0}


class Worst(RuleBasedStateMachine):
    stage: Faults

    @initialize(pipeline=st.sampled_from(["single", "staged"]), ladder=st.sampled_from(["off", "meters"]))
    def begin(self, pipeline: str, ladder: str) -> None:
        COUNTED["histories"] += 1
        self.stage = faults(pipeline, ladder)

    # -- what people do -------------------------------------------------------------------------------------

    @rule(ports=st.sampled_from([[], [5001], [5002, 5003]]), bound=st.sampled_from(["1 Mbps", "60 Mbps"]))
    def submit(self, ports: list[int], bound: str) -> None:
        with suppress(Conflict, Died):
            self.stage.submit("bulk", ports=ports, qspec={"throughput": {"min": bound}})

    @rule(number=NUMBERS, how=st.sampled_from(["cancel", "finished"]))
    def end(self, number: int, how: str) -> None:
        with suppress(Died):
            if (flow := self.one(number)) is not None and how == "cancel":
                self.stage.cancel(flow)
            elif flow is not None and flow.state is not FlowState.QUEUED:
                self.stage.report(flow)

    @rule(name=st.sampled_from(["a-up", "down-b"]), after=st.sampled_from([1, 30]))
    def maintain(self, name: str, after: int) -> None:
        begins = self.stage.now + after
        request = WindowRequest(scope=Scope.LINK, name=name, begins=begins, ends=begins + 40)
        with suppress(Died, Conflict, InvalidInput):
            self.stage.command(MaintenanceAsked, request, "pat")

    # -- what happens ---------------------------------------------------------------------------------------

    @rule(seconds=st.sampled_from([0.05, 0.3, 2, 7, 31]), busy=st.booleans())
    def wait(self, seconds: float, busy: bool) -> None:
        (self.stage.packets_pass if busy else self.stage.pass_time)(seconds)

    @rule(dpid=SWITCHES, which=NUMBERS, live=st.booleans())
    def port(self, dpid: int, which: int, live: bool) -> None:
        if self.stage.ready(dpid):
            name = sorted(PORTS[dpid])[which % len(PORTS[dpid])]
            self.stage.port(dpid, name, PortState(PORTS[dpid][name], live))

    @rule(dpid=SWITCHES)
    def disconnect(self, dpid: int) -> None:
        if self.stage.ready(dpid):
            self.stage.disconnect(dpid)

    @rule(dpid=SWITCHES)
    def connect(self, dpid: int) -> None:
        if not self.stage.ready(dpid):
            self.stage.connect(dpid)

    @rule(dpid=SWITCHES)
    def wipe(self, dpid: int) -> None:
        self.stage.wipe(dpid)

    @rule(dpid=SWITCHES, errs=st.sampled_from(["", "OFPFMFC_TABLE_FULL", "OFPGMFC_GROUP_EXISTS"]))
    def refuse(self, dpid: int, errs: str) -> None:
        self.stage.refuse.pop(dpid, None)
        if errs:
            self.stage.refuse[dpid] = errs

    @rule(dpid=SWITCHES)
    def fall_silent(self, dpid: int) -> None:
        self.stage.silent ^= {dpid}

    @rule(dpid=SWITCHES, after=st.integers(0, 3))
    def hang_up_half_way(self, dpid: int, after: int) -> None:
        self.stage.hangs_up[dpid] = after

    @rule(after=st.integers(0, 6))
    def die_soon(self, after: int) -> None:
        self.stage.dies_after = after

    @rule()
    def restart(self) -> None:
        self.stage.restart_controller()

    @rule(by=st.sampled_from([-3600.0, 3600.0]))
    def clock_steps(self, by: float) -> None:
        if by > 0:
            self.stage.packets_pass(0)
            self.stage.now += by
        elif self.stage.now > 1_003_700:
            self.stage.now += by

    # -- what hands do --------------------------------------------------------------------------------------

    @rule(kind=st.sampled_from(sorted(KINDS)), which=NUMBERS, heard=st.booleans())
    def delete(self, kind: str, which: int, heard: bool) -> None:
        if found := self.stage.ours(KINDS[kind]):
            self.stage.take_out(found[which % len(found)], heard=heard)

    @rule(kind=st.sampled_from(sorted(KINDS)), which=NUMBERS)
    def change(self, kind: str, which: int) -> None:
        if found := self.stage.ours(KINDS[kind]):
            self.stage.change(found[which % len(found)])

    @rule(dpid=SWITCHES, number=st.integers(0, 3), which=st.integers(0, 2), ours=st.booleans())
    def put_in(self, dpid: int, number: int, which: int, ours: bool) -> None:
        self.stage.put_in(strange(dpid, number, ours=ours)[which])

    # -- what must hold -------------------------------------------------------------------------------------

    @invariant()
    def what_is_not_ours_is_not_touched(self) -> None:
        assert self.stage.untouched()

    @invariant()
    def what_is_saved_is_what_is_held(self) -> None:
        held = {f.number: (f.state, f.path) for f in self.stage.broker.flows if not f.state.final}
        saved = {n: (f.state, f.path) for n, f in self.stage.flows.items() if not f.state.final}
        assert held == saved, (held, saved)

    def teardown(self) -> None:
        if hasattr(self, "stage"):
            self.mend()
            self.converged()
            for flow in [flow for flow in self.stage.flows.values() if not flow.state.final]:
                self.stage.cancel(flow)
            self.quiet()
            self.converged()
            owners = {owner_of(entry) for entry in self.stage.ours(Rule, GroupEntry)}
            assert all(owner.startswith(STANDING) for owner in owners)
            assert not self.stage.ours(MeterEntry)

    def mend(self) -> None:
        """Everything works again; what was announced is over."""
        stage = self.stage
        stage.refuse.clear()
        stage.silent.clear()
        stage.hangs_up.clear()
        stage.dies_after = None
        for dpid, numbers in PORTS.items():
            stage.disconnect(dpid)
            stage.connected.add(dpid)
            stage.happen(SwitchUp(*stage.stamp(), dpid, {n: PortState(p, True) for n, p in numbers.items()}))
        self.quiet()

    def quiet(self) -> None:
        self.stage.packets_pass(130)
        self.stage.sync()
        self.stage.packets_pass(20)

    def converged(self) -> None:
        stage = self.stage
        desired = {entry for dpid in PORTS for entry in stage.broker.world.network.desired(dpid)}
        assert stage.installed() == desired
        saved = {entry for entry, state in stage.rules.values() if state is not RuleState.REMOVED}
        assert saved == desired, saved ^ desired
        unsure = [held for held in stage.rules.values() if held[0] in desired and held[1] not in SETTLED]
        assert not unsure, unsure
        live = [flow for flow in stage.flows.values() if not flow.state.final]
        assert not [flow for flow in live if flow.state is FlowState.INSTALLING]
        owners = {owner_of(entry) for entry in desired}
        running = {flow.id for flow in live if flow.state is FlowState.ACTIVE}
        assert {owner for owner in owners if not owner.startswith(STANDING)} == running

    def one(self, number: int) -> Flow | None:
        found = [flow for flow in self.stage.flows.values() if not flow.state.final]
        return found[number % len(found)] if found else None


TestWorst = Worst.TestCase
TestWorst.settings = settings(
    max_examples=15 * DEPTH, derandomize=DEPTH == 1, suppress_health_check=list(HealthCheck)
)
