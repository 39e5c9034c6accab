"""Reports under way: in parts, from one connection, not for ever, and counters one at a time."""

from typing import cast

import pytest

from adon.flowvisor.openflow.decode import ReportPart
from adon.flowvisor.rules.rule import Slot
from apps.campus_edge.connections import Connection
from apps.campus_edge.reports import REPORT_TIMEOUT_S, Report, Reports

HERE, ELSEWHERE = cast(Connection, object()), cast(Connection, object())
"""A connection is only compared."""


@pytest.fixture
def reports() -> Reports:
    return Reports()


def found(reports: Reports, xid: int, connection: Connection = HERE) -> Report:
    report = reports.of(xid, connection)
    assert report is not None
    return report


def test_a_report_is_whole_when_each_of_its_requests_is_answered(reports: Reports) -> None:
    reports.begin(HERE, [7, 8, 9], 0.0)
    report = found(reports, 8)
    assert report.rules_xid == 7
    assert [reports.record_answer(report, xid) for xid in (8, 7, 9)] == [False, False, True]
    assert reports.of(7, HERE) is None


def test_nobody_else_can_add_to_it(reports: Reports) -> None:
    reports.begin(HERE, [7], 0.0)
    assert reports.of(7, ELSEWHERE) is None
    assert reports.of(6, HERE) is None


def test_parts_are_put_together(reports: Reports) -> None:
    reports.begin(HERE, [7], 0.0)
    report = found(reports, 7)
    slots = [cast(Slot, name) for name in ("one", "two")]
    for slot in slots:
        report.add(ReportPart([], {slot}, [], more=True))
    assert report.foreign == set(slots)


def test_counters_are_not_asked_for_while_they_are_owed(reports: Reports) -> None:
    assert reports.begin_counters(HERE, 7, 0.0)
    assert not reports.begin_counters(HERE, 8, 0.0)
    assert reports.begin_counters(ELSEWHERE, 9, 0.0)
    assert reports.record_answer(found(reports, 7), 7)
    assert reports.begin_counters(HERE, 10, 0.0)


def test_a_whole_report_does_not_keep_counters_from_being_asked_for(reports: Reports) -> None:
    reports.begin(HERE, [7], 0.0)
    assert reports.begin_counters(HERE, 8, 0.0)


def test_one_that_stays_away_names_its_connection_once(reports: Reports) -> None:
    reports.begin(HERE, [7, 8], 0.0)
    reports.begin(ELSEWHERE, [9], 1.0)
    assert reports.overdue(REPORT_TIMEOUT_S) == ({HERE}, [1.0 + REPORT_TIMEOUT_S])
    assert reports.overdue(REPORT_TIMEOUT_S) == (set(), [1.0 + REPORT_TIMEOUT_S])


def test_with_a_connection_go_its_reports_and_nobody_elses(reports: Reports) -> None:
    reports.begin(HERE, [7, 8], 0.0)
    reports.begin(ELSEWHERE, [9], 0.0)
    reports.forget(HERE)
    assert reports.of(7, HERE) is None
    assert reports.of(9, ELSEWHERE) is not None
