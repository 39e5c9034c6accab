"""The live log: what was written is read back, whatever it was cut off at."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.evaluation import log
from measurement.evaluation.run import Note, Reference, Run, Sample
from tests.support.refusals import refused

RUN = Run("r", Reference("d", 1, "aa"), "tcp-transfer-bit-speed", "bit/s", ("a", "b"), (), 5.0, None, 1, 3)
SAMPLES = (
    Sample(0, "a", "b", 10.0, 4e6),
    Sample(1, "a", "a", 11.5, None, "connection refused: ümlaut\nline"),
    Sample(2, "b", "b", 12.25, 0.0, iteration=1),
)
NOTE = Note(13.0, "the power failed")
LINES = (log.opening(RUN), *map(log.sample_line, SAMPLES), log.note_line(NOTE), log.ending(14.0))
WHOLE = replace(RUN, samples=SAMPLES, notes=(NOTE,), ended=14.0)


def test_what_was_written_is_read_back() -> None:
    assert log.read("".join(LINES)) == WHOLE
    assert all(line.count("\n") == 1 for line in LINES)


@given(st.integers(0, len("".join(LINES))))
def test_a_log_that_was_cut_off_anywhere_is_what_was_whole(at: int) -> None:
    text = "".join(LINES)[:at]
    if at < len(LINES[0]):
        with refused(ValueError):
            log.read(text)
        return
    found = log.read(text)
    done = text.count("\n") - 1
    assert found.samples == SAMPLES[: min(done, 3)]
    assert found.ended == (14.0 if done == 5 else None)


@pytest.mark.parametrize(
    ("lines", "code", "field"),
    [
        ([], "missing", ""),
        ([LINES[1]], "unknown-key", ""),
        ([LINES[0], "{\n"], "malformed", ""),
        ([LINES[0], LINES[0]], "unknown-key", ""),
        ([LINES[0], '{"sample": {"number": 0}}\n'], "invalid", "one"),
        ([LINES[0], LINES[1], LINES[1]], "duplicate", ""),
        ([LINES[0], '{"sample": 5}\n'], "invalid", "value"),
    ],
)
def test_what_is_no_log_is_refused(lines: list[str], code: str, field: str) -> None:
    with refused(code, field):
        log.read("".join(lines))
