"""What programs are called with and what is read from them; iperf3's JSON as it was printed, shortened."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.evaluation.document import Measure
from measurement.evaluation.output import complaint, filled, value_of
from tests.support.refusals import refused

IPERF3 = """{"start": {}, "intervals": [{"sum": {"bits_per_second": 5e9}}],
"end": {"sum_received": {"bits_per_second": 4.5e9}}}"""
REFUSED = '{"start": {}, "error": "error - unable to connect to server: Connection refused"}'
RECEIVED = Measure(("iperf3",), "end.sum_received.bits_per_second")


@pytest.mark.parametrize(
    ("printed", "measure", "value"),
    [
        (IPERF3, RECEIVED, 4.5e9),
        (IPERF3, Measure(("x",), "intervals.0.sum.bits_per_second"), 5e9),
        ("12.5\n", Measure(("x",)), 12.5),
        (" 20.3 ", Measure(("x",), factor=1e-3), 0.0203),
        ("0", Measure(("x",)), 0.0),
    ],
)
def test_a_value_is_read(printed: str, measure: Measure, value: float) -> None:
    assert value_of(printed, measure) == pytest.approx(value)


@pytest.mark.parametrize(
    ("printed", "measure", "code"),
    [
        ("", Measure(("x",)), "wrong-type"),
        ("12 Mbit/s", Measure(("x",)), "wrong-type"),
        ("nan", Measure(("x",)), "out-of-range"),
        ("-1", Measure(("x",)), "out-of-range"),
        ("[", RECEIVED, "malformed"),
        (REFUSED, RECEIVED, "invalid"),
        ('{"end": {}}', RECEIVED, "missing"),
        ('{"end": {"sum_received": {"bits_per_second": true}}}', RECEIVED, "wrong-type"),
        ("[1]", Measure(("x",), "1"), "missing"),
    ],
)
def test_output_without_a_value_is_refused(printed: str, measure: Measure, code: str) -> None:
    with refused(code):
        value_of(printed, measure)


def test_why_a_program_failed() -> None:
    assert complaint("a\n last\t line\n\n", "out") == "last line"
    assert complaint("", REFUSED) == "error - unable to connect to server: Connection refused"
    assert complaint(" ", "first\nlast") == "last"
    assert complaint("", "") == complaint("", "{}") == ""
    assert len(complaint("x" * 1000, "")) == 120


def test_placeholders_are_filled_once_and_others_stay() -> None:
    values = {"one": "{other}", "port": "5201"}
    assert filled(("-p{port}", "{one}", "{what}", "{", "{}}"), values) == (
        "-p5201",
        "{other}",
        "{what}",
        "{",
        "{}}",
    )


@given(
    st.lists(st.text(alphabet="{}ab ", max_size=12)), st.dictionaries(st.sampled_from(["a", "b"]), st.text())
)
def test_what_has_no_placeholder_stays(words: list[str], values: dict[str, str]) -> None:
    plain = tuple(word.replace("{", "(") for word in words)
    assert filled(plain, values) == plain
    assert filled(tuple(words), {}) == tuple(words)
