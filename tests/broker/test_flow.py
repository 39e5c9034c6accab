from __future__ import annotations

import pytest
from pydantic import ValidationError

from adon.broker.flow import MAX_SIZE, FlowRequest

GOOD: dict[str, object] = {"source": "mu-dtn", "destination": "osu-dtn", "size": "25 GB"}


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
