from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from pydantic import ValidationError

from adon.broker.flow import MAX_SIZE, STEPS, Flow, FlowRequest, FlowState
from adon.errors import Conflict

GOOD: dict[str, object] = {"source": "mu-dtn", "destination": "osu-dtn", "size": "25 GB"}
FINAL = {
    FlowState.FINISHED,
    FlowState.FAILED,
    FlowState.CANCELLED,
    FlowState.EXPIRED,
}


def a_flow(state: FlowState = FlowState.REQUESTED) -> Flow:
    return Flow(17, FlowRequest.model_validate(GOOD), "ada", "soykb@1", 1000.0, state)


class TestLife:
    def test_every_state_is_in_the_table(self) -> None:
        assert set(STEPS) == set(FlowState)

    def test_every_state_is_reached_from_requested(self) -> None:
        reached: set[FlowState] = set()
        ahead = {FlowState.REQUESTED}
        while ahead:
            reached |= ahead
            ahead = set().union(*(STEPS[state] for state in ahead)) - reached
        assert reached == set(FlowState)

    def test_every_state_leads_to_an_end(self) -> None:
        leading = set(FINAL)
        for _ in FlowState:
            leading |= {state for state in FlowState if STEPS[state] & leading}
        assert leading == set(FlowState)

    @pytest.mark.parametrize("state", FlowState)
    def test_final_states_have_no_exits(self, state: FlowState) -> None:
        assert state.final == (state in FINAL) == (not STEPS[state])

    @pytest.mark.parametrize("state", [state for state in FlowState if state not in FINAL])
    def test_whatever_has_not_ended_can_be_cancelled(self, state: FlowState) -> None:
        assert FlowState.CANCELLED in STEPS[state]

    @pytest.mark.parametrize(("state", "to"), [*itertools.product(FlowState, FlowState)])
    def test_steps(self, state: FlowState, to: FlowState) -> None:
        flow = a_flow(state)
        before = replace(flow)
        if to in STEPS[state]:
            after = flow.step(to, 1001.0, "because", path="al2s")
            assert (after.state, after.state_since, after.reason, after.path) == (
                to,
                1001.0,
                "because",
                "al2s",
            )
            assert replace(after, state=state, state_since=0.0, reason="", path=None) == before
        else:
            with pytest.raises(Conflict, match=f"f-17 is {state}; it cannot become {to}"):
                flow.step(to, 1001.0, "because", path="al2s")
        assert flow == before

    def test_rules_belong_to_flows_on_a_path(self) -> None:
        assert {s for s in FlowState if s.holds_rules} == {FlowState.INSTALLING, FlowState.ACTIVE}


class TestRequest:
    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("size", "0 B"),
            ("size", "0.4 B"),
            ("size", "1e30 B"),
            ("size", f"{10**30} B"),
            ("size", f"{MAX_SIZE + 1} B"),
            ("size", "-1 GB"),
            ("size", "25"),
            ("size", 25),
            ("size", "25 Gbps"),
            ("size", "nan B"),
            ("size", None),
            ("weights", {"throughput": 0, "loss": 0}),
            ("weights", {}),
            ("weights", {"happiness": 1}),
            ("weights", {"loss": -1}),
            ("weights", {"loss": float("nan")}),
            ("weights", {"loss": float("inf")}),
            ("ports", [0]),
            ("ports", [65536]),
            ("ports", [5001, -1]),
            ("ports", list(range(1, 18))),
            ("dscp", 64),
            ("priority", 1000),
            ("priority", -1),
            ("streams", 0),
            ("source", ""),
            ("source", "Mu-DTN"),
            ("source", "../etc/passwd"),
            ("source", "a" * 64),
            ("destination", "osu dtn"),
            ("application", "soy/kb"),
            ("queue_patience", "10"),
            ("label", "x" * 201),
            ("colour", "red"),
        ],
    )
    def test_bad_input_names_its_field(self, field: str, value: object) -> None:
        with pytest.raises(ValidationError) as caught:
            FlowRequest.model_validate({**GOOD, field: value})
        assert {error["loc"][0] for error in caught.value.errors()} == {field}

    @pytest.mark.parametrize("field", ["source", "destination", "size"])
    def test_what_must_be_there(self, field: str) -> None:
        with pytest.raises(ValidationError, match=field):
            FlowRequest.model_validate({k: v for k, v in GOOD.items() if k != field})

    @pytest.mark.parametrize(
        ("size", "expected"),
        [
            ("1 B", 1),
            ("25 GB", 25 * 10**9),
            ("64 MiB", 64 * 2**20),
            ("1000 PB", MAX_SIZE),
            (f"{MAX_SIZE - 1} B", MAX_SIZE - 1),
        ],
    )
    def test_sizes(self, size: str, expected: int) -> None:
        assert FlowRequest.model_validate({**GOOD, "size": size}).size == expected

    def test_a_request_does_not_change(self) -> None:
        request = FlowRequest.model_validate(GOOD)
        with pytest.raises(ValidationError, match="frozen"):
            request.size = 1
