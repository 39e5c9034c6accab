"""Instances: what can be one, and errors that name the field."""

from __future__ import annotations

import ipaddress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.instances import PORT, Instance
from tests.support.refusals import refused


def test_only_name_and_address_are_needed() -> None:
    found = Instance("vm-1", "10.0.0.1")
    assert (found.port, found.zone, found.cores, found.memory) == (PORT, "", None, None)


@pytest.mark.parametrize("name", ["a", "vm-1.zone_b", "0", "x" * 63])
def test_names(name: str) -> None:
    assert Instance(name, "::1").name == name


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("name", {"name": ""}),
        ("name", {"name": "-a"}),
        ("name", {"name": "a b"}),
        ("name", {"name": "a\n"}),
        ("name", {"name": "é"}),
        ("name", {"name": "x" * 64}),
        ("address", {"address": "vm.example.org"}),
        ("address", {"address": "10.0.0.256"}),
        ("address", {"address": ""}),
        ("address", {"address": "10.0.0.0/8"}),
        ("port", {"port": 0}),
        ("port", {"port": 65_536}),
        ("port", {"port": -1}),
        ("cores", {"cores": 0}),
        ("cores", {"cores": -0.5}),
        ("cores", {"cores": float("nan")}),
        ("memory", {"memory": 0}),
        ("memory", {"memory": -1}),
    ],
)
def test_what_is_none_is_refused_by_field(field: str, values: dict[str, Any]) -> None:
    with refused(ValueError, field):
        Instance(**({"name": "a", "address": "10.0.0.1"} | values))


def test_a_long_name_does_not_fill_the_log() -> None:
    with refused(ValueError, "name") as caught:
        Instance("x" * 10_000, "10.0.0.1")
    assert len(str(caught.error)) < 200


@given(st.ip_addresses(), st.integers(1, 65_535), st.floats(0.5, 512), st.integers(1, 2**50))
def test_every_address_is_one(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address, port: int, cores: float, memory: int
) -> None:
    found = Instance("a", str(address), port, "z", cores, memory)
    assert ipaddress.ip_address(found.address) == address
    assert found == Instance("a", str(address), port, "z", cores, memory)
    assert len({found, Instance("a", str(address), port, "z", cores, memory)}) == 1
