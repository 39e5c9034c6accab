from __future__ import annotations

import pytest

from adon.access.identity import Actor
from adon.access.policy import ANONYMOUS, Action, Object, Role, authorise, may
from adon.errors import Forbidden, NotAuthenticated


def test_own_objects_are_those_with_the_name_of_the_actor() -> None:
    ada = Actor("ada", frozenset({Role.RESEARCHER}))
    owners = {"ada": True, "bob": False, None: False}
    for owner, allowed in owners.items():
        assert may(ada, Action.FLOW_CANCEL, Object("flow", owner)).allowed == allowed


def test_every_action_has_a_role() -> None:
    assert all(action.grant for action in Action)


@pytest.mark.parametrize("action", Action)
def test_anonymous_actions_need_no_identity(action: Action) -> None:
    assert may(None, action, Object("flow")).allowed == (action in (Action.HEALTH_READ, Action.PSCONFIG_READ))


@pytest.mark.parametrize("action", Action)
@pytest.mark.parametrize("roles", [frozenset(), frozenset({"emperor"}), frozenset({"ADMIN"})])
def test_unknown_roles_grant_nothing(action: Action, roles: frozenset[str]) -> None:
    allowed = may(Actor("ada", roles), action, Object("flow", "ada")).allowed
    assert allowed == (action in ANONYMOUS)


def test_roles_add_up() -> None:
    both = Actor("ada", frozenset({"researcher", "operator", "unknown"}))
    assert may(both, Action.FLOW_CANCEL, Object("flow", "bob")).allowed
    assert not may(both, Action.TEMPLATE_ADD, Object("template")).allowed


def test_an_actor_without_name_owns_nothing() -> None:
    nameless = Actor("", frozenset({"researcher"}))
    assert not may(nameless, Action.FLOW_READ, Object("flow", None)).allowed


def test_authorise_says_whose_fault_it_is() -> None:
    ada = Actor("ada", frozenset({"researcher"}))
    assert authorise(ada, Action.FLOW_READ, Object("flow", "ada")) is ada
    assert authorise(None, Action.HEALTH_READ, Object("health")).roles == frozenset()
    with pytest.raises(Forbidden):
        authorise(ada, Action.FLOW_READ, Object("flow", "bob"))
    with pytest.raises(Forbidden):
        authorise(ada, Action.TEMPLATE_ADD, Object("template"))
    with pytest.raises(NotAuthenticated):
        authorise(None, Action.FLOW_READ, Object("flow", "ada"))
