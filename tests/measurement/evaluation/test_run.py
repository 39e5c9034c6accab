"""Runs: what samples amount to, and the file in which they are kept."""

from __future__ import annotations

import json
import statistics
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.evaluation.results import Measured, Path
from measurement.evaluation.run import Reference, Run, Sample
from measurement.model import from_json, to_json
from tests.measurement.evaluation.nectar import TABLE_V, stated_paths
from tests.support.refusals import refused

NODES, CLIENTS = ("a", "b"), ("u",)
PATHS = [Path("a", "a"), Path("a", "b"), Path("u", "a"), Path("u", "b")]


def run(*samples: Sample, **more: Any) -> Run:
    given = {"began": 0.0, "ended": None, "seed": 1, "planned": len(samples), **more}
    return Run(
        "r", Reference("d", 1), "tcp-transfer-bit-speed", "bit/s", NODES, CLIENTS, samples=samples, **given
    )


def sample(number: int, path: Path, value: float | None, **more: Any) -> Sample:
    return Sample(number, *path, float(number), value, None if value is not None else "refused", **more)


def test_failures_are_kept_and_are_no_values() -> None:
    found = run(
        sample(0, PATHS[1], 4.0),
        sample(1, PATHS[1], None),
        sample(2, PATHS[1], 8.0),
        sample(3, PATHS[2], None),
    )
    assert found.series() == {PATHS[1]: (4.0, 8.0)}
    assert found.failures() == {PATHS[1]: 1, PATHS[2]: 1}
    assert found.results().paths == {PATHS[1]: Measured(6.0, statistics.stdev([4, 8]), 2)}
    assert [one.path for one in found.paths] == [PATHS[2], PATHS[1]]
    paths = {(one["one"], one["other"]): one for one in to_json(found)["paths"]}
    assert paths["u", "a"] == {
        "one": "u",
        "other": "a",
        "mean": None,
        "deviation": None,
        "count": 0,
        "failed": 1,
    }


def test_what_is_given_of_a_path_with_samples_is_what_they_amount_to() -> None:
    given = run(
        sample(0, PATHS[1], 4.0),
        paths=stated_paths({PATHS[1]: Measured(9.0, 0.0), PATHS[0]: Measured(1.0, 0.0)}),
    )
    assert given.results().paths == {PATHS[0]: Measured(1.0, 0.0), PATHS[1]: Measured(4.0, 0.0, 1)}


def test_what_was_interrupted_is_not_complete() -> None:
    assert not run(sample(0, PATHS[1], 4.0), planned=2).complete
    assert run(sample(0, PATHS[1], 4.0), sample(1, PATHS[1], None), planned=2).complete


def test_a_report_without_samples_is_a_run_too() -> None:
    stated = Run(
        "v",
        Reference("nectar", 1),
        "m",
        "Mbit/s",
        TABLE_V.nodes,
        TABLE_V.clients,
        None,
        None,
        None,
        0,
        paths=stated_paths(TABLE_V.paths),
    )
    assert stated.results() == TABLE_V
    assert stated.complete
    assert from_json(Run, json.loads(json.dumps(to_json(stated)))) == stated


@pytest.mark.parametrize(
    ("samples", "more", "code"),
    [
        ([sample(3, PATHS[1], 1.0), sample(3, PATHS[2], 1.0)], {}, "duplicate"),
        ([sample(0, Path("a", "x"), 1.0)], {}, "unknown-name"),
    ],
)
def test_runs_that_contradict_themselves_are_refused(
    samples: list[Sample], more: dict[str, Any], code: str
) -> None:
    with refused(code):
        run(*samples, **more)


@st.composite
def runs(draw: st.DrawFn) -> Run:
    count = draw(st.integers(0, 12))
    whole = []
    for number in range(count):
        value = draw(st.none() | st.floats(0, 1e11))
        at = draw(st.integers(0, 4_000_000_000_000_000)) / 1e6
        failure = None if value is not None else draw(st.text(min_size=1, max_size=9))
        whole.append(
            Sample(number, *draw(st.sampled_from(PATHS)), at, value, failure, draw(st.integers(0, 3)))
        )
    return run(
        *whole,
        began=draw(st.none() | st.integers(0, 2**32).map(float)),
        pilot=draw(st.booleans()),
        conditions=draw(st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=2)),
    )


@given(runs())
def test_what_is_written_is_read_back(found: Run) -> None:
    again = from_json(Run, json.loads(json.dumps(to_json(found))))
    assert [one.value for one in again.samples] == [one.value for one in found.samples]
    assert [one.at for one in again.samples] == pytest.approx([one.at for one in found.samples], abs=1e-6)
    assert (again.name, again.began, again.conditions, again.results()) == (
        found.name,
        found.began,
        found.conditions,
        found.results(),
    )


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"format": "ceem-run/2"}, "format"),
        ({"nodes": None}, "nodes"),
        ({"began": "2026-01-01T00:00:00"}, "began"),
        ({"samples": [{"number": 0}]}, "samples.0.one"),
        ({"unknown": 1}, "unknown"),
        ({"paths": [{"one": "a", "other": "b", "mean": -1, "deviation": 0}]}, "paths.0.mean"),
    ],
)
def test_files_that_are_none_are_refused_by_field(change: dict[str, Any], field: str) -> None:
    with refused(ValueError, field):
        from_json(Run, {**to_json(run(sample(0, PATHS[1], 1.0))), **change})


def test_refused_document_has_the_code_of_its_value() -> None:
    document = to_json(run(sample(0, PATHS[1], 1.0)))
    with refused("duplicate"):
        from_json(Run, {**document, "samples": document["samples"] * 2})


def test_a_series_is_in_the_order_of_time_whatever_the_log_s() -> None:
    found = run(
        Sample(0, *PATHS[1], 9.0, 1.0), Sample(1, *PATHS[1], 3.0, 2.0), Sample(2, *PATHS[1], 6.0, 3.0)
    )
    assert found.series() == {PATHS[1]: (2.0, 3.0, 1.0)}
