"""Which controller may write: the table, and every interleaving of two controllers that Hypothesis finds."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adon.flowvisor import controller_roles
from adon.flowvisor.controller_roles import (
    TRANSITIONS,
    ClockTick,
    Control,
    ControllerRole,
    ControllerState,
    DisconnectSwitch,
    LeaseAcquired,
    LeaseLost,
    LeaseObserved,
    LeaseRenewed,
    RequestRole,
    RoleEffect,
    RoleEvent,
    RoleGranted,
    RoleLost,
    Roles,
    RoleStale,
    RoleUnknown,
    StateLoaded,
    StepDown,
    SwitchArrived,
    SwitchLeft,
    UseSwitch,
    step,
)
from tests.support.refusals import refused

OURS, SHARED = 1, 2
CONTROL: dict[int, Control] = {OURS: "exclusive", SHARED: "shared"}
MASTER, SLAVE, EQUAL = ControllerRole.MASTER, ControllerRole.SLAVE, ControllerRole.EQUAL
LEASE = 5.0


def run(*events: RoleEvent, begin: Roles | None = None) -> tuple[Roles, tuple[RoleEffect, ...]]:
    """The state after all events, and the effects of the last."""
    state = controller_roles.standby_controller(CONTROL) if begin is None else begin
    effects: tuple[RoleEffect, ...] = ()
    for event in events:
        state, effects = step(state, event)
    return state, effects


TAKES_OVER = (
    LeaseObserved(7),
    SwitchArrived(OURS),
    SwitchArrived(SHARED),
    RoleGranted(OURS, SLAVE),
    RoleGranted(SHARED, SLAVE),
    LeaseAcquired(8, 100.0),
    StateLoaded(),
)
ACTIVE = (*TAKES_OVER, RoleGranted(OURS, MASTER), RoleGranted(SHARED, EQUAL))


class TestStandby:
    def test_asks_to_be_slave_with_the_generation_it_has_seen(self) -> None:
        assert run(LeaseObserved(7), SwitchArrived(OURS))[1] == (RequestRole(OURS, SLAVE, 7),)

    def test_asks_nothing_before_it_knows_a_generation_and_then_does(self) -> None:
        assert run(SwitchArrived(OURS))[1] == ()
        assert run(SwitchArrived(OURS), LeaseObserved(7))[1] == (RequestRole(OURS, SLAVE, 7),)

    def test_whose_generation_is_old_asks_again_when_it_has_read_the_new_one(self) -> None:
        late = (LeaseObserved(7), SwitchArrived(OURS), RoleStale(OURS))
        assert run(*late)[1] == ()
        assert run(*late, LeaseObserved(8))[1] == (RequestRole(OURS, SLAVE, 8),)
        assert run(*late, LeaseObserved(7))[1] == ()

    def test_uses_no_switch(self) -> None:
        state, effects = run(LeaseObserved(7), SwitchArrived(OURS), RoleGranted(OURS, SLAVE))
        assert effects == ()
        assert not state.may_send(OURS, 0.0)


class TestTakeover:
    def test_the_lease_alone_sends_nothing_the_state_is_loaded_first(self) -> None:
        state, effects = run(*TAKES_OVER[:-1])
        assert (state.standing, effects) == (ControllerState.CANDIDATE, ())
        assert run(SwitchArrived(OURS), begin=state)[1] == ()

    def test_each_connected_switch_is_asked_by_how_it_is_driven(self) -> None:
        state, effects = run(*TAKES_OVER)
        assert state.standing is ControllerState.ACTIVE
        assert effects == (RequestRole(OURS, MASTER, 8), RequestRole(SHARED, EQUAL, 8))

    def test_a_switch_is_used_when_it_has_granted_the_role_and_only_once(self) -> None:
        state, effects = run(*TAKES_OVER)
        assert not state.may_send(OURS, 0.0)
        state, effects = run(RoleGranted(OURS, MASTER), begin=state)
        assert effects == (UseSwitch(OURS),)
        assert state.may_send(OURS, 99.9)
        assert run(RoleGranted(OURS, MASTER), begin=state)[1] == ()

    def test_the_answer_to_an_older_request_is_not_taken_for_this_one(self) -> None:
        state, effects = run(*TAKES_OVER, RoleGranted(OURS, SLAVE))
        assert effects == ()
        assert not state.may_send(OURS, 0.0)
        assert run(RoleGranted(OURS, MASTER), begin=state)[1] == (UseSwitch(OURS),)

    def test_a_switch_that_comes_later_is_asked_then(self) -> None:
        assert run(LeaseAcquired(8, 100.0), StateLoaded(), SwitchArrived(OURS))[1] == (
            RequestRole(OURS, MASTER, 8),
        )


class TestSteppingDown:
    @pytest.mark.parametrize(
        "event", [LeaseLost("b has it"), ClockTick(100.0), RoleStale(OURS), RoleLost(OURS)]
    )
    def test_a_role_or_lease_that_is_lost_steps_down(self, event: RoleEvent) -> None:
        state, effects = run(*ACTIVE, event)
        (down,) = effects
        assert isinstance(down, StepDown)
        assert state.standing is ControllerState.STEPPING_DOWN
        assert not state.may_send(OURS, 0.0)
        assert not state.may_send(SHARED, 0.0)

    def test_is_for_good(self) -> None:
        state, _ = run(*ACTIVE, LeaseLost("b has it"))
        for event in (*ACTIVE, ClockTick(1e9)):
            assert step(state, event) == (state, ())

    def test_a_renewed_lease_runs_on(self) -> None:
        state, effects = run(*ACTIVE, LeaseRenewed(200.0), ClockTick(150.0))
        assert effects == ()
        assert state.may_send(OURS, 199.9)

    def test_nothing_is_sent_once_time_is_up_whoever_noticed(self) -> None:
        state, _ = run(*ACTIVE)
        assert state.may_send(SHARED, 99.9)
        assert not state.may_send(SHARED, 100.0)

    def test_our_time_is_up_before_another_can_take_the_lease(self) -> None:
        assert controller_roles.lease_end(50.0, LEASE) == pytest.approx(50.0 + 0.8 * LEASE)

    def test_a_switch_that_never_made_us_master_takes_nothing_away(self) -> None:
        assert run(*ACTIVE, RoleLost(SHARED))[1] == ()
        assert run(*ACTIVE, SwitchLeft(OURS), RoleLost(OURS))[1] == ()


class TestAlone:
    """One controller, without high availability (R21)."""

    ALONE = (StateLoaded(), SwitchArrived(OURS), RoleGranted(OURS, MASTER))

    def test_is_master_too_so_that_a_second_one_is_seen(self) -> None:
        state, effects = run(*self.ALONE[:2], begin=controller_roles.single_controller(CONTROL, 7))
        assert effects == (RequestRole(OURS, MASTER, 7),)
        assert run(RoleGranted(OURS, MASTER), begin=state)[1] == (UseSwitch(OURS),)

    @pytest.mark.parametrize("event", [RoleLost(OURS), RoleStale(OURS)])
    def test_who_is_replaced_at_a_switch_leaves_it_and_keeps_the_others(self, event: RoleEvent) -> None:
        both = (*self.ALONE, SwitchArrived(SHARED), RoleGranted(SHARED, EQUAL), event)
        state, effects = run(*both, begin=controller_roles.single_controller(CONTROL, 7))
        (left,) = effects
        assert isinstance(left, DisconnectSwitch)
        assert not state.may_send(OURS, 0.0)
        assert state.may_send(SHARED, 1e9)

    def test_a_switch_without_roles_can_be_shared_but_not_ours_alone(self) -> None:
        state, _ = run(
            StateLoaded(),
            SwitchArrived(OURS),
            SwitchArrived(SHARED),
            begin=controller_roles.single_controller(CONTROL, 7),
        )
        assert step(state, RoleUnknown(SHARED, "OFPRRFC_UNSUP"))[1] == (UseSwitch(SHARED),)
        (leave,) = step(state, RoleUnknown(OURS, "OFPRRFC_UNSUP"))[1]
        assert isinstance(leave, DisconnectSwitch)


def test_what_is_not_in_the_table_is_a_mistake() -> None:
    with refused(ValueError):
        run(StateLoaded())
    with refused(ValueError):
        run(*ACTIVE, LeaseAcquired(9, 200.0))
    with refused(ValueError):
        run(LeaseLost("what?"))
    assert set(TRANSITIONS) == set(ControllerState)


# -- two controllers, a lease, switches that keep to OpenFlow 1.3.5, 6.3.6 ---------------------------


@dataclass(slots=True)
class Database:
    """The lease's row and its clock, which is everybody's here."""

    now: float = 0.0
    generation: int = 0
    expires: float = 0.0

    def take(self) -> int | None:
        if self.now < self.expires:
            return None
        self.generation += 1
        self.expires = self.now + LEASE
        return self.generation

    def renew(self, generation: int) -> bool:
        runs = generation == self.generation and self.now < self.expires
        if runs:
            self.expires = self.now + LEASE
        return runs


@dataclass(slots=True)
class Line:
    """A connection: what is on its way to the switch and back, and the switch's idea of its role."""

    role: ControllerRole = EQUAL
    to_switch: deque[RequestRole | int] = field(default_factory=deque)
    back: deque[RoleEvent] = field(default_factory=deque)


@dataclass(slots=True)
class Switch:
    """Roles and generations as the specification has them; writes are generations of their writers."""

    dpid: int
    lines: dict[int, Line] = field(default_factory=dict)
    seen: int | None = None
    written: list[tuple[int, ControllerRole]] = field(default_factory=list)

    def take(self, who: int) -> None:
        line = self.lines[who]
        if not line.to_switch:
            return
        match line.to_switch.popleft():
            case RequestRole(dpid, role, generation):
                line.back.append(self._role(line, dpid, role, generation))
            case writer:
                if line.role is SLAVE:
                    line.back.append(RoleLost(self.dpid))  # OFPBRC_IS_SLAVE
                else:
                    self.written.append((writer, line.role))

    def _role(self, line: Line, dpid: int, role: ControllerRole, generation: int) -> RoleEvent:
        if role is not EQUAL:
            if self.seen is not None and generation < self.seen:
                return RoleStale(dpid)
            self.seen = generation
        if role is MASTER:
            for other in self.lines.values():
                if other is not line and other.role is MASTER:
                    other.role = SLAVE
        line.role = role
        return RoleGranted(dpid, role)


class World:
    """Two controllers; everything happens in the order that Hypothesis chooses."""

    def __init__(self) -> None:
        self.database = Database()
        self.switches = {dpid: Switch(dpid) for dpid in CONTROL}
        self.controllers = [
            controller_roles.standby_controller(CONTROL),
            controller_roles.standby_controller(CONTROL),
        ]

    def feed(self, who: int, event: RoleEvent) -> None:
        self.controllers[who], effects = step(self.controllers[who], event)
        for effect in effects:
            match effect:
                case RequestRole(dpid):
                    self.switches[dpid].lines[who].to_switch.append(effect)
                case DisconnectSwitch(dpid):
                    self._cut(who, dpid)
                case StepDown():
                    pass  # it may still have messages on their way; it restarts when it restarts

    def act(self, what: str, who: int, dpid: int) -> None:
        state, line = self.controllers[who], self.switches[dpid].lines.get(who)
        match what:
            case "time":
                self.database.now += 0.7
            case "notice":
                if state.until is not None:
                    self.feed(who, ClockTick(self.database.now))
            case "lease":
                self._lease(who, state)
            case "load" if state.standing is ControllerState.CANDIDATE:
                self.feed(who, StateLoaded())
            case "connect":
                self._cut(who, dpid)
                self.switches[dpid].lines[who] = Line()
                self.feed(who, SwitchArrived(dpid))
            case "write" if line is not None and state.generation is not None:
                # Its clock stands still, as in a process that is stopped between looking and sending.
                if state.may_send(dpid, float("-inf")):
                    line.to_switch.append(state.generation)
            case "deliver" if line is not None:
                self.switches[dpid].take(who)
            case "hear" if line is not None and line.back:
                self.feed(who, line.back.popleft())
            case "restart":
                for known in CONTROL:
                    self._cut(who, known)
                self.controllers[who] = controller_roles.standby_controller(CONTROL)

    def _lease(self, who: int, state: Roles) -> None:
        database, end = self.database, controller_roles.lease_end(self.database.now, LEASE)
        if state.standing is ControllerState.STANDBY:
            got = database.take()
            if got is not None:
                self.feed(who, LeaseAcquired(got, end))
            elif database.generation:
                self.feed(who, LeaseObserved(database.generation))
        elif state.standing is not ControllerState.STEPPING_DOWN:
            assert state.generation is not None
            renewed = database.renew(state.generation)
            self.feed(who, LeaseRenewed(end) if renewed else LeaseLost("taken"))

    def _cut(self, who: int, dpid: int) -> None:
        if self.switches[dpid].lines.pop(who, None) is not None:
            self.feed(who, SwitchLeft(dpid))


ACTS = ("time", "notice", "lease", "load", "connect", "write", "deliver", "hear", "restart")
# What a run needs many of comes up more often.
acts = st.tuples(
    st.sampled_from([*ACTS, *["time", "lease", "load", "hear"] * 2, *["write", "deliver"] * 8]),
    st.sampled_from([0, 1]),
    st.sampled_from([OURS, OURS, OURS, SHARED]),
)
SETTLE = [(what, who, dpid) for who in (0, 1) for dpid in CONTROL for what in ("deliver", "hear")]
FIRST = [("connect", w, d) for w in (0, 1) for d in CONTROL] + [("lease", 0, OURS), ("load", 0, OURS)]
SECOND = [("time", 0, OURS)] * 8 + [("lease", 1, OURS), ("load", 1, OURS)]
BEGINNINGS = [
    [],
    FIRST,
    [*FIRST, *SETTLE],
    [*FIRST, *SETTLE, *SECOND],
    [*FIRST, *SETTLE, *SECOND, ("deliver", 1, OURS)],
]
"""Nothing yet; one holds the lease; it is master; the other has the lease and the first does not know yet;
the switch does.  What matters comes after that."""
stories = st.tuples(st.sampled_from(BEGINNINGS), st.lists(acts, min_size=60, max_size=90)).map(
    lambda both: [*both[0], *both[1]]
)


COMES_BACK = [("connect", 0, OURS), ("write", 0, OURS), ("deliver", 0, OURS), ("deliver", 0, OURS)]
UNAWARE = [*FIRST, *SETTLE, *SECOND, *SETTLE, ("write", 1, OURS), ("deliver", 1, OURS), *COMES_BACK]
"""Who was replaced reconnects (as EQUAL), asks to be master again, and writes."""


@example([*UNAWARE, ("hear", 0, OURS), ("write", 0, OURS), ("deliver", 0, OURS)])
@given(stories)
def test_a_switch_takes_nothing_from_who_was_replaced(story: list[tuple[str, int, int]]) -> None:
    world = World()
    for act in story:
        world.act(*act)
        writes = world.switches[OURS].written
        generations = [generation for generation, _ in writes]
        assert generations == sorted(generations), "one that was replaced wrote after its successor"
        assert all(role is MASTER for _, role in writes), "somebody wrote who was not master"
        masters = [line for line in world.switches[OURS].lines.values() if line.role is MASTER]
        assert len(masters) <= 1


@example(UNAWARE)
@given(stories)
def test_at_no_time_two_controllers_may_send(story: list[tuple[str, int, int]]) -> None:
    """What protects a shared switch, where the switch itself lets everybody write."""
    world = World()
    for act in story:
        world.act(*act)
        now = world.database.now
        for dpid in CONTROL:
            assert sum(state.may_send(dpid, now) for state in world.controllers) <= 1


def test_the_usual_takeover_in_that_world() -> None:
    """So that the two properties are not true because nothing ever happens."""
    world = World()
    for act in [*FIRST, *SETTLE, ("write", 0, OURS), ("deliver", 0, OURS), *SECOND]:
        world.act(*act)
    for act in [*SETTLE, *SETTLE, ("write", 1, OURS), ("write", 0, OURS), *SETTLE]:
        world.act(*act)
    assert world.switches[OURS].written == [(1, MASTER), (2, MASTER)]
    assert [state.standing for state in world.controllers] == [
        ControllerState.STEPPING_DOWN,
        ControllerState.ACTIVE,
    ]
