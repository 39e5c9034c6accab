"""Less left goes first: whole lives of flows, in the simulator, before switches that count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adon.broker.decision import Decision
from adon.broker.effects import Effect, SaveDecision, SaveSnapshot
from adon.broker.events import Event
from adon.broker.flow import FlowState
from adon.broker.queueing.trial import tried
from adon.broker.queueing.turns import LONGEST_S
from adon.broker.recompute.again import decided_again
from adon.broker.recompute.codec import Decoder, Encoder
from adon.broker.recompute.differences import differences
from adon.broker.world import World
from adon.simulation.brokered import Brokered
from adon.simulation.engine import Record
from adon.simulation.measuring import Plan
from adon.simulation.network import Network
from adon.simulation.policy import View
from adon.simulation.tcp import Stream
from adon.simulation.workload import Transfer
from tests.simulation import small
from tests.simulation.small import EAGER, network, run, transfer, workload

PLAN = Plan(throughput_period=60, throughput_duration=2, noise=0.0)
ONE_PATH = network(1e9)
LARGE, SMALL = 12_500.0, 1_250.0
"""Megabytes: 100 s and 10 s for one that has the path to itself."""


def lives(*asked: Transfer, over: Network = ONE_PATH, on: bool = True, end: float = 9000.0) -> list[Record]:
    world = workload(*asked, over=over, plan=PLAN, end=end)
    return run(world, Brokered(world, policy={"interrupting": on}, pausable=on), measured=True)


def paused(record: Record) -> bool:
    return any(path is None for _, path in record.stays)


def warmed(*asked: Transfer) -> tuple[Transfer, ...]:
    """After two that run together for a while, so that it is seen that one fills the path."""
    first = (transfer(901, at=70, megabytes=SMALL), transfer(902, at=70, megabytes=SMALL))
    return (*first, *asked)


def test_a_large_one_is_stopped_for_a_small_one_and_goes_on_after_it() -> None:
    *_, large, small = lives(
        *warmed(transfer(1, at=200, megabytes=LARGE), transfer(2, at=250, megabytes=SMALL))
    )
    assert [path for _, path in large.stays] == ["p0", None, "p0"]
    assert not paused(small)
    assert small.ended == pytest.approx(260, abs=1.5)
    assert large.ended == pytest.approx(310, abs=4), "it went on where it was, and no time was lost"


def test_without_the_policy_they_share() -> None:
    *_, large, small = lives(
        *warmed(transfer(1, at=200, megabytes=LARGE), transfer(2, at=250, megabytes=SMALL)), on=False
    )
    assert not paused(large)
    assert small.ended == pytest.approx(270, abs=2)


def sold(over: Network, *rates: float) -> Network:
    """The same paths, configured to carry other rates than they do."""
    paths = [replace(path, advertised=rate) for path, rate in zip(over.paths, rates, strict=True)]
    return replace(over, paths=tuple(paths))


def test_until_it_is_seen_that_one_fills_the_path_they_share() -> None:
    asked = transfer(1, at=70, megabytes=LARGE), transfer(2, at=80, megabytes=LARGE / 2)
    large, small = lives(*asked, over=sold(ONE_PATH, 2e9))
    assert small.began is not None
    stopped = next(at for at, path in large.stays if path is None)
    assert 4 < stopped - small.began < 25, "the counters of both are read every 5 s"


def test_a_path_that_one_had_nearly_all_of_is_filled_by_one() -> None:
    large, small = lives(transfer(1, at=70, megabytes=LARGE), transfer(2, at=80, megabytes=LARGE / 2))
    assert small.began is not None
    assert next(at for at, path in large.stays if path is None) - small.began < 0.1


def test_who_waits_is_held_back_for_who_has_less_left() -> None:
    """The second large one comes while a small one runs: it waits instead of sharing."""
    *_, small, large = lives(
        *warmed(transfer(1, at=200, megabytes=SMALL), transfer(2, at=202, megabytes=LARGE))
    )
    assert large.began is not None
    assert small.ended is not None
    assert large.began >= small.ended
    assert small.ended == pytest.approx(210, abs=0.5)


@pytest.mark.parametrize("first", ["small", "large"])
def test_a_higher_priority_goes_first_whatever_is_left(first: str) -> None:
    at = {"small": (200, 220), "large": (220, 200)}[first]
    *_, one, other = lives(
        *warmed(
            *sorted(
                (
                    transfer(1, at=at[0], megabytes=LARGE / 2, priority=100),
                    transfer(2, at=at[1], megabytes=LARGE, priority=900),
                ),
                key=lambda each: each.at,
            )
        )
    )
    urgent, patient = (one, other) if one.transfer.priority == 900 else (other, one)
    assert not paused(urgent)
    assert urgent.ended == pytest.approx(urgent.transfer.at + 100, abs=5)
    assert patient.ended == pytest.approx(350, abs=8)


def test_a_small_difference_is_not_worth_an_interruption() -> None:
    """Nor is it a reason to share: who comes waits."""
    *_, one, other = lives(
        *warmed(transfer(1, at=200, megabytes=LARGE), transfer(2, at=205, megabytes=LARGE * 0.9))
    )
    assert not paused(one)
    assert one.ended == pytest.approx(300, abs=2)
    assert other.began == pytest.approx(one.ended, abs=0.5)


def test_who_cannot_do_without_a_path_takes_another_one_at_once() -> None:
    two = network(1e9, 0.5e9)
    large, small = lives(transfer(1, at=100, megabytes=LARGE), transfer(2, at=150, megabytes=SMALL), over=two)
    assert [path for _, path in small.stays] == ["p0"]
    assert [path for _, path in large.stays] == ["p0", "p1", "p0"], "and comes back when it is free"
    assert large.stays[1][0] - 150 < 0.1
    assert large.stays[2][0] - (small.ended or 0.0) < 0.1


def demanding(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on a transfer needs 700 Mbps."""
    qspec = EAGER.qspec.model_validate({"throughput": {"min": "700 Mbps"}})
    monkeypatch.setattr(small, "EAGER", EAGER.model_copy(update={"qspec": qspec}))


def test_who_comes_sees_the_path_without_those_who_let_it_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the large one it would have too little; but that one is going."""
    demanding(monkeypatch)
    large, little = lives(transfer(1, at=100, megabytes=LARGE), transfer(2, at=150, megabytes=SMALL))
    assert little.began == pytest.approx(150, abs=0.1)
    assert paused(large)


def test_who_shares_waits_for_room_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    demanding(monkeypatch)
    asked = transfer(1, at=100, megabytes=LARGE), transfer(2, at=150, megabytes=SMALL)
    large, little = lives(*asked, on=False)
    assert not paused(large)
    assert little.began == pytest.approx(200, abs=1)


def held_at(end: float, *asked: Transfer, over: Network = ONE_PATH) -> World:
    """What the broker holds at a time."""
    world = workload(*asked, over=over, plan=PLAN, end=end)
    policy = Brokered(world, policy={"interrupting": True}, pausable=True)
    run(world, policy, measured=True)
    return policy.broker.world


def test_what_a_flow_had_before_it_was_stopped_is_no_rate_any_more() -> None:
    asked = transfer(1, at=100, megabytes=LARGE), transfer(2, at=150, megabytes=SMALL)
    before, after = held_at(149, *asked), held_at(155, *asked)
    for world, has_rates in ((before, True), (after, False)):
        flow = world.flows.get(1)
        assert flow is not None
        assert flow.state.holds_rules is has_rates
        assert world.flows.counters(flow).has_rates is has_rates


def test_only_changes_for_speed_make_the_next_one_harder() -> None:
    """It goes from p0 to p1 since it has to, and back since it may."""
    asked = transfer(1, at=100, megabytes=LARGE), transfer(2, at=150, megabytes=SMALL)
    world = held_at(170, *asked, over=network(1e9, 0.5e9))
    flow = world.flows.get(1)
    assert flow is not None
    assert (flow.path, flow.moves) == ("p0", 2)
    assert world.damping.dwell(1, 2.0) == 2.0, "as after the first one"


def test_that_somebody_is_held_back_is_not_remembered() -> None:
    """It rests on what each has left, which is another thing at every moment."""
    asked = transfer(1, at=100, megabytes=SMALL), transfer(2, at=102, megabytes=LARGE)
    held = held_at(105.0, *asked)
    waits = held.flows.get(2)
    assert waits is not None
    assert waits.state is FlowState.QUEUED
    assert tried(held, waits, waits.state_since + 1).passing


def test_who_is_nearly_over_does_not_change_its_path_for_speed() -> None:
    two = network(1e9, 0.9e9)
    one, other = lives(
        transfer(1, at=100, megabytes=SMALL), transfer(2, at=102, megabytes=SMALL * 0.9), over=two
    )
    assert [len(record.stays) for record in (one, other)] == [1, 1]


STEADY = "steady"
"""A template whose transfers cannot pause."""


def mixed(*asked: Transfer, over: Network = ONE_PATH) -> list[Record]:
    """Whether a transfer can pause its template says."""
    bulk = EAGER.model_copy(update={"pausable": True})
    templates = {"bulk": bulk, STEADY: EAGER.model_copy(update={"name": STEADY})}
    world = replace(workload(*asked, over=over, plan=PLAN, end=9000.0), templates=templates)
    return run(world, Brokered(world, policy={"interrupting": True}), measured=True)


@pytest.mark.parametrize("large", ["bulk", STEADY])
@pytest.mark.parametrize("small", ["bulk", STEADY])
def test_only_who_can_pause_is_stopped_and_only_for_others_who_can(large: str, small: str) -> None:
    one, other = mixed(
        transfer(1, at=100, megabytes=LARGE, template=large),
        transfer(2, at=150, megabytes=SMALL, template=small),
    )
    assert paused(one) is (large == small == "bulk")
    assert not paused(other)
    assert other.began == pytest.approx(150, abs=0.5), "nobody is held back either"


@given(
    st.lists(
        st.tuples(st.integers(70, 300), st.integers(1, 40), st.sampled_from(("bulk", STEADY))),
        min_size=2,
        max_size=10,
    )
)
@settings(max_examples=15, deadline=None)
def test_who_cannot_pause_never_has_to_and_nobody_is_stopped_again_and_again(
    drawn: list[tuple[int, int, str]],
) -> None:
    asked = [
        transfer(n, at=float(at), megabytes=125.0 * seconds, template=template)
        for n, (at, seconds, template) in enumerate(sorted(drawn), 1)
    ]
    for record in mixed(*asked, over=network(1e9, 0.4e9)):
        assert record.ended is not None
        ran = [until - since for (since, _), (until, path) in pairwise(record.stays) if path is None]
        assert not ran or record.transfer.template == "bulk"
        assert all(seconds >= 1.9 * 2 ** max(0, again - 1) for again, seconds in enumerate(ran))


@pytest.mark.parametrize("rates", [(1e9,), (1e9, 0.9e9)])
def test_an_application_with_a_rate_of_its_own_is_found_out(rates: tuple[float, ...]) -> None:
    """Nothing but its rate says that it does not take what the path gives."""
    slowly = transfer(1, at=200, megabytes=LARGE / 4, ceiling=2e8)
    world = workload(*warmed(slowly, transfer(2, at=250, megabytes=SMALL)), over=network(*rates), plan=PLAN)
    policy = Brokered(world, policy={"interrupting": True}, pausable=True)
    *_, slow, small = run(world, policy, measured=True)
    assert not paused(slow)
    assert not paused(small)
    assert sum("brings it home" in one.reason for one in policy.decisions if one.flow == "f-3") <= 1
    assert slow.ended == pytest.approx(200 + 125, abs=3)


def test_paths_that_no_single_stream_fills_are_shared() -> None:
    """A window of 10 MB at 20 ms is 4 Gbps of 10; the counters of two together say so."""
    wide = network(10e9, mu=Stream(window=10e6))
    many = [transfer(n, at=70.0 + 40 * (n // 2), megabytes=25_000.0 / (1 + n % 2)) for n in range(1, 9)]
    assert not any(paused(record) for record in lives(*many, over=wide))


def test_after_half_an_hour_nobody_is_stopped_or_held_back() -> None:
    """Small ones keep coming, and would have a large one wait for ever."""
    stream = [transfer(n, at=100.0 + 11 * n, megabytes=SMALL) for n in range(2, 260)]
    asked = transfer(1, at=150, megabytes=4 * LARGE)
    large = next(r for r in lives(asked, *stream) if r.transfer.number == 1)
    assert paused(large)
    stops = [at for at, path in large.stays if path is None]
    assert max(stops) <= 150 + LONGEST_S
    assert len(stops) <= 10, "each time it runs for twice as long before it is stopped again"
    assert large.ended is not None
    assert large.ended < 150 + LONGEST_S + 400, "from then on the others let it go first"


def test_who_runs_is_left_in_peace_for_a_while() -> None:
    records = lives(*warmed(*(transfer(n, at=200 + n / 2, megabytes=LARGE / n) for n in range(1, 12))))
    for record in records:
        for (since, path), (until, after) in zip(record.stays, record.stays[1:], strict=False):
            assert path is None or after is not None or until - since >= 1.9


def test_who_has_a_rate_of_its_own_is_neither_stopped_nor_waited_for(monkeypatch: Any) -> None:
    ceiling = {"bandwidth_ceiling": 2e8}
    limited = EAGER.model_copy(update={"rspec": EAGER.rspec.model_copy(update=ceiling)})
    monkeypatch.setattr(small, "EAGER", limited)
    asked = warmed(transfer(1, at=200, megabytes=LARGE), transfer(2, at=250, megabytes=SMALL))
    assert not any(paused(record) for record in lives(*asked))


@given(
    st.lists(
        st.tuples(st.integers(70, 300), st.integers(1, 40), st.sampled_from((100, 500, 900))),
        min_size=1,
        max_size=10,
    )
)
@settings(max_examples=15, deadline=None)
def test_everybody_ends_and_no_time_is_wasted(drawn: list[tuple[int, int, int]]) -> None:
    """Whoever is stopped, the path is used: all is done when it would be in a row, or soon after."""
    asked = [
        transfer(n, at=float(at), megabytes=125.0 * seconds, priority=priority)
        for n, (at, seconds, priority) in enumerate(sorted(drawn), 1)
    ]
    records = lives(*asked)
    assert all(record.ended is not None for record in records)
    busy = 0.0
    for one in asked:
        busy = max(busy, one.at) + one.bits / 1e9
    assert max(record.ended or 0.0 for record in records) <= busy + 30 + 0.1 * (busy - asked[0].at)


class Recomputing(Brokered):
    """Makes every decision again from what it saw, after a round trip through text."""

    def __init__(self, *asked: Any, **options: Any) -> None:
        super().__init__(*asked, **options)
        self.made_again: list[str] = []
        self._recorded: dict[str, Decision] = {}
        self._parts: dict[str, str] = {}
        self._encoder, self._decoder = Encoder(), Decoder(self._parts.__getitem__)

    def _carry_out(self, effect: Effect, view: View) -> Sequence[Event]:
        if isinstance(effect, SaveDecision):
            self._recorded[effect.decision.id] = effect.decision
        elif isinstance(effect, SaveSnapshot):
            encoded = self._encoder.encode(effect.snapshot)
            self._parts |= encoded.parts
            recorded = self._recorded[effect.snapshot.decision]
            assert differences(recorded, decided_again(self._decoder.decode(encoded.text))) == ()
            self.made_again.append(recorded.reason)
        return super()._carry_out(effect, view)


@pytest.mark.parametrize(
    ("over", "words"),
    [
        (ONE_PATH, ["is stopped: it lets f-4 go first"]),
        (network(1e9, 0.5e9), ["it lets f-4 go first", "p0 brings it home"]),
    ],
)
def test_decisions_to_stop_and_to_change_are_made_again_from_what_was_seen(
    over: Network, words: list[str]
) -> None:
    asked = warmed(transfer(1, at=200, megabytes=LARGE), transfer(2, at=250, megabytes=SMALL))
    world = workload(*asked, over=over, plan=PLAN, end=9000.0)
    policy = Recomputing(world, policy={"interrupting": True}, pausable=True)
    run(world, policy, measured=True)
    for each in words:
        assert any(reason.startswith(each) for reason in policy.made_again)
    assert len(policy.made_again) >= len(asked)
