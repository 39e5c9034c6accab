"""Log of a run: written entries are read back, wherever the log was cut off, and one process writes it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.ceem.run import EvaluationRun, Note, Reference, Sample
from measurement.ceem.run_log import RunLog, create_log, format_entry, parse_log, read_log, resume_log
from tests.support.refusals import refused

REFERENCE = Reference("d", 1, "aa")
RUN = EvaluationRun("r", REFERENCE, "tcp-transfer-bit-speed", "bit/s", ("a", "b"), (), 5.0, None, 1, 3)
SAMPLES = (
    Sample(0, "a", "b", 10.0, 4e6),
    Sample(1, "a", "a", 11.5, None, "connection refused: ümlaut\nline"),
    Sample(2, "b", "b", 12.25, 0.0, iteration=1),
)
NOTE = Note(13.0, "the power failed\u2028at noon")
LINES = (
    format_entry("run", RUN),
    *(format_entry("sample", sample) for sample in SAMPLES),
    format_entry("note", NOTE),
    format_entry("ended", Note(14.0, "")),
)
WHOLE = replace(RUN, samples=SAMPLES, notes=(NOTE,), ended=14.0)


def test_log_is_read_back() -> None:
    assert parse_log("".join(LINES)) == WHOLE
    assert all(line.count("\n") == 1 for line in LINES)


@given(st.integers(0, len("".join(LINES))))
def test_truncated_log_has_its_complete_lines(at: int) -> None:
    text = "".join(LINES)[:at]
    if at < len(LINES[0]):
        with refused("missing"):
            parse_log(text)
        return
    found = parse_log(text)
    complete = text.count("\n") - 1
    assert found.samples == SAMPLES[: min(complete, 3)]
    assert found.ended == (14.0 if complete == 5 else None)


@pytest.mark.parametrize(
    ("lines", "code", "field"),
    [
        ([], "missing", ""),
        ([LINES[1]], "unknown-key", ""),
        ([LINES[0], "{\n"], "malformed", ""),
        ([LINES[0], LINES[0]], "unknown-key", ""),
        ([LINES[0], '{"sample": {"number": 0}}\n'], "invalid", "one"),
        ([LINES[0], LINES[1], LINES[1]], "duplicate", "samples"),
        ([LINES[0], '{"sample": 5}\n'], "invalid", "value"),
    ],
)
def test_damaged_log_is_refused(lines: list[str], code: str, field: str) -> None:
    with refused(code, field):
        parse_log("".join(lines))


def test_interrupted_run_is_resumed(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with create_log(folder, "the template", RUN) as log:
        log.write("sample", SAMPLES[0])
    assert (folder / "document.yaml").read_text() == "the template"
    with (folder / "log.jsonl").open("a") as file:
        file.write('{"sample": {"number": 2, "on')  # killed in the middle of a line
    assert read_log(folder).samples == SAMPLES[:1]
    with resume_log(folder) as log:
        log.write("sample", SAMPLES[1])
        log.write("sample", SAMPLES[2])
        log.write("note", NOTE)
        log.write("ended", Note(14.0, ""))
    assert read_log(folder) == WHOLE


@pytest.mark.parametrize(
    ("open_log", "error"),
    [
        (lambda folder: create_log(folder, "", RUN), FileExistsError),
        (resume_log, BlockingIOError),
        (lambda folder: resume_log(folder / "none"), FileNotFoundError),
    ],
)
def test_log_has_one_writer(
    tmp_path: Path, open_log: Callable[[Path], AbstractContextManager[RunLog]], error: type[OSError]
) -> None:
    with create_log(tmp_path, "", RUN), pytest.raises(error), open_log(tmp_path):
        pytest.fail("the log was opened")
    assert read_log(tmp_path) == RUN
