"""Two controllers, one PostgreSQL, real Open vSwitch: who writes, and what a takeover changes."""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from adon.errors import Unavailable
from adon.store.lease import CONTROLLER
from adon.store.schema import make_database
from adon.store.store import Store
from tests.apps.edge import (
    BRIDGES,
    LEASE,
    LINKS,
    Member,
    Switches,
    eventually,
    measured,
)
from tests.support.databases import new_database
from tests.support.refusals import refused
from tests.support.switched_flows import (
    FLOW_COOKIE,
    MEASUREMENT_COOKIE,
    await_state,
    durations,
    ingress_rule,
    prepare,
    rules_with,
    submit_flow,
)

pytestmark = pytest.mark.integration
log = logging.getLogger(__name__)

STEPPED_DOWN = 75


@pytest.fixture
def url(postgresql: str) -> str:
    own = new_database(postgresql)
    make_database(own)
    return own


@pytest.fixture
def both(tmp_path: Path, url: str) -> Iterator[tuple[Member, Member]]:
    """a and b, not started."""
    members = Member(tmp_path, "a", url), Member(tmp_path, "b", url)
    yield members
    for member in members:
        if member.process is not None and member.process.poll() is None:
            member.process.send_signal(signal.SIGCONT)
        member.stop()


@pytest.fixture
def switches(tmp_path: Path, both: tuple[Member, Member]) -> Iterator[Switches]:
    """Both edges, which connect to both controllers."""
    with edges(tmp_path, both) as running:
        yield running


class edges:  # noqa: N801 - used as a context manager
    """Open vSwitch with the two bridges, connected to these controllers."""

    def __init__(self, folder: Path, members: tuple[Member, Member]) -> None:
        (folder / "ovs").mkdir()
        self._switches = Switches(folder / "ovs")
        self._targets = [f"tcp:127.0.0.1:{member.port}" for member in members]
        self._running = self._switches.running()

    def __enter__(self) -> Switches:
        self._running.__enter__()
        for name, dpid in BRIDGES.items():
            ports = tuple(f"{name}-{link}" for link in LINKS)
            self._switches.add_bridge(name, dpid, 1, ports)
            self._switches.vsctl("set-controller", name, *self._targets)
            for controller in self._controllers(name):
                self._switches.vsctl(
                    "set", "Controller", controller, "connection_mode=out-of-band", "max_backoff=1000"
                )
        return self._switches

    def _controllers(self, bridge: str) -> list[str]:
        return self._switches.vsctl("get", "Bridge", bridge, "controller").strip("[] \n").split(", ")

    def __exit__(self, *error: Any) -> None:
        self._running.__exit__(*error)


def begin(active: Member, standby: Member, switches: Switches, **how: Any) -> None:
    """One active, the other standing by, both connected to both switches, the measurement rules in place."""
    active.start(**how)
    active.active()
    standby.start()
    active.uses_both()
    eventually(lambda: standby.said("event=switch.connected") == 2, "the standby is not connected")
    eventually(lambda: len(rules_with(switches, MEASUREMENT_COOKIE)) == 8, "no measurement rules")


@contextmanager
def heard(switches: Switches) -> Iterator[Callable[[], str]]:
    """What Open vSwitch hears and says on all its OpenFlow connections from now on, by its own log."""
    log_file = switches.folder / "ovs-vswitchd.out"
    switches.appctl("vlog/set", "vconn:console:dbg")
    begun = log_file.stat().st_size
    try:
        yield lambda: log_file.read_bytes()[begun:].decode(errors="replace")
    finally:
        switches.appctl("vlog/set", "vconn:console:warn")


@pytest.mark.parametrize("how", ["killed", pytest.param("stopped", marks=pytest.mark.slow)])
def test_the_standby_takes_over_and_sends_no_rule(
    both: tuple[Member, Member], switches: Switches, how: str
) -> None:
    a, b = both
    begin(a, b, switches)
    with a.client() as link:
        prepare(link)
        number = submit_flow(link)
        await_state(a, number, "active")
    before = [switches.rules(bridge) for bridge in BRIDGES]
    with heard(switches) as messages:
        gone_at = time.monotonic()
        if how == "killed":
            a.kill()
        else:
            a.signal(signal.SIGTERM)
            assert a.ended() == 0
        b.active()
        b.uses_both()
        log.warning("takeover after it was %s: %.2f s (lease %s)", how, time.monotonic() - gone_at, LEASE)
        with b.client() as link:
            time.sleep(1.5)  # over a consistency check
            found = link.call("snapshot", {})["reconcile"]
            assert found == {"missing": 0, "extra": 0, "wrong": 0, "blocked": 0}
            assert "received: OFPT_ROLE_REQUEST" in messages()
            assert "received: OFPST_FLOW request" in messages()
            assert "OFPT_FLOW_MOD" not in messages()
            assert link.call("tally", {})["flow_mods"] == 0
            for lines, bridge in zip(before, BRIDGES, strict=True):
                now = durations(switches.rules(bridge))
                assert all(new > old for new, old in zip(now, durations(lines), strict=True))
            # It goes on where the other was: the flow moves, and ends.
            link.send("measurement", measured("internet", 5))
            link.send("measurement", measured("al2s", 2))
            eventually(lambda: "output:3" in ingress_rule(switches), "the flow did not move")
            eventually(lambda: "received: OFPT_FLOW_MOD" in messages(), "the log does not tell of rules")
            link.call("flow.cancel", {"flow": number, "requester": "ann"})
            eventually(lambda: not rules_with(switches, FLOW_COOKIE), "its rules are still there")


def test_a_standby_refuses_commands_and_names_the_active_one(
    both: tuple[Member, Member], switches: Switches
) -> None:
    a, b = both
    begin(a, b, switches)
    with b.client() as link, refused("standby"):
        link.call("snapshot", {})
    with Store.open(a.url, read_only=True) as store:
        held = store.lease(CONTROLLER)
    assert held is not None
    assert held.holder == "a"
    assert not b.said("code=switch-connected")


# What keeps a stale controller from writing; each is shown by taking away those before it.
NO_CLOCK = """
from adon.flowvisor.controller_roles import ClockTick, LeaseLost, Roles
from apps.campus_edge.roles import RoleDesk
feed = RoleDesk.feed
RoleDesk.feed = lambda self, event: isinstance(event, LeaseLost | ClockTick) or feed(self, event)
Roles.may_send = lambda self, dpid, now: True
"""
NO_STATUS = "from adon.flowvisor.openflow import messages\nmessages.is_role_taken = lambda message: False\n"
NO_FENCE = "from adon.store import lease\nlease.check = lambda connection, held: None\n"
PROTECTED = {
    "its clock": ("", "event=stepped-down"),
    "the switch's word": (NO_CLOCK, "another controller became the switch's master"),
    "the store": (NO_CLOCK + NO_STATUS, "was taken by b"),
    "the switch": (NO_CLOCK + NO_STATUS + NO_FENCE, "OFPBRC_IS_SLAVE"),
}


@pytest.mark.parametrize(
    "by", ["the store", *(pytest.param(by, marks=pytest.mark.slow) for by in PROTECTED if by != "the store")]
)
def test_who_slept_through_its_lease_writes_nothing_and_steps_down(
    both: tuple[Member, Member], switches: Switches, by: str
) -> None:
    a, b = both
    without, said = PROTECTED[by]
    runs = f"import sys\nsys.argv[0] = 'controller'\n{without}"
    runs += "from apps.campus_edge.__main__ import main\nsys.exit(main())\n"
    begin(a, b, switches, program=("-c", runs))
    with a.client() as link:
        prepare(link)
        a.signal(signal.SIGSTOP)
        b.active()
        b.uses_both()
        a.signal(signal.SIGCONT)
        if by in ("the store", "the switch"):
            with suppress(Unavailable):  # it may have answered before it heard of the refusal
                submit_flow(link)
        assert a.ended() == STEPPED_DOWN
    assert a.said(said), a.log.read_text()[-2000:]
    assert rules_with(switches, FLOW_COOKIE) == []
    assert b.alive
    if by != "the switch":  # whose fence was taken away
        with Store.open(b.url, read_only=True) as store:
            assert store.flows() == ()


@pytest.mark.slow
def test_who_stepped_down_stands_by_again(both: tuple[Member, Member], switches: Switches) -> None:
    a, b = both
    begin(a, b, switches)
    a.signal(signal.SIGSTOP)
    b.active()
    a.signal(signal.SIGCONT)
    assert a.ended() == STEPPED_DOWN
    a.start()
    b.uses_both()
    eventually(lambda: a.said("event=switch.connected") == 4, "it is not connected")
    b.kill()
    eventually(lambda: a.said("event=ready") == 2, "it did not take over")
    eventually(lambda: a.said("code=switch-connected") == 4, "it does not use the switches")


def test_high_availability_needs_a_database_that_others_can_reach(tmp_path: Path) -> None:
    member = Member(tmp_path, "a", None)
    member.configure(ha={"name": "a"})
    member.start()
    assert member.ended() == 2
    assert member.said("controller.ha:")


def test_a_controller_without_ha_beside_one_with_it_is_refused(
    both: tuple[Member, Member], switches: Switches
) -> None:
    a, b = both
    a.start()
    a.active()
    b.configure(ha=None)
    b.start()
    assert b.ended() == 2
    assert b.said("controller.ha:")
    assert a.alive


def test_a_second_controller_by_mistake_is_seen_and_not_fought_with(tmp_path: Path) -> None:
    """Two that know nothing of each other (R21): the later one is master, the earlier one says so."""
    members = Member(tmp_path, "a", None), Member(tmp_path, "b", None)
    a, b = members
    try:
        with edges(tmp_path, members) as switches:
            a.start()
            a.uses_both()
            b.start()
            b.uses_both()
            eventually(lambda: a.said("event=switch.left") == 2, "nobody said so")
            eventually(lambda: len(rules_with(switches, MEASUREMENT_COOKIE)) == 8, "no measurement rules")
            time.sleep(3)  # the switches come back to a, which is refused
            assert a.said("event=switch.left") == 2
            assert b.said("event=switch.left") == 0
            with a.client() as link:
                assert {one["connected"] for one in link.call("snapshot", {})["switches"]} == {False}
            assert a.alive
    finally:
        for member in members:
            member.stop()
