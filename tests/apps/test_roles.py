"""What the desk does about roles, on a board that notes what it is told."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from os_ken.ofproto import ofproto_v1_3 as ofp

from adon.flowvisor import controller_roles
from adon.flowvisor.controller_roles import (
    ControllerRole,
    ControllerState,
    LeaseAcquired,
    RequestRole,
    StateLoaded,
    SwitchArrived,
    SwitchLeft,
)
from apps.campus_edge.roles import ANSWER_TIMEOUT_S, RoleDesk

MASTER = ControllerRole.MASTER
STALE = (ofp.OFPET_ROLE_REQUEST_FAILED, ofp.OFPRRFC_STALE)
UNSUPPORTED = (ofp.OFPET_ROLE_REQUEST_FAILED, ofp.OFPRRFC_UNSUP)
SLAVE_ERROR = (ofp.OFPET_BAD_REQUEST, ofp.OFPBRC_IS_SLAVE)


class Board:
    def __init__(self) -> None:
        self.asked: list[RequestRole] = []
        self.used: list[int] = []
        self.left: list[tuple[int, str]] = []

    def ask_role(self, ask: RequestRole) -> int | None:
        self.asked.append(ask)
        return 100 + len(self.asked)

    def use(self, dpid: int) -> None:
        self.used.append(dpid)

    def leave(self, dpid: int, why: str) -> None:
        self.left.append((dpid, why))


class World:
    def __init__(self, begin: controller_roles.Roles) -> None:
        self.now, self.board, self.ended = 0.0, Board(), list[str]()
        self.desk = RoleDesk(begin, lambda: self.now, self.ended.append)
        self.desk.serve(self.board)

    def refused(self, xid: int, error: tuple[int, int]) -> None:
        message: Any = SimpleNamespace(xid=xid, type=error[0], code=error[1])
        self.desk.handle_role_error(1, message, "its words")


def alone() -> World:
    world = World(controller_roles.single_controller({1: "exclusive"}, 7))
    world.desk.feed(StateLoaded())
    world.desk.feed(SwitchArrived(1))
    return world


def leading() -> World:
    world = World(controller_roles.standby_controller({1: "exclusive"}))
    for event in (SwitchArrived(1), LeaseAcquired(7, 50.0), StateLoaded()):
        world.desk.feed(event)
    return world


def test_a_switch_is_used_once_it_has_granted_what_was_asked() -> None:
    world = alone()
    assert world.board.asked == [RequestRole(1, MASTER, 7)]
    assert not world.desk.may_send(1)
    world.desk.handle_role_reply(1, 999, MASTER)  # nobody asked that
    assert world.board.used == []
    world.desk.handle_role_reply(1, 101, MASTER)
    assert world.board.used == [1]
    assert world.desk.may_send(1)


def test_the_lease_bounds_sending_by_our_own_clock() -> None:
    world = leading()
    world.desk.handle_role_reply(1, 101, MASTER)
    world.now = 49.9
    assert world.desk.may_send(1)
    world.now = 50.0
    assert not world.desk.may_send(1)


def test_a_stale_generation_ends_one_of_several_and_not_the_only_one() -> None:
    several, only = leading(), alone()
    for world in (several, only):
        world.refused(101, STALE)
    assert len(several.ended) == 1
    assert several.desk.standing is ControllerState.STEPPING_DOWN
    assert only.ended == []
    assert only.board.left == [(1, several.ended[0])]


def test_a_refused_change_tells_of_another_master() -> None:
    world = leading()
    world.refused(5, SLAVE_ERROR)  # we were no master yet: it is about something else
    assert world.ended == []
    world.desk.handle_role_reply(1, 101, MASTER)
    world.refused(6, UNSUPPORTED)
    assert world.ended == []
    world.refused(7, SLAVE_ERROR)
    assert len(world.ended) == 1


def test_a_switch_that_knows_no_roles_or_says_nothing_is_left() -> None:
    world = alone()
    world.refused(101, UNSUPPORTED)
    assert [dpid for dpid, why in world.board.left if why.endswith("its words")] == [1]
    world = alone()
    world.now = ANSWER_TIMEOUT_S - 1
    assert world.desk.overdue(1000.0) == [1001.0]
    world.now = ANSWER_TIMEOUT_S
    assert world.desk.overdue(1000.0) == []
    assert [dpid for dpid, why in world.board.left if why.endswith("15 s")] == [1]


def test_a_question_ends_with_the_connection_it_was_asked_on() -> None:
    world = alone()
    world.desk.feed(SwitchLeft(1))
    world.desk.feed(SwitchArrived(1))
    world.desk.handle_role_reply(1, 101, MASTER)
    assert world.board.used == []
    world.desk.handle_role_reply(1, 102, MASTER)
    assert world.board.used == [1]
