"""DSCP names, scitags and fireflies, against the documents that define them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from adon.marking import FireflyFlow, Marking, Scitags, dscp_text, firefly, parse_dscp
from tests.support.refusals import refused

CONNECTION = FireflyFlow("10.1.0.10", "10.2.0.10", "tcp", 40_000, 5_001, started=1_000_000.0)
TAGS = st.builds(Scitags, experiment=st.integers(1, 511), activity=st.integers(0, 63))


@pytest.mark.parametrize(
    ("written", "bits"),
    [
        (0, 0b000000),
        (63, 0b111111),
        ("CS1", 0b001000),
        ("cs6", 0b110000),
        ("AF11", 0b001010),
        ("AF43", 0b100110),
        ("EF", 0b101110),
        ("VOICE-ADMIT", 0b101100),
        ("LE", 0b000001),
        ("high-throughput-data", 0b001010),
        ("low-priority-data", 0b000001),
    ],
)
def test_a_dscp_by_number_or_name(written: object, bits: int) -> None:
    assert parse_dscp(written) == bits


@pytest.mark.parametrize("wrong", [64, -1, True, 1.0, None, "AF44", "CS8", "46"])
def test_what_is_no_dscp(wrong: object) -> None:
    with refused(ValueError):
        parse_dscp(wrong)


def test_a_dscp_is_told_by_name_where_it_has_one() -> None:
    assert [dscp_text(bits) for bits in (1, 46, 10, 63)] == ["LE", "EF", "AF11", "63"]


@given(TAGS, st.integers(0, 31))
def test_a_flow_label_has_twenty_bits_and_says_both_whatever_its_entropy(tags: Scitags, entropy: int) -> None:
    label = tags.flow_label(entropy)
    assert 0 <= label < 1 << 20
    experiment = int(f"{label >> 9 & 0x1FF:09b}"[::-1], 2)
    assert (experiment, label >> 2 & 0x3F) == (tags.experiment, tags.activity)


def test_the_bits_of_a_flow_label() -> None:
    """Experiment 2 is 000000010, reversed 010000000; activity 9 is 001001."""
    assert Scitags(experiment=2, activity=9).flow_label() == 0b00_010000000_0_001001_00
    assert Scitags(experiment=2, activity=9).flow_label(0b11_1_11) == 0b11_010000000_1_001001_11
    assert Scitags(experiment=2, activity=9).number == 2 << 6 | 9


def test_entropy_that_does_not_fit() -> None:
    with refused(ValueError):
        Scitags(experiment=1).flow_label(32)


@pytest.mark.parametrize(
    "fields", [{"experiment": 0}, {"experiment": 512}, {"experiment": 1, "activity": 64}, {}]
)
def test_scitags_out_of_range(fields: dict[str, int]) -> None:
    with pytest.raises(ValidationError):
        Scitags.model_validate(fields)


def test_a_request_wins_over_the_template_in_what_it_says() -> None:
    tags = Scitags(experiment=3)
    template, request = Marking.model_validate({"dscp": "AF11", "scitags": tags}), Marking(dscp=1)
    assert request.over(template) == Marking(dscp=1, scitags=tags)
    assert request.over(None) is request
    assert Marking(dscp=0).over(template).dscp == 0  # zero is a marking, not "none"


def read(payload: bytes) -> tuple[str, Any]:
    head, _, body = payload.decode().partition(" {")
    return head, json.loads("{" + body)


def test_a_firefly_at_the_start_of_a_connection() -> None:
    head, body = read(firefly(Scitags(experiment=2, activity=9), CONNECTION, 1_000_001.5, "edge.example.edu"))
    assert head == "<134>1 1970-01-12T13:46:41.500000+00:00 edge.example.edu adon - firefly-json -"
    assert body == {
        "version": 1,
        "flow-lifecycle": {
            "state": "start",
            "current-time": "1970-01-12T13:46:41.500000+00:00",
            "start-time": "1970-01-12T13:46:40.000000+00:00",
        },
        "flow-id": {
            "afi": "ipv4",
            "src-ip": "10.1.0.10",
            "dst-ip": "10.2.0.10",
            "protocol": "tcp",
            "src-port": 40_000,
            "dst-port": 5_001,
        },
        "context": {"experiment-id": 2, "activity-id": 9, "application": "adon"},
    }


def test_a_firefly_at_the_end_tells_the_end_and_the_bytes() -> None:
    over = FireflyFlow("fd00::1", "fd00::2", "udp", 1, 65_535, 1_000_000.0, ended=1_000_002.0, sent=0)
    _, body = read(firefly(Scitags(experiment=511), over, 1_000_002.0, "x"))
    assert body["flow-lifecycle"]["state"] == "end"
    assert body["flow-lifecycle"]["end-time"] == "1970-01-12T13:46:42.000000+00:00"
    assert body["flow-id"]["afi"] == "ipv6"
    assert body["usage"] == {"sent": 0}


@pytest.mark.parametrize(("source_port", "host"), [(0, "x"), (65_536, "x"), (1, "a b"), (1, "")])
def test_what_no_firefly_can_hold(source_port: int, host: str) -> None:
    about = FireflyFlow("10.1.0.10", "10.2.0.10", "tcp", source_port, 5_001, started=0.0)
    with refused(ValueError):
        firefly(Scitags(experiment=1), about, 0.0, host)
