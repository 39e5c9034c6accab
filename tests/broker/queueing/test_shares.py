from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.queueing.shares import Shares

WEIGHTS = {"a": 1.0, "b": 2.0, "c": 0.5}
SIZES = st.integers(1, 1000)


def serve(shares: Shares, crowd: dict[str, list[int]], times: int) -> dict[str, float]:
    """Serve the group with the smallest tag so often; what each has been served per weight."""
    served = dict.fromkeys(crowd, 0.0)
    places = dict.fromkeys(crowd, 0)
    for _ in range(times):
        group = min(crowd, key=lambda name: (shares.tag(name), name))
        size = crowd[group][places[group] % len(crowd[group])]
        places[group] += 1
        served[group] += size / shares.weight(group)
        shares.served(group, size)
    return served


@given(st.dictionaries(st.sampled_from("abc"), st.lists(SIZES, min_size=1, max_size=5), min_size=2), SIZES)
def test_groups_that_wait_differ_by_one_flow_of_each(crowd: dict[str, list[int]], times: int) -> None:
    """Theorem 1 of the paper, whatever sizes the groups choose and however their weights differ."""
    shares = Shares(WEIGHTS)
    for group in crowd:
        shares.waits(group)
    served = serve(shares, crowd, times)
    for one in crowd:
        for other in crowd:
            most = max(crowd[one]) / WEIGHTS[one] + max(crowd[other]) / WEIGHTS[other]
            assert abs(served[one] - served[other]) <= most * (1 + 1e-9)


def test_who_did_not_wait_has_no_credit_and_no_debt_for_what_is_long_past() -> None:
    shares = Shares()
    shares.waits("a")
    serve(shares, {"a": [100]}, 50)
    shares.waits("b")
    served = serve(shares, {"a": [100], "b": [100]}, 50)
    assert abs(served["a"] - served["b"]) <= 200


def test_what_was_not_moved_is_given_back() -> None:
    shares = Shares()
    for group in "ab":
        shares.waits(group)
    shares.served("a", 100)
    assert shares.tag("a") > shares.tag("b")
    shares.unserved("a", 100)
    assert shares.tag("a") == shares.tag("b")


@pytest.mark.parametrize("waits", [True, False])
def test_giving_back_is_no_credit_beyond_what_was_taken(waits: bool) -> None:
    shares = Shares()
    if waits:
        shares.waits("a")
    shares.unserved("a", 10**18)
    assert shares.tag("a") == 0.0


def test_a_group_that_cannot_be_served_keeps_its_place() -> None:
    shares = Shares()
    for group in "ab":
        shares.waits(group)
    serve(shares, {"b": [100]}, 10)
    assert shares.tag("a") == 0.0


def test_a_weight_is_a_share() -> None:
    shares = Shares({"big": 3.0})
    for group in ("big", "small"):
        shares.waits(group)
    crowd = {"big": [1], "small": [1]}
    served = serve(shares, crowd, 400)
    assert served["big"] * 3 == pytest.approx(300, abs=3)


def test_nothing_is_remembered_of_groups_that_are_long_past() -> None:
    shares = Shares()
    for number in range(100):
        shares.waits(f"g{number}")
        shares.served(f"g{number}", 1)
        shares.idle(f"g{number}")
    shares.waits("last")
    serve(shares, {"last": [100]}, 3)
    assert len(shares._finish) <= 2
    assert list(shares._start) == ["last"]
