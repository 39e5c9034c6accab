"""Link speeds as the Topology Zoo writes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mininet_topos.zoo.speeds import labelled, rate


@pytest.mark.parametrize(
    ("said", "bits"),
    [
        ({"LinkSpeedRaw": "10000000000.0"}, 10e9),
        ({"LinkSpeedRaw": "1e9", "LinkSpeed": "10", "LinkSpeedUnits": "G", "LinkLabel": "E3"}, 1e9),
        ({"LinkSpeed": "2.5", "LinkSpeedUnits": "G", "LinkLabel": "E3"}, 2.5e9),
        ({"LinkSpeed": "155", "LinkSpeedUnits": "m"}, 155e6),
        ({"LinkSpeed": "155", "LinkLabel": "155 Mbps"}, 155e6),
        ({"LinkSpeedUnits": "G"}, None),
        ({}, None),
    ],
)
def test_the_first_that_is_there_counts(said: dict[str, str], bits: float | None) -> None:
    assert rate(said) == bits


@pytest.mark.parametrize(
    ("label", "bits"),
    [
        ("10 Gbps", 10e9), ("10Gbps", 10e9), ("10 Gbit/s", 10e9), ("10 Gb/s", 10e9), ("10G", 10e9),
        ("10GE", 10e9), ("10GigE", 10e9), ("1 GbE", 1e9), ("100GbE", 100e9), ("10 GbE", 10e9),
        ("2 x 10 GbE", 20e9), ("GbE", 1e9), ("GigE", 1e9), ("Gig-E", 1e9), ("10 Gigabit Ethernet", 10e9),
        ("100 Mbits/s", 100e6),
        ("2.5 Gbps", 2.5e9), ("512 kbps", 512e3), ("2x10G", 20e9), ("4 x 2.5 Gbps", 10e9),
        ("3*E3", 3 * 34.368e6),
        ("STM-16", 16 * 155.52e6), ("stm64", 64 * 155.52e6), ("OC-48c", 48 * 51.84e6),
        ("OC192", 192 * 51.84e6),
        ("E1", 2.048e6), ("DS-3", 44.736e6), ("Gigabit Ethernet", 1e9), ("Ethernet", 10e6),
        ("10-20Gbps", None), ("< 2.5 Gbps", None), ("DWDM", None), ("dark fibre", None), ("0 Mbps", None),
        ("", None),
        ("10", None), ("2x", None), ("9" * 400 + " Gbps", None), ("2000 Tbps", None), ("1000 Tbps", 1e15),
    ],
)  # fmt: skip
def test_a_label_is_read_if_it_is_one_rate(label: str, bits: float | None) -> None:
    assert labelled(label) == (None if bits is None else pytest.approx(bits))


@given(st.text(max_size=30))
def test_any_label_is_a_rate_above_zero_or_none(label: str) -> None:
    bits = labelled(label)
    assert bits is None or bits > 0


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "ten", "1e999", "2e15"])
def test_a_number_that_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^LinkSpeedRaw: .* is not a number above zero that a link has$"):
        rate({"LinkSpeedRaw": text})


def test_a_speed_is_no_more_than_a_link_has_with_its_unit_either() -> None:
    with pytest.raises(ValueError, match=r"^LinkSpeed: 5000 T is more than any link has$"):
        rate({"LinkSpeed": "5000", "LinkSpeedUnits": "T"})
