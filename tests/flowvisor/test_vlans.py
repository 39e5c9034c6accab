"""VLAN ids of circuits: never two of the same on one link, always the lowest, free again when released."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adon.errors import Conflict
from adon.flowvisor.vlans import Allocation

links = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=4, unique=True).map(tuple)
steps = st.lists(st.one_of(links, st.integers(0, 9)), max_size=25)


@settings(max_examples=100)
@given(steps)
def test_whatever_is_allocated_and_released(history: list[tuple[str, ...] | int]) -> None:
    """A number releases that circuit of the live ones; links ask for a new one."""
    allocation, live = Allocation(), list[tuple[int, tuple[str, ...]]]()
    for step in history:
        if isinstance(step, int):
            if live:
                allocation = allocation.released(*live.pop(step % len(live)))
        else:
            try:
                vlan, allocation = allocation.allocated("o", range(100, 104), step)
            except Conflict:
                taken = {vlan for vlan, path in live if set(path) & set(step)}
                assert taken == set(range(100, 104))
                continue
            assert all(other != vlan for other, path in live if set(path) & set(step))
            assert all(
                any(other == lower and set(path) & set(step) for other, path in live)
                for lower in range(100, vlan)
            )
            live.append((vlan, step))
        assert allocation == Allocation.restored(live)
    for each in live:
        allocation = allocation.released(*each)
    assert allocation == Allocation()


def test_when_the_range_is_exhausted_overlay_range_and_link_are_named() -> None:
    allocation = Allocation.restored([(100, "ab"), (101, "b")])
    with pytest.raises(Conflict) as caught:
        allocation.allocated("al2s", {100, 101}, "ab")
    assert str(caught.value) == (
        "overlays.al2s.vlans: no VLAN of 100-101 is free on every link of a b: link 'b' has 2 of 2 in use"
    )
    assert allocation.allocated("al2s", {100, 101}, "a")[0] == 101


@pytest.mark.parametrize("method", ["taken", "released"])
def test_what_contradicts_the_allocation_is_refused(method: str) -> None:
    allocation = Allocation.restored([(100, "a")])
    vlan, told = (100, "is in use there already") if method == "taken" else (101, "is not in use there")
    with pytest.raises(Conflict, match=rf"^links\.a: VLAN {vlan} {told}"):
        getattr(allocation, method)(vlan, "a")
    assert allocation == Allocation.restored([(100, "a")])
