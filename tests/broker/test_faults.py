"""After any history of crashes, reconnects and hand-made changes: desired is installed.

Four switches, two paths between the edges, both forms of the pipeline, meters or none.  A controller may die
between any two effects, a switch hang up half-way in a batch, refuse, fall silent, forget everything; hands
change rules, groups and meters, ours and others'.  When it is quiet again every connected switch holds what
it should and nothing else of ours, nothing of anybody else's was touched, and the store says the same.

``ADON_TEST_DEPTH=50`` looks at fifty times as many histories.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from adon import yamlfile
from adon.broker.effects import RuleState
from adon.broker.events import MaintenanceAsked
from adon.broker.flow import Flow, FlowState
from adon.broker.maintenance import Scope, WindowRequest
from adon.config import Configuration
from adon.errors import Conflict, InvalidInput
from adon.flowvisor.rules.action import Output
from adon.flowvisor.rules.match import Match
from adon.flowvisor.rules.pipeline import owner_of
from adon.flowvisor.rules.rule import Entry, GroupEntry, MeterEntry, Rule
from adon.flowvisor.topology.network_graph import PortState
from tests.depth import DEPTH
from tests.support.network_factories import NETWORK
from tests.support.overlay_network import DIAMOND, PORTS, TEMPLATES
from tests.support.stage import ControllerDied, Stage

SWITCHES = st.sampled_from(sorted(PORTS))
NUMBERS = st.integers(0, 30)
STANDING = ("path-", "switch-")
KINDS = {"rule": Rule, "group": GroupEntry, "meter": MeterEntry}
SETTLED = (RuleState.INSTALLED, RuleState.REMOVED)
COUNTED = {"histories": 0}


def diamond(pipeline: str, ladder: str) -> Stage:
    """Return the network of the overlay's tests, everything connected."""
    form = f", pipeline: {pipeline}"
    text = DIAMOND % (form, form)
    text = text.replace("policy: {drain: 0 s}", f"policy: {{drain: 200 ms, ladder: {{mode: {ladder}}}}}")
    read = yamlfile.parse_model(text, Configuration, NETWORK.name)
    stage = Stage(read, TEMPLATES)
    stage.connect()
    return stage


def changed(entry: Entry) -> Entry:
    """Return an entry that does something else."""
    match entry:
        case Rule():
            return replace(entry, actions=(Output(77),), goto=None, metadata=None)
        case GroupEntry():
            return replace(entry, buckets=entry.buckets[:1])
        case MeterEntry():
            return replace(entry, rate=entry.rate + 1000)


def strange(dpid: int, number: int, *, ours: bool) -> tuple[Entry, ...]:
    """Return a rule, a group and a meter that no broker made, with our marks or without."""
    cookie, group, meter = (0xAD10 << 48 | 99, 0xAD00_7000, 0xA700) if ours else (7, 100, 100)
    return (
        Rule(dpid, 31_000 + number, Match(in_port=90 + number), (Output(9),), cookie),
        GroupEntry(dpid, group + number, "indirect", ()),
        MeterEntry(dpid, meter + number, 10**6, 10**5),
    )


class Worst(RuleBasedStateMachine):
    stage: Stage

    @initialize(pipeline=st.sampled_from(["single", "staged"]), ladder=st.sampled_from(["off", "meters"]))
    def begin(self, pipeline: str, ladder: str) -> None:
        COUNTED["histories"] += 1
        self.stage = diamond(pipeline, ladder)

    # -- what people do -------------------------------------------------------------------------------------

    @rule(ports=st.sampled_from([[], [5001], [5002, 5003]]), bound=st.sampled_from(["1 Mbps", "60 Mbps"]))
    def submit(self, ports: list[int], bound: str) -> None:
        with suppress(Conflict, ControllerDied):
            self.stage.submit("bulk", ports=ports, qspec={"throughput": {"min": bound}})

    @rule(number=NUMBERS, how=st.sampled_from(["cancel", "finished"]))
    def end(self, number: int, how: str) -> None:
        with suppress(ControllerDied):
            if (flow := self.one(number)) is not None and how == "cancel":
                self.stage.cancel(flow)
            elif flow is not None and flow.state is not FlowState.QUEUED:
                self.stage.report(flow)

    @rule(name=st.sampled_from(["a-up", "down-b"]), after=st.sampled_from([1, 30]))
    def maintain(self, name: str, after: int) -> None:
        begins = self.stage.now + after
        request = WindowRequest(scope=Scope.LINK, name=name, begins=begins, ends=begins + 40)
        with suppress(ControllerDied, Conflict, InvalidInput):
            self.stage.command(MaintenanceAsked, request, "pat")

    # -- what happens ---------------------------------------------------------------------------------------

    @rule(seconds=st.sampled_from([0.05, 0.3, 2, 7, 31]), busy=st.booleans())
    def wait(self, seconds: float, busy: bool) -> None:
        if busy:
            self.keep_busy(seconds)
        else:
            self.stage.pass_time(seconds)

    @rule(dpid=SWITCHES, which=NUMBERS, live=st.booleans())
    def port(self, dpid: int, which: int, live: bool) -> None:
        if dpid in self.stage.connected:
            name = sorted(PORTS[dpid])[which % len(PORTS[dpid])]
            self.stage.change_port(dpid, name, PortState(PORTS[dpid][name], live))

    @rule(dpid=SWITCHES)
    def disconnect(self, dpid: int) -> None:
        if dpid in self.stage.connected:
            self.stage.disconnect(dpid)

    @rule(dpid=SWITCHES)
    def connect(self, dpid: int) -> None:
        if dpid not in self.stage.connected:
            self.stage.connect(dpid)

    @rule(dpid=SWITCHES)
    def wipe(self, dpid: int) -> None:
        self.stage.wipe(dpid)

    @rule(dpid=SWITCHES, errs=st.sampled_from(["", "OFPFMFC_TABLE_FULL", "OFPGMFC_GROUP_EXISTS"]))
    def refuse(self, dpid: int, errs: str) -> None:
        self.stage.refuse(dpid, errs)

    @rule(dpid=SWITCHES)
    def fall_silent(self, dpid: int) -> None:
        faults = self.stage.switches[dpid].faults
        faults.silent = not faults.silent

    @rule(dpid=SWITCHES, after=st.integers(0, 3))
    def hang_up_half_way(self, dpid: int, after: int) -> None:
        self.stage.switches[dpid].faults.hang_up_after = after

    @rule(after=st.integers(0, 6))
    def die_soon(self, after: int) -> None:
        self.stage.die_after(after)

    @rule()
    def restart(self) -> None:
        self.stage.restart()

    @rule()
    def clock_steps(self) -> None:
        self.stage.now += 3600.0

    # -- what hands do --------------------------------------------------------------------------------------

    @rule(kind=st.sampled_from(sorted(KINDS)), which=NUMBERS, heard=st.booleans())
    def delete(self, kind: str, which: int, heard: bool) -> None:
        if found := self.ours(KINDS[kind]):
            self.stage.delete_by_hand(found[which % len(found)], reported=heard)

    @rule(kind=st.sampled_from(sorted(KINDS)), which=NUMBERS)
    def change(self, kind: str, which: int) -> None:
        if found := self.ours(KINDS[kind]):
            entry = found[which % len(found)]
            self.stage.switches[entry.dpid].table[entry.slot].rule = changed(entry)

    @rule(dpid=SWITCHES, number=st.integers(0, 3), which=st.integers(0, 2), ours=st.booleans())
    def put_in(self, dpid: int, number: int, which: int, ours: bool) -> None:
        entry = strange(dpid, number, ours=ours)[which]
        if entry.slot not in self.stage.switches[dpid].table:
            self.stage.put_in(entry)

    # -- what must hold -------------------------------------------------------------------------------------

    @invariant()
    def what_is_saved_is_what_is_held(self) -> None:
        held = {f.number: (f.state, f.path) for f in self.stage.broker.flows if not f.state.final}
        saved = {n: (f.state, f.path) for n, f in self.stage.saved.flows.items() if not f.state.final}
        assert held == saved, (held, saved)

    def teardown(self) -> None:
        if hasattr(self, "stage"):
            self.mend()
            self.converged()
            for flow in [flow for flow in self.stage.saved.flows.values() if not flow.state.final]:
                self.stage.cancel(flow)
            self.quiet()
            self.converged()
            owners = {owner_of(entry) for entry in self.ours(Rule, GroupEntry)}
            assert all(owner.startswith(STANDING) for owner in owners)
            assert not self.ours(MeterEntry)

    def mend(self) -> None:
        """Everything works again; what was announced is over."""
        stage = self.stage
        stage.end_faults()
        stage.die_after(None)
        for dpid in PORTS:
            stage.disconnect(dpid)
            stage.connect(dpid)
        self.quiet()

    def quiet(self) -> None:
        self.keep_busy(130)
        self.stage.sync()
        self.keep_busy(20)

    def converged(self) -> None:
        stage = self.stage
        desired = stage.desired()
        assert stage.installed() == desired
        saved = {entry for entry, state in stage.saved.rules.values() if state is not RuleState.REMOVED}
        assert saved == desired, saved ^ desired
        unsure = [
            held for held in stage.saved.rules.values() if held[0] in desired and held[1] not in SETTLED
        ]
        assert not unsure, unsure
        live = [flow for flow in stage.saved.flows.values() if not flow.state.final]
        assert not [flow for flow in live if flow.state is FlowState.INSTALLING]
        owners = {owner_of(entry) for entry in desired}
        running = {flow.id for flow in live if flow.state is FlowState.ACTIVE}
        assert {owner for owner in owners if not owner.startswith(STANDING)} == running

    def keep_busy(self, seconds: float) -> None:
        """Let time pass while every rule sees packets."""
        stage, end = self.stage, self.stage.now + seconds
        while stage.now < end:
            for switch in stage.switches.values():
                for held in switch.table.values():
                    held.used = stage.now
            stage.pass_time(min(5.0, end - stage.now))

    def ours(self, *kinds: type[Entry]) -> list[Entry]:
        return sorted((entry for entry in self.stage.installed() if isinstance(entry, kinds)), key=repr)

    def one(self, number: int) -> Flow | None:
        found = [flow for flow in self.stage.saved.flows.values() if not flow.state.final]
        return found[number % len(found)] if found else None


TestWorst = Worst.TestCase
TestWorst.settings = settings(
    max_examples=15 * DEPTH, derandomize=DEPTH == 1, suppress_health_check=list(HealthCheck)
)
