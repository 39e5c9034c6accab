from __future__ import annotations

import csv
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.archive import Appended, Archive, csvfile
from measurement.archive.exchange import BadRows, check_file, export_file, import_file
from measurement.archive.records import Record, record, value_of
from measurement.model import Measurement, Metric, Observation, PathKey
from tests.measurement.archive.values import measured, observed
from tests.support.factories import make_measurement
from tests.support.refusals import refused

_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
_JSON = st.dictionaries(
    _TEXT,
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXT,
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_TEXT, inner, max_size=2),
        max_leaves=4,
    ),
    max_size=2,
)
_KEY = st.builds(PathKey, _TEXT, _TEXT, _TEXT)
_TIME = st.floats(-1e12, 1e12)
_VALUE = st.builds(
    lambda key, value, at, *rest: Measurement(key, Metric.RTT, value, at, at + 1, *rest),
    *(_KEY, st.floats(0, allow_infinity=False), _TIME, _TEXT, _TEXT, _JSON),
) | st.builds(
    Observation,
    *(_KEY, st.just("host.load"), st.floats(allow_nan=False, allow_infinity=False), _TIME),
    *(_TEXT, _TEXT, _JSON),
)


@given(values=st.lists(_VALUE, max_size=8))
def test_every_value_comes_back_exactly(tmp_path_factory, values):
    file = tmp_path_factory.mktemp("exact") / "values.csv"
    csvfile.write(file, [[record(value) for value in values[i : i + 3]] for i in range(0, len(values), 3)])
    found = [row for _, row in csvfile.read(file, lambda _: None)]
    assert [value_of(row) for row in found] == values
    assert [repr(row) for row in found] == [repr(record(value)) for value in values]  # -0.0 too


VALUES = [measured(0.1 + 0.2, 1e9 + 1 / 3), measured(2, 20), observed(-0.5, 5)]


def test_an_archive_goes_out_and_into_another(archive, tmp_path):
    file, seen = tmp_path / "values.csv", []
    archive.append(VALUES)
    assert export_file(archive, file, lambda *told: seen.append(told)) == 3
    assert seen[-1] == ("exporting", 3, 3)
    with Archive(tmp_path / "other.db") as other:
        assert import_file(other, file, lambda *told: seen.append(told)) == Appended(new=3)
        assert [value for batch in other.contents(2) for value in batch] == VALUES
        assert import_file(other, file) == Appended(duplicates=3)
    assert {what for what, *_ in seen} == {"exporting", "checking", "importing"}
    assert all(done <= of for _, done, of in seen)
    assert sorted(path.name for path in tmp_path.glob("*values*")) == [file.name]


def test_a_file_that_disagrees_with_the_archive_is_told(archive, tmp_path):
    file = tmp_path / "values.csv"
    archive.append(VALUES)
    export_file(archive, file)
    file.write_text(file.read_text().replace(",2.0,19.0,20.0", ",3.0,19.0,20.0"))
    found = import_file(archive, file)
    assert (found.new, found.duplicates, len(found.disagreements)) == (0, 2, 1)
    assert found.disagreements[0].offered == 3


GOOD = record(measured(1, 10))._asdict()


def written(file, *rows, header=Record._fields):
    with file.open("w", newline="", encoding="utf-8", errors="surrogateescape") as stream:
        writer = csv.writer(stream)
        writer.writerow(header)
        writer.writerows({**GOOD, **row}.values() if isinstance(row, dict) else row for row in rows)
    return file


@pytest.mark.parametrize(
    ("row", "cause"),
    [
        ({"kind": "event"}, "kind:"),
        ({"metric": "speed"}, "metric:"),
        ({"value": ""}, "value:"),
        ({"value": "NaN"}, "value:"),
        ({"value": "1_000"}, "value:"),
        ({"value": "1e999"}, "inf"),
        ({"value": "-1"}, "-1.0"),
        ({"metric": "loss", "value": "1.5"}, "loss:"),
        ({"started_at": ""}, "started_at:"),
        ({"observed_at": "8"}, "observed_at:"),
        ({"parameters": "{"}, "parameters:"),
        ({"parameters": "[1]"}, "parameters:"),
        ({"parameters": '{"a": NaN}'}, "parameters:"),
        ({"parameters": "[" * 100_000}, "parameters:"),
        ({"kind": "observation"}, "metric"),
        ({"tool": "bad \udcff byte"}, "tool:"),
        ({"path": "p" * 300}, "key.path:"),
        (["measurement", "al2s"], "2 fields"),
        ([*GOOD.values(), "more"], "12 fields"),
        ([], "0 fields"),
    ],
)
def test_bad_rows_are_named_by_line_and_nothing_is_imported(tmp_path, row, cause):
    file = written(tmp_path / "values.csv", {}, {"tool": "two\nlines", "origin": "b"}, row, {"origin": "c"})
    with Archive(tmp_path / "m.db") as archive:
        with pytest.raises(BadRows) as caught:
            import_file(archive, file)
        (bad,) = caught.value.rows
        assert bad.line == 5
        assert cause in str(bad)
        assert "\n" not in str(bad)
        assert archive.size() == 0
        assert import_file(archive, file, skip_bad=True).new + archive.size() > 0


def test_a_quote_that_never_ends_spoils_one_row_only(tmp_path):
    file = written(tmp_path / "values.csv", {})
    file.write_text(file.read_text() + 'measurement,"al2s,mu\n')
    assert check_file(file).good == 1
    assert [bad.line for bad in check_file(file).bad] == [3]


def test_many_bad_rows_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr("measurement.archive.exchange.SHOWN", 3)
    found = check_file(written(tmp_path / "values.csv", *[{"value": "x"}] * 10, {}))
    assert (found.good, found.bad_count) == (1, 10)
    assert [(row.line, row.cause.partition(":")[0]) for row in found.bad] == [(n, "value") for n in (2, 3, 4)]


def test_a_mark_that_a_spreadsheet_puts_first_is_no_error(tmp_path):
    file = written(tmp_path / "values.csv", {})
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert check_file(file).good == 1


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.csv", b"", "malformed"),
        ("a.csv", b"a,b\n1,2\n", "malformed"),
        ("a.csv", None, "unreadable"),
        ("a.parquet", b"", "unknown-value"),
    ],
)
def test_what_is_no_such_file_is_refused(tmp_path, name, content, code):
    file = tmp_path / name
    if content is not None:
        file.write_bytes(content)
    with refused(code) as caught:
        check_file(file)
    assert "\n" not in str(caught.error)


def test_an_export_that_fails_leaves_nothing(archive, tmp_path):
    archive.append(VALUES)

    def stop(*_told):
        raise KeyboardInterrupt

    (tmp_path / "a.csv").write_text("earlier")
    with pytest.raises(KeyboardInterrupt):
        export_file(archive, tmp_path / "a.csv", stop)
    assert (tmp_path / "a.csv").read_text() == "earlier"
    assert not list(tmp_path.glob("*.part"))
    with refused("exchange-error"):
        export_file(archive, tmp_path / "no" / "a.csv")


def test_the_header_and_a_row_are_plain_to_read(archive, tmp_path):
    rtt = {"metric": Metric.RTT, "value": 0.1, "source": "urn:run", "tool": "ping"}
    value = make_measurement(**rtt, started_at=1.0, observed_at=2.5, parameters={"count": 5})
    archive.append([value])
    export_file(archive, tmp_path / "a.csv")
    header, row = (tmp_path / "a.csv").read_text().splitlines()
    assert header == (
        "kind,path,source,destination,metric,value,started_at,observed_at,origin,tool,parameters"
    )
    assert row == 'measurement,al2s,mu,osu,rtt,0.1,1.0,2.5,urn:run,ping,"{""count"": 5}"'
    assert json.loads(next(csv.reader([row]))[-1]) == {"count": 5}
