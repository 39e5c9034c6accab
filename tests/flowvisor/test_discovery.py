"""Which links are found and believed: tables, transcripts, and random histories."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from adon.config.network import LinkDiscovery
from adon.flowvisor.discovery.link import LinkState, Wiring
from adon.flowvisor.discovery.lldp import Probe, probe_frame
from adon.flowvisor.topology.network_graph import PortState
from tests.depth import DEPTH
from tests.flowvisor.frames import CHASSIS, END, PORT, TTL, lldp_frame, tlv
from tests.flowvisor.wires import IDENTITY, ODD, Wires, line_of

A2, B1, C1, A3 = (1, 2), (2, 1), (3, 1), (1, 3)
WIRE = (A2, B1)


def joined(**more: object) -> Wires:
    """Two switches with one wire, connected."""
    net = Wires(WIRE, **more)  # type: ignore[arg-type]
    net.connect()
    return net


def test_a_link_is_live_as_soon_as_both_ends_have_heard_each_other() -> None:
    net = Wires(WIRE)
    net.connect(1)
    assert net.live == set()
    net.connect(2)
    assert net.live == {WIRE}
    assert [(change.before, change.after) for change in net.changes] == [
        (None, LinkState.ONE_WAY),
        (LinkState.ONE_WAY, LinkState.LIVE),
    ]
    assert net.told == [("info", "link-live")]
    assert (
        net.reports[0].text == "link 0000000000000001 port 2 ('p2') - 0000000000000002 port 1 ('p1') is live"
    )


def test_hellos_are_sent_once_per_interval_from_each_port_that_is_up() -> None:
    net = joined(settings=LinkDiscovery.model_validate({"hello": "2 s"}))
    net.port((2, 3), up=False)
    net.pass_time(2.0)
    net.sent.clear()
    net.pass_time(20.0)
    count = {(f.dpid, f.port): 0 for f in net.sent}
    for frame in net.sent:
        count[frame.dpid, frame.port] += 1
    assert count == {(1, 1): 10, (1, 2): 10, (1, 3): 10, (2, 1): 10, (2, 2): 10}


def test_the_switches_take_turns() -> None:
    net = Wires(switches=10)
    net.connect()
    beats = sorted(set(beat_times(net, 1.0)))
    gaps = [later - earlier for earlier, later in pairwise(beats)]
    assert len(beats) == 10
    assert max(gaps) < 0.2


def beat_times(net: Wires, seconds: float) -> list[float]:
    found, end = [], net.now + seconds
    while (wake := net.discovery.next_wake()) is not None and wake <= end:
        net.now = wake
        if net.discovery.wake(wake).frames:
            found.append(wake)
    return found


def test_a_port_that_goes_down_takes_its_link_with_it_at_once() -> None:
    net = joined()
    net.port(B1, up=False)
    assert net.states() == {WIRE: LinkState.DOWN}
    assert net.heard("link-down") == 1


def test_up_is_debounced_and_must_be_heard_anew() -> None:
    net = joined()
    net.port(B1, up=False)
    net.port(B1, up=True)
    assert net.states() == {WIRE: LinkState.SETTLING}
    net.pass_time(0.49)
    assert net.live == set()
    net.pass_time(0.01)
    assert net.live == {WIRE}


def test_a_link_that_falls_silent_is_dead_after_three_missed_hellos() -> None:
    net = joined()
    net.pass_time(1.0)
    last_heard = min(heard.at for heard in net.discovery.links()[0].arrivals.values())
    net.cut(*WIRE)
    net.cut(*WIRE[::-1])
    net.pass_time(last_heard + 3.0 - net.now)
    assert net.live == {WIRE}
    net.pass_time(0.5)
    assert net.live == set()
    net.pass_time(4)
    assert net.states() == {WIRE: LinkState.DOWN}
    assert net.heard("link-down") == 1


def test_one_direction_alone_is_no_link_and_is_reported_when_it_stays_so() -> None:
    net = Wires(WIRE)
    net.cut(B1, A2)
    net.connect()
    net.pass_time(1)
    assert net.states() == {WIRE: LinkState.ONE_WAY}
    assert net.told == []
    net.pass_time(10)
    assert net.told == [("warning", "link-one-way")]


def test_a_link_that_loses_one_direction_is_not_used_and_that_is_said_at_once() -> None:
    net = joined()
    net.cut(A2, B1)
    net.pass_time(3.6)
    assert net.states() == {WIRE: LinkState.ONE_WAY}
    assert net.heard("link-one-way") == 1


def test_a_ring_is_no_fault() -> None:
    ring = [((1, 2), (2, 1)), ((2, 2), (3, 1)), ((1, 1), (3, 2))]
    net = Wires(*ring, switches=3)
    net.connect()
    assert net.live == set(ring)
    assert net.heard("link-loop") == 0


@pytest.mark.parametrize("wire", [((1, 1), A2), (A2, A2)])
def test_a_loop_is_an_error_and_never_live(wire: tuple[tuple[int, int], tuple[int, int]]) -> None:
    net = Wires(wire)
    net.connect()
    net.pass_time(5)
    assert net.states() == {wire: LinkState.LOOP}
    assert net.told == [("error", "link-loop")]


def test_a_hub_is_no_wire_and_what_is_left_of_it_is_one() -> None:
    net = Wires(WIRE, (B1, C1), (A2, C1), switches=3)
    net.connect()
    net.pass_time(1)
    assert set(net.states().values()) == {LinkState.SHARED}
    net.port(C1, up=False)
    assert net.live == {WIRE}


def test_a_partition_leaves_the_links_of_both_parts() -> None:
    net = Wires(*line_of(4), switches=4)
    net.connect()
    net.port((2, 2), up=False)
    assert net.live == {((1, 2), (2, 1)), ((3, 2), (4, 1))}


# -- what is not believed -----------------------------------------------------------------------------


def recorded(net: Wires, sender: tuple[int, int]) -> bytes:
    return next(f.data for f in reversed(net.sent) if (f.dpid, f.port) == sender)


def test_a_recorded_frame_that_comes_again_proves_nothing() -> None:
    net = joined()
    old = {end: recorded(net, end) for end in WIRE}
    net.cut(*WIRE)
    net.cut(*WIRE[::-1])
    for _ in range(10):
        net.pass_time(1.0)
        net.hear(B1, old[A2])
        net.hear(A2, old[B1])
    assert net.live == set()


def test_the_last_frame_again_does_not_make_the_link_live_longer() -> None:
    net = joined()
    old = {end: recorded(net, end) for end in WIRE}
    net.cut(*WIRE)
    net.cut(*WIRE[::-1])
    net.pass_time(3.0)
    net.hear(B1, old[A2])
    net.hear(A2, old[B1])
    assert net.live == {WIRE}
    net.pass_time(0.5)
    assert net.live == set()


def test_a_frame_from_before_the_port_went_down_proves_nothing() -> None:
    net = joined()
    net.pass_time(0.1)
    old = recorded(net, A2)
    net.port(A2, up=False)
    net.cut(*WIRE)
    net.pass_time(0.1)
    net.port(A2, up=True)
    net.hear(B1, old)
    assert A2 not in net.discovery.links()[0].arrivals


@pytest.mark.parametrize(
    "forge",
    [
        lambda hello: probe_frame(replace(IDENTITY, key=bytes(32)), hello, "", "", 4),
        lambda hello: probe_frame(IDENTITY, replace(hello, dpid=99), "", "", 4),
        lambda hello: probe_frame(IDENTITY, replace(hello, port=99), "", "", 4),
        lambda hello: probe_frame(IDENTITY, replace(hello, controller=b"run-0002"), "", "", 4),
        lambda hello: probe_frame(IDENTITY, replace(hello, sent_at=hello.sent_at + 60), "", "", 4),
        lambda hello: probe_frame(IDENTITY, replace(hello, sent_at=hello.sent_at - 60), "", "", 4),
        lambda _: b"",
        lambda _: bytes(100),
    ],
    ids=["key", "switch", "port", "controller", "of later", "old", "empty", "zeros"],
)
def test_no_link_comes_from_a_frame_that_is_not_a_fresh_one_of_ours(forge: Callable[[Probe], bytes]) -> None:
    net = Wires()
    net.connect()
    for number in range(200):
        net.pass_time(0.01)
        hello = Probe(*A2, 1000 + number, net.now, IDENTITY.controller)
        net.hear(B1, forge(hello))
    assert net.states() == {}
    assert len(net.reports) <= 1, "a host fills the log"


def test_what_a_host_relays_is_reported_and_no_link() -> None:
    """Hosts get no hellos; one that somebody brings there makes no link, though its signature is right."""
    wiring = Wiring(hosts={(2, "p1"): "dtn"})
    net = joined(wiring=wiring)
    net.pass_time(10)
    assert net.states() == {WIRE: LinkState.MISWIRED}
    assert not [frame for frame in net.sent if (frame.dpid, frame.port) == B1]
    assert net.heard("link-miswired") == 1


def test_a_link_that_the_configuration_contradicts_is_an_error() -> None:
    ends = {(1, "p2"): (2, "p2"), (2, "p2"): (1, "p2")}
    net = joined(wiring=Wiring(links=ends))
    assert net.states() == {WIRE: LinkState.MISWIRED}
    assert net.told[0] == ("error", "link-miswired")


# -- neighbours that are not ours -------------------------------------------------------------------------


def test_a_foreign_neighbour_is_reported_once_and_shown_until_its_time_is_over() -> None:
    net = Wires()
    net.connect()
    for _ in range(5):
        net.hear(A3, lldp_frame(CHASSIS, tlv(2, b"\x07\x1b[31mGi\n1"), TTL, tlv(5, b"core"), END))
        net.pass_time(10)
    ((port, neighbour),) = net.discovery.neighbours(net.now)
    assert (port.key, neighbour.system, neighbour.port) == (A3, "core", "\ufffd[31mGi\ufffd1")
    assert net.told == [("info", "neighbour-foreign")]
    assert net.reports[0].text.isprintable()
    assert repr(ODD) in net.reports[0].text
    net.pass_time(120)
    assert net.discovery.neighbours(net.now) == ()


def test_a_neighbour_that_says_good_bye_is_gone() -> None:
    net = Wires()
    net.connect()
    net.hear(A3, lldp_frame(CHASSIS, PORT, TTL, END))
    net.hear(A3, lldp_frame(CHASSIS, PORT, tlv(3, b"\0\0"), END))
    assert net.discovery.neighbours(net.now) == ()


# -- switches that come and go ---------------------------------------------------------------------------


def test_a_switch_that_is_away_leaves_its_links_unknown_and_that_is_no_flap() -> None:
    net = joined()
    for _ in range(5):
        net.disconnect(2)
        assert net.states() == {WIRE: LinkState.UNKNOWN}
        net.pass_time(20)
        assert net.states() == {WIRE: LinkState.UNKNOWN}
        net.connect(2)
        assert net.live == {WIRE}
    assert net.told == [("info", "link-live")]


def test_a_switch_that_comes_back_without_its_wire_says_so_after_a_while() -> None:
    net = joined()
    net.disconnect(2)
    net.cut(*WIRE)
    net.cut(*WIRE[::-1])
    net.connect(2)
    assert net.states() == {WIRE: LinkState.UNKNOWN}
    net.pass_time(3.5)
    assert net.states() == {WIRE: LinkState.DOWN}


def test_ports_that_get_new_numbers_are_new_ports() -> None:
    net = joined()
    net.take(net.discovery.port_changed(2, "p1", PortState(9, True), net.now))
    assert net.states() == {WIRE: LinkState.DOWN}
    assert net.heard("link-down") == 1
    net.take(net.discovery.port_changed(2, "p2", None, net.now))
    net.take(net.discovery.port_changed(2, "p3", PortState(9, True), net.now))
    port = net.discovery.port((2, 9))
    assert port is not None
    assert port.name == "p3"


def test_admin_and_oper_are_kept_apart() -> None:
    net = joined()
    net.take(net.discovery.port_changed(1, "p2", PortState(2, False, admin=False), net.now))
    port = net.discovery.port(A2)
    assert port is not None
    assert (port.state.admin, port.state.oper, port.state.live) == (False, True, False)
    assert net.heard("link-down") == 1


def test_a_change_that_keeps_a_port_up_leaves_its_link_alone() -> None:
    net = joined()
    net.port(B1, up=True)
    assert net.live == {WIRE}


def test_what_is_said_of_an_unknown_switch_or_port_is_nothing() -> None:
    net = Wires()
    assert net.discovery.next_wake() is None
    net.take(net.discovery.switch_down(7, net.now))
    net.take(net.discovery.port_changed(7, "p1", PortState(1, True), net.now))
    net.hear((7, 1), b"")
    net.connect(1)
    net.hear((1, 77), b"")
    assert (net.states(), net.told) == ({}, [])


# -- flapping -----------------------------------------------------------------------------------------


def flap(net: Wires) -> None:
    net.port(B1, up=False)
    net.port(B1, up=True)
    net.pass_time(1.0)


def test_a_link_that_flaps_is_not_used_for_ever_longer_times() -> None:
    """Hellos are rare here: that a penalty is over is noticed without one."""
    net = joined(settings=LinkDiscovery.model_validate({"hello": "7 s", "debounce": "500 ms"}))
    flap(net)
    assert net.live == {WIRE}
    flap(net)
    assert net.states() == {WIRE: LinkState.PENALISED}
    net.pass_time(8.9)
    assert net.live == set()
    net.pass_time(0.2)
    assert net.live == {WIRE}
    flap(net)
    net.pass_time(18.9)
    assert net.live == set()
    net.pass_time(0.2)
    assert net.live == {WIRE}
    assert net.heard("link-penalised") == 2


def test_a_flapping_link_does_not_fill_the_log() -> None:
    net = joined()
    for _ in range(100):
        flap(net)
    assert len(net.reports) < 12


def test_a_link_that_was_repaired_is_forgiven() -> None:
    net = joined()
    for _ in range(3):
        flap(net)
    net.pass_time(20 + 3 * 60)
    flap(net)
    assert net.live == {WIRE}


def test_a_link_that_is_gone_is_remembered_for_a_day() -> None:
    net = joined(settings=LinkDiscovery.model_validate({"hello": "60 s"}))
    net.port(B1, up=False)
    net.pass_time(86_399)
    assert net.states() == {WIRE: LinkState.DOWN}
    net.pass_time(62)
    assert net.states() == {}


# -- time ---------------------------------------------------------------------------------------------


def test_the_delay_is_what_is_left_without_the_way_to_the_controller() -> None:
    net = Wires(WIRE, delay=0.030)
    net.connect()
    net.pass_time(0.061)
    (link,) = net.discovery.links()
    assert link.delays[B1] == pytest.approx(0.030, abs=1e-5)
    hello = Probe(*A2, 10_000, net.now, IDENTITY.controller)
    net.now += 0.040
    net.hear(B1, probe_frame(IDENTITY, hello, "", "", 4), {1: 0.010, 2: 0.020})
    assert link.delays[A2] == pytest.approx(0.025, abs=1e-5)


def test_the_smoothed_minimum_falls_at_once_and_rises_slowly() -> None:
    (link,) = joined().discovery.links()
    link.forget_probes()
    seen = []
    for delay in (0.010, 0.005, 0.021, -0.1):
        link.note_delay(A2, delay)
        seen.append(link.delays[A2])
    assert seen == pytest.approx([0.010, 0.005, 0.006, 0.0])


def test_a_controller_that_slept_does_not_blame_the_links() -> None:
    net = joined()
    net.pass_time(1)
    net.now += 30  # nobody was awake: no hello was sent, none was heard
    net.take(net.discovery.wake(net.now))
    assert net.live == {WIRE}
    assert net.told == [("info", "link-live")]
    net.cut(*WIRE)
    net.pass_time(4.6)
    assert net.live == set()


# -- any order of events ---------------------------------------------------------------------------------

ENDS = st.sampled_from([(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2)])


class AnyOrder(RuleBasedStateMachine):
    """Three switches in a ring whose wires are cut and mended, ports and switches that come and go."""

    def __init__(self) -> None:
        super().__init__()
        self.ring = [((1, 2), (2, 1)), ((2, 2), (3, 1)), ((1, 1), (3, 2))]
        settings = LinkDiscovery.model_validate({"flap_penalty": "2 s", "flap_penalty_cap": "20 s"})
        self.net = Wires(*self.ring, switches=3, ports=2, settings=settings)
        self.heard_at: dict[tuple[tuple[int, int], tuple[int, int]], float] = {}
        self.landed: list[tuple[tuple[int, int], bytes]] = []
        original = self.net.hear

        def hear(key: tuple[int, int], data: bytes) -> None:
            sender = next((f.dpid, f.port) for f in reversed(self.net.sent) if f.data == data)
            self.heard_at[sender, key] = self.net.now
            self.landed.append((key, data))
            original(key, data)

        self.net.hear = hear  # type: ignore[method-assign, assignment]

    @rule(dpid=st.sampled_from([1, 2, 3]))
    def connect(self, dpid: int) -> None:
        self.net.connect(dpid)

    @precondition(lambda self: self.net.connected)
    @rule(data=st.data())
    def disconnect(self, data: st.DataObject) -> None:
        self.net.disconnect(data.draw(st.sampled_from(sorted(self.net.connected))))

    @rule(end=ENDS, up=st.booleans())
    def port(self, end: tuple[int, int], up: bool) -> None:
        self.net.port(end, up=up)
        if not up:
            self.heard_at = {way: at for way, at in self.heard_at.items() if end not in way}

    @rule(number=st.integers(0, 2), forward=st.booleans(), mend=st.booleans())
    def wire(self, number: int, forward: bool, mend: bool) -> None:
        one, other = self.ring[number] if forward else self.ring[number][::-1]
        if mend:
            self.net.wires[one].add(other)
        else:
            self.net.cut(one, other)

    @rule(seconds=st.floats(0.01, 6.0))
    def time(self, seconds: float) -> None:
        self.net.pass_time(seconds)

    @precondition(lambda self: self.landed)
    @rule(data=st.data())
    def replay(self, data: st.DataObject) -> None:
        """A host repeats what arrived somewhere: that proves nothing, so the model does not note it."""
        key, frame = data.draw(st.sampled_from(self.landed[-50:]))
        self.net.take(self.net.discovery.lldp_received(*key, frame, self.net.now))

    @invariant()
    def a_live_link_was_heard_both_ways_within_the_window_and_its_ports_are_up(self) -> None:
        window = self.net.settings.window
        for one, other in self.net.live:
            assert self.net.ports[one]
            assert self.net.ports[other]
            assert {one[0], other[0]} <= self.net.connected
            if (one, other) in self.ring:
                for way in ((one, other), (other, one)):
                    assert self.net.now - self.heard_at[way] < window + 1e-6

    @invariant()
    def a_penalty_is_never_longer_than_the_cap_and_ends(self) -> None:
        for link in self.net.discovery.links():
            assert link.flaps.until - self.net.now <= self.net.settings.flap_penalty_cap
            if link.state is LinkState.LIVE:
                assert link.flaps.until <= self.net.now

    def teardown(self) -> None:
        """Whatever happened, a network that is left alone and well is wholly live in the end."""
        for one, other in self.ring:
            self.net.wires[one].add(other)
            self.net.wires[other].add(one)
        for end in self.net.ports:
            if not self.net.ports[end]:
                self.net.port(end, up=True)
        self.net.connect(*(set(self.net.dpids) - self.net.connected))
        self.net.pass_time(self.net.settings.flap_penalty_cap + 10)
        assert self.net.live == set(self.ring)


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = settings(max_examples=15 * DEPTH)


@given(st.lists(st.tuples(ENDS, st.binary(max_size=200)), max_size=30))
def test_whatever_comes_in_no_link_and_no_flood_follow(
    frames: list[tuple[tuple[int, int], bytes]],
) -> None:
    net = Wires(switches=3, ports=2)
    net.connect()
    sent = len(net.sent)
    for end, data in frames:
        net.hear(end, data)
    assert (net.states(), len(net.sent)) == ({}, sent)
