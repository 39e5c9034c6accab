"""What people write as a quantity, and what it means inside."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from adon import units
from tests.support.refusals import refused


@pytest.mark.parametrize(
    ("parse", "text", "value"),
    [
        (units.parse_rate, "700 Mbps", 700e6),
        (units.parse_rate, "700Mbps", 700e6),
        (units.parse_rate, "80 MB/s", 640e6),
        (units.parse_rate, "80 MBps", 640e6),
        (units.parse_rate, "1 MiB/s", 8 * 2**20),
        (units.parse_rate, "1.5e3 kbps", 1.5e6),
        (units.parse_size, "25 GB", 25_000_000_000),
        (units.parse_size, "64 MiB", 64 * 2**20),
        (units.parse_duration, "20 ms", 0.02),
        (units.parse_duration, "5 min", 300.0),
        (units.parse_duration, "7 d", 604_800.0),
        (units.parse_ratio, "0.01 %", 1e-4),
        (units.parse_ratio, "50 ppm", 5e-5),
    ],
)
def test_reads(parse: Callable[[object], float], text: str, value: float) -> None:
    assert parse(text) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("parse", "text", "code"),
    [
        (units.parse_rate, "700", "no-unit"),
        (units.parse_rate, 700, "no-unit"),
        (units.parse_rate, "700 ms", "wrong-unit"),
        (units.parse_rate, "700 furlong", "unknown-unit"),
        (units.parse_rate, "-1 bps", "out-of-range"),
        (units.parse_rate, "nan bps", "malformed"),
        (units.parse_rate, "9**9**9 bps", "malformed"),
        (units.parse_rate, "1e400 bps", "out-of-range"),
        (units.parse_rate, "1e305 Gbps", "out-of-range"),
        (units.parse_rate, True, "wrong-type"),
        (units.parse_rate, None, "wrong-type"),
        (units.parse_rate, "1" * 10**6, "no-unit"),
        (units.parse_size, "25 Mbps", "wrong-unit"),
        (units.parse_duration, "25 mb", "wrong-unit"),
        (units.parse_duration, "3 fortnight", "unknown-unit"),
        (units.parse_ratio, "101 %", "out-of-range"),
    ],
)
def test_wrong_quantity_is_refused(parse: Callable[[object], float], text: object, code: str) -> None:
    with refused(code):
        parse(text)


@pytest.mark.parametrize(
    ("parse", "text", "suggestions"),
    [
        (units.parse_rate, "700 mbps", ["did you mean 700 Mbps?"]),
        (units.parse_rate, "7.5mb/s", ["did you mean 7.5 Mb/s?"]),
        (units.parse_rate, "700 mbit/s", ["did you mean 700 Mbit/s?"]),
        (units.parse_rate, "80 mB/s", ["did you mean 80 MB/s?"]),
        (units.parse_rate, "700 ubps", ["'700 Mbps'"]),
        (units.parse_rate, "700 nbps", ["'700 Mbps'"]),
        (units.parse_size, "25 mB", ["did you mean 25 MB?"]),
        (units.parse_size, "25 mb", ["did you mean 25 MB?"]),
        (units.parse_size, "25 µB", ["'25 GB'"]),
        (units.parse_size, "25 Gb", ["25 GB", "3.125 GB"]),
        (units.parse_size, "25 Gbit", ["25 GB", "3.125 GB"]),
        (units.parse_size, "64 Mib", ["64 MiB", "8 MiB"]),
        (units.parse_size, "8 bit", ["8 B", "1 B"]),
    ],
)
def test_ambiguous_unit_is_refused_with_the_intended_ones(
    parse: Callable[[object], float], text: str, suggestions: list[str]
) -> None:
    with refused("ambiguous-unit") as refusal:
        parse(text)
    assert [one for one in suggestions if one not in str(refusal.error)] == []


@pytest.mark.parametrize(
    ("parse", "text", "suggestion"),
    [
        (units.parse_rate, "700 gbps", "Gbps"),
        (units.parse_rate, "7 Kbps", "kbps"),
        (units.parse_size, "25 gb", "GB"),
    ],
)
def test_unknown_unit_is_refused_with_the_closest(
    parse: Callable[[object], float], text: str, suggestion: str
) -> None:
    with refused("unknown-unit") as refusal:
        parse(text)
    assert suggestion in str(refusal.error)


def test_rate_in_bytes_is_shown_in_bits() -> None:
    assert units.format_rate(units.parse_rate("80 MB/s")) == "640 Mbps"
    adapter: TypeAdapter[float] = TypeAdapter(units.Rate)
    assert adapter.dump_python(adapter.validate_python("80 MB/s")) == "640000000.0 bps"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (units.format_rate(7e6), "7 Mbps"),
        (units.format_rate(0), "0 bps"),
        (units.format_size(25e9), "25 GB"),
        (units.format_duration(0), "0 s"),
        (units.format_duration(2e-5), "20 us"),
        (units.format_duration(0.02), "20 ms"),
        (units.format_duration(90), "90 s"),
        (units.format_duration(600), "10 min"),
        (units.format_duration(86_400), "24 h"),
        (units.format_duration(8784 * 3600), "366 d"),
        (units.format_duration(100 * 3600), "100 h"),
        (units.format_duration(1500 * 3600), "62.5 d"),
        (units.format_duration(-90 * 86_400), "-90 d"),
        (units.format_duration(float("inf")), "never"),
        (units.format_ratio(1e-4), "0.01 %"),
        (units.format_significant(281_534.2), "281,500"),
        (units.format_significant(47_012, 2), "47,000"),
        (units.format_significant(0.012345), "0.01235"),
        (units.format_significant(1.5e15), "1.5e+15"),
    ],
)
def test_formats(text: str, expected: str) -> None:
    assert text == expected


@given(st.floats(min_value=0, max_value=1e15, allow_nan=False))
def test_fields_are_written_back_exactly(value: float) -> None:
    for kind, unit in ((units.Rate, "bps"), (units.Duration, "s")):
        adapter: TypeAdapter[float] = TypeAdapter(kind)
        assert adapter.validate_python(adapter.dump_python(value)) == value
        assert adapter.validate_python(f"{value!r} {unit}") == value


@given(st.floats(min_value=0, max_value=1))
def test_ratios_are_written_back_exactly(value: float) -> None:
    adapter: TypeAdapter[float] = TypeAdapter(units.Ratio)
    assert adapter.validate_python(adapter.dump_python(value)) == value


@given(st.integers(min_value=0, max_value=2**53))
def test_sizes_are_written_back_exactly(value: int) -> None:
    adapter: TypeAdapter[int] = TypeAdapter(units.Size)
    assert adapter.validate_python(adapter.dump_python(value)) == value
