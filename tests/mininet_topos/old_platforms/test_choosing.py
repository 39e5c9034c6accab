"""Which platform is taken: the table, and what holds of every machine."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.errors import Unavailable
from mininet_topos.old_platforms.choosing import AUTO, HOST, Machine, choose
from mininet_topos.old_platforms.names import Platform

KERNEL, USER, GUEST = Platform
WHOLE = Machine(root=True, kernel_datapath=True, netem=True, guest=True)
BARE = Machine(root=True, kernel_datapath=False, netem=False, guest=True)
ORDINARY = Machine(root=False, kernel_datapath=True, netem=False, guest=True)

MACHINES = st.builds(Machine, st.booleans(), st.booleans(), st.booleans(), st.booleans())
ASKED = st.sampled_from([None, AUTO, HOST, *Platform])


@pytest.mark.parametrize(
    ("asked", "machine", "needs_delay", "taken"),
    [
        (None, WHOLE, False, KERNEL),
        (None, WHOLE, True, KERNEL),
        (HOST, WHOLE, True, KERNEL),
        ("host-user", WHOLE, True, USER),
        ("guest", WHOLE, False, GUEST),
        (None, BARE, False, USER),
        (None, BARE, True, GUEST),
        (HOST, BARE, False, USER),
        (None, ORDINARY, False, GUEST),
        ("auto", ORDINARY, True, GUEST),
        (None, Machine(root=True, kernel_datapath=False, netem=True, guest=False), True, USER),
    ],
)
def test_the_best_that_can_be_had(
    asked: str | None, machine: Machine, needs_delay: bool, taken: Platform
) -> None:
    assert choose(asked, machine, needs_delay=needs_delay).platform is taken


def able(platform: Platform, machine: Machine, needs_delay: bool) -> bool:
    """Whether it can be had, written down a second time."""
    if platform is GUEST:
        return machine.guest
    datapath = machine.kernel_datapath or platform is USER
    return machine.root and datapath and (machine.netem or not needs_delay)


@given(ASKED, MACHINES, st.booleans())
def test_what_is_taken_can_be_had_and_none_is_refused_that_could(
    asked: str | None, machine: Machine, needs_delay: bool
) -> None:
    wanted = {AUTO: [*Platform], None: [*Platform], HOST: [KERNEL, USER]}.get(asked) or [Platform(str(asked))]
    possible = [platform for platform in wanted if able(platform, machine, needs_delay)]
    try:
        choice = choose(asked, machine, needs_delay=needs_delay)
    except Unavailable:
        assert possible == []
    else:
        assert choice.platform is possible[0]
        assert choice.why
