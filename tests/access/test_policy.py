from __future__ import annotations

import pytest

from adon.access.identity import Actor
from adon.access.policy import ANONYMOUS, Action, Object, Role, authorise, may
from adon.errors import Forbidden, NotAuthenticated

MATRIX = """
                  admin  performance_engineer  researcher  operator  auditor
health.read       any    any                   any         any       any
psconfig.read     any    any                   any         any       any
flow.submit       any    own                   own         any       -
flow.read         any    any                   own         any       any
flow.cancel       any    own                   own         any       -
flow.report       any    own                   own         any       -
template.add      any    any                   -           -         -
template.read     any    any                   any         any       any
template.check    any    any                   any         any       any
template.backtest any    any                   -           -         -
path.read         any    any                   any         any       any
measurement.read  any    any                   any         any       any
measurement.start any    any                   -           any       -
alarm.read        any    any                   any         any       any
alarm.acknowledge any    any                   -           any       -
subscription.add  any    own                   own         own       own
subscription.read any    own                   own         own       own
subscription.delete any  own                   own         own       own
decision.read     any    any                   own         any       any
rule.read         any    any                   own         any       any
network.read      any    any                   -           any       any
network.sync      any    -                     -           any       -
maintenance.read  any    any                   any         any       any
maintenance.add   any    any                   -           any       -
maintenance.cancel any   any                   -           any       -
network.what_if   any    any                   -           any       any
reservation.add   any    own                   own         any       -
reservation.read  any    any                   own         any       any
reservation.release any  own                   own         any       -
forecast.read     any    any                   -           any       any
compute.read      any    any                   any         any       any
job.submit        any    own                   own         any       -
job.read          any    any                   own         any       any
job.cancel        any    own                   own         any       -
study.read        any    any                   any         any       any
study.add         any    any                   -           any       -
study.delete      any    any                   -           any       -
metrics.read      any    any                   -           any       any
token.create      any    own                   own         own       own
token.read        any    own                   own         own       any
token.revoke      any    own                   own         own       own
session.read      any    own                   own         own       any
session.end       any    own                   own         own       own
user.read         any    own                   own         own       any
user.change       any    -                     -           -         -
role.read         any    any                   any         any       any
audit.read        any    -                     -           -         any
"""
"""Written a second time, by hand: a change of the policy is a change in two places."""

HEADER, *LINES = [line.split() for line in MATRIX.strip().splitlines()]
EXPECTED = {
    (action, role): scope for action, *scopes in LINES for role, scope in zip(HEADER, scopes, strict=True)
}


def test_every_action_and_every_role_has_its_place() -> None:
    assert set(EXPECTED) == {(action.value, role.value) for action in Action for role in Role}
    assert all(action.grant for action in Action)


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("action", Action)
def test_the_matrix(action: Action, role: Role) -> None:
    scope = EXPECTED[action.value, role.value]
    actor = Actor("ada", frozenset({role.value}))
    public = action in ANONYMOUS
    assert may(actor, action, Object("flow", owner="ada")).allowed == (scope != "-" or public)
    for foreign in (Object("flow", owner="bob"), Object("flow")):
        assert may(actor, action, foreign).allowed == (scope == "any" or public)


@pytest.mark.parametrize("action", Action)
def test_nobody_may_nothing_but_ask_how_we_are(action: Action) -> None:
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
