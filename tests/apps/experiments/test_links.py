"""A change of a link and what undoes it, whatever the link was like before."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from apps.experiments.links import Quality
from mininet_topos import networks

WHOLE = st.builds(Quality, st.booleans(), st.floats(1e3, 1e9), st.floats(0, 1), st.floats(0, 0.9))
CHANGES = st.builds(
    Quality,
    st.none() | st.booleans(),
    st.none() | st.floats(1e3, 1e9),
    st.none() | st.floats(0, 1),
    st.none() | st.floats(0, 0.9),
)


@given(WHOLE, st.lists(CHANGES, max_size=4))
def test_changes_that_are_undone_in_turn_leave_what_was_there(
    before: Quality, changes: list[Quality]
) -> None:
    present, undoing = before, []
    for change in changes:
        undoing.append(change.undone(present))
        present = change.over(present)
    for undone in reversed(undoing):
        present = undone.over(present)
    assert present == before


@given(WHOLE, CHANGES)
def test_what_undoes_a_change_touches_nothing_else(before: Quality, change: Quality) -> None:
    undone = change.undone(before)
    for name in ("up", "rate", "delay", "loss"):
        assert (getattr(undone, name) is None) is (getattr(change, name) is None)


def test_a_link_without_a_shape_was_built_without_delay_and_loss():
    network = networks.named("mu_osu")
    (plain, *_) = [link for link in network.links if link.shape is None]
    assert Quality.built(plain) == Quality(True, None, 0.0, 0.0)
    shaped = network.link("line")
    assert Quality.built(shaped).rate == shaped.shape.rate
