from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adon.broker.flow import Flow, FlowRequest, FlowState
from adon.broker.scheduler import deadline, expired, order, waiting_since

REQUEST = FlowRequest.model_validate({"source": "mu-dtn", "destination": "osu-dtn", "size": "1 GB"})
AGING = 60.0


def queued(number: int, submitted_at: float) -> Flow:
    return Flow(number, REQUEST, "ada", "soykb@1", submitted_at, FlowState.QUEUED, submitted_at)


def numbers(flows: tuple[Flow, ...]) -> list[int]:
    return [flow.number for flow in flows]


def ordered(queue: Mapping[int, tuple[int, float]], now: float) -> list[int]:
    """The order of flows given as number: (priority, submitted at)."""
    flows = [queued(number, at) for number, (_, at) in queue.items()]
    return numbers(order(flows, now, lambda flow: queue[flow.number][0], AGING))


class TestOrder:
    @pytest.mark.parametrize(
        ("queue", "now", "expected"),
        [
            ({}, 0.0, []),
            ({1: (500, 0.0), 2: (700, 0.0), 3: (600, 0.0)}, 0.0, [2, 3, 1]),
            ({3: (500, 2.0), 1: (500, 3.0), 2: (500, 1.0)}, 5.0, [2, 3, 1]),
            ({2: (500, 0.0), 1: (500, 0.0)}, 5.0, [1, 2]),
            ({1: (500, 0.0), 2: (501, 59.0)}, 59.0, [2, 1]),
            ({1: (500, 0.0), 2: (501, 59.0)}, 60.0, [1, 2]),
            ({1: (500, 100.0), 2: (501, 100.0)}, 0.0, [2, 1]),
        ],
        ids=["empty", "priority", "age", "number", "not aged yet", "aged", "clock stepped back"],
    )
    def test_table(self, queue: Mapping[int, tuple[int, float]], now: float, expected: list[int]) -> None:
        assert ordered(queue, now) == expected

    entries = st.dictionaries(
        st.integers(1, 50), st.tuples(st.integers(0, 999), st.floats(0, 1e6)), max_size=8
    )

    @settings(max_examples=60)
    @given(entries, st.randoms(use_true_random=False))
    def test_the_order_of_asking_does_not_matter(
        self, queue: dict[int, tuple[int, float]], random: object
    ) -> None:
        shuffled = list(queue.items())
        random.shuffle(shuffled)  # type: ignore[attr-defined]
        assert ordered(dict(shuffled), 1e6) == ordered(queue, 1e6)

    @settings(max_examples=60)
    @given(st.integers(0, 999), st.lists(st.integers(0, 999), min_size=1, max_size=20))
    def test_nothing_starves(self, priority: int, rivals: list[int]) -> None:
        """However urgent the flows that keep coming, after (999 - p + 1) steps nothing new gets ahead."""
        patient_enough = (999 - priority + 1) * AGING
        queue = {1: (priority, 0.0)}
        queue |= {n: (rival, patient_enough + n) for n, rival in enumerate(rivals, start=2)}
        assert ordered(queue, patient_enough + len(rivals) + 2)[0] == 1


class TestWaiting:
    def test_failed_attempts_to_install_do_not_renew_patience(self) -> None:
        flow = (
            queued(1, 100.0)
            .step(FlowState.INSTALLING, 150.0, "al2s")
            .step(FlowState.QUEUED, 160.0, "refused")
        )
        assert waiting_since(flow) == 100.0

    def test_a_displaced_flow_waits_from_then_on(self) -> None:
        running = replace(queued(1, 100.0), state=FlowState.ACTIVE, started_at=110.0)
        assert waiting_since(running.step(FlowState.QUEUED, 500.0, "preempted")) == 500.0


class TestPatience:
    FLOWS = (queued(1, 100.0), queued(2, 90.0), queued(3, 100.0))
    PATIENCE: Mapping[int, float] = {1: 50.0, 2: 30.0, 3: 50.0}

    def patience(self, flow: Flow) -> float:
        return self.PATIENCE[flow.number]

    @pytest.mark.parametrize(
        ("now", "over"), [(119.9, []), (120.0, [2]), (149.9, [2]), (150.0, [2, 1, 3]), (1e9, [2, 1, 3])]
    )
    def test_expired(self, now: float, over: list[int]) -> None:
        assert numbers(expired(self.FLOWS, now, self.patience)) == over

    @settings(max_examples=60)
    @given(st.dictionaries(st.integers(1, 50), st.tuples(st.floats(0, 1e6), st.floats(0, 1e6)), min_size=1))
    def test_waking_is_never_too_late_and_never_in_vain(self, queue: dict[int, tuple[float, float]]) -> None:
        flows = [queued(number, at) for number, (at, _) in queue.items()]

        def patience(flow: Flow) -> float:
            return queue[flow.number][1]

        wake = min(deadline(flow, patience) for flow in flows)
        assert expired(flows, wake, patience)
        assert not expired(flows, wake - 1e-3, patience)
