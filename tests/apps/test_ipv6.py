"""IPv6 with real packets: a flow crosses layer 2 and layer 3, and is moved while it sends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.lab import isolated


@pytest.mark.testbed
@pytest.mark.parametrize("protocol", ["udp", pytest.param("tcp", marks=pytest.mark.slow)])
def test_an_ipv6_flow_crosses_both_layers_and_survives_its_moves_without_loss(
    tmp_path: Path, protocol: str
) -> None:
    """Of TCP everything arrives anyway; that it does is all that is asked here."""
    found = json.loads(isolated("tests.apps.ipv6_lab", str(tmp_path), protocol).splitlines()[-1])
    assert found["received"] == found["sent"] > 1000
    (first, a), (second, b), (third, c) = found["stages"]
    assert first == third != second
    assert min(a, b, c) > 100
