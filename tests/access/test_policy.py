from __future__ import annotations

import pytest

from adon.access.identity import Actor
from adon.access.policy import ANONYMOUS, Action, OwnedObject, Policy
from adon.errors import Forbidden, NotAuthenticated
from adon.values import Role

POLICY = Policy()


def test_own_objects_are_those_with_the_name_of_the_actor() -> None:
    ada = Actor("ada", frozenset({Role.RESEARCHER}))
    owners = {"ada": True, "bob": False, None: False}
    for owner, allowed in owners.items():
        assert POLICY.decide(ada, Action.FLOW_CANCEL, OwnedObject(owner)).allowed == allowed


def test_every_action_has_a_role() -> None:
    assert all(action.grant for action in Action)


@pytest.mark.parametrize("action", Action)
def test_anonymous_actions_need_no_identity(action: Action) -> None:
    assert POLICY.decide(None, action).allowed == (action in (Action.HEALTH_READ, Action.PSCONFIG_READ))


@pytest.mark.parametrize("action", Action)
@pytest.mark.parametrize("roles", [frozenset(), frozenset({"emperor"}), frozenset({"ADMIN"})])
def test_unknown_roles_grant_nothing(action: Action, roles: frozenset[str]) -> None:
    allowed = POLICY.decide(Actor("ada", roles), action, OwnedObject("ada")).allowed
    assert allowed == (action in ANONYMOUS)


def test_roles_add_up() -> None:
    both = Actor("ada", frozenset({"researcher", "operator", "unknown"}))
    assert POLICY.decide(both, Action.FLOW_CANCEL, OwnedObject("bob")).allowed
    assert not POLICY.decide(both, Action.TEMPLATE_ADD).allowed


def test_an_actor_without_name_owns_nothing() -> None:
    nameless = Actor("", frozenset({"researcher"}))
    assert not POLICY.decide(nameless, Action.FLOW_READ, OwnedObject(None)).allowed


def test_authorise_says_whose_fault_it_is() -> None:
    ada = Actor("ada", frozenset({"researcher"}))
    POLICY.authorise(ada, Action.FLOW_READ, OwnedObject("ada"))
    POLICY.authorise(None, Action.HEALTH_READ)
    with pytest.raises(Forbidden):
        POLICY.authorise(ada, Action.FLOW_READ, OwnedObject("bob"))
    with pytest.raises(Forbidden):
        POLICY.authorise(ada, Action.TEMPLATE_ADD)
    with pytest.raises(NotAuthenticated):
        POLICY.authorise(None, Action.FLOW_READ, OwnedObject("ada"))
