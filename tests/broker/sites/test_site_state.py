"""What the cost is told of a site: T_q with its spread, or infinity and why."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.sites.jobs import JobState, SiteJob
from adon.broker.sites.site_state import Found, Standings, contradiction
from measurement.sites.model import Shape, Wait
from tests.broker.sites.values import compute_site, job, report, silent, wait

NOW = 5000.0
PATIENCE = 3 * 30.0 + 8 * 10.0


def standings(*finished: SiteJob) -> Standings:
    return Standings({"osu-hpc": compute_site(), "mu-hpc": compute_site(None)}, finished)


def heard(*waits: Wait, at: float = NOW) -> Standings:
    known = standings()
    known.record_report(report("osu-hpc", *waits), at)
    return known


def found(known: Standings, nodes: int = 1, now: float = NOW, cores: int = 1) -> Found:
    answer = known.wait("osu-hpc", nodes, now, cores)
    assert answer is not None
    return answer


def test_a_site_that_nobody_asks_keeps_its_configured_numbers() -> None:
    assert standings().wait("mu-hpc", 1, NOW) is None
    assert standings().wait("nowhere", 1, NOW) is None
    assert standings().silence("mu-hpc", NOW) is None


def test_a_site_that_was_never_heard_costs_infinity() -> None:
    answer = found(standings())
    assert answer.wait.mean == math.inf
    assert answer.why


def test_a_site_that_answers() -> None:
    assert found(heard(wait(120.0))) == Found(found(heard(wait(120.0))).wait)
    assert found(heard(wait(120.0))).wait.interval(2) == (120.0, 120.0)


@pytest.mark.parametrize(
    ("nodes", "cores", "seconds"), [(1, 1, 10.0), (2, 2, 20.0), (2, 5, 40.0), (3, 3, 40.0), (4, 16, 40.0)]
)
def test_the_smallest_size_that_covers_the_request_counts(nodes: int, cores: int, seconds: float) -> None:
    known = heard(wait(40.0, 4, 16), wait(10.0, 1, 1), wait(20.0, 2, 4))
    assert found(known, nodes, cores=cores).wait.mean == seconds


def test_a_larger_request_than_any_asked_for_is_not_known() -> None:
    answer = found(heard(wait(10.0, 4, 16)), 5)
    assert answer.wait.mean == math.inf
    assert answer.why


def test_what_would_never_start_costs_infinity_with_the_sites_reason() -> None:
    answer = found(heard(wait(None, why="no-flavour")))
    assert (answer.wait.mean, answer.why) == (math.inf, "no-flavour")


def test_a_site_that_stops_answering_costs_infinity_at_once_and_says_since_when() -> None:
    known = heard(wait(10.0))
    known.record_report(silent(), NOW + 30)
    known.record_report(silent(error="status 1"), NOW + 60)
    assert known.silence("osu-hpc", NOW + 60) == (NOW + 30, "status 1")
    assert math.isinf(found(known, now=NOW + 60).wait.mean)
    assert known.record_report(report("osu-hpc", wait(10.0)), NOW + 90)  # news: it may be used again
    assert found(known, now=NOW + 90).wait.mean == 10.0


def test_without_reports_a_site_is_silent_after_its_patience() -> None:
    known = heard(wait(10.0))
    assert found(known, now=NOW + PATIENCE).wait.mean == 10.0
    since = known.silence("osu-hpc", NOW + PATIENCE + 1)
    assert since is not None
    assert since[0] == NOW
    assert math.isinf(found(known, now=NOW + PATIENCE + 1).wait.mean)


@pytest.mark.parametrize(
    ("before", "after", "news"),
    [
        (wait(100.0), wait(100.0), False),
        (wait(100.0), wait(95.0), False),
        (wait(100.0), wait(50.0), True),
        (wait(0.2), wait(0.9), False),
        (wait(None), wait(0.0), True),
        (wait(None), wait(None), False),
        (wait(0.0), wait(None), True),
        (wait(10.0), wait(10.0, 2), True),
    ],
)
def test_what_is_news_to_those_who_wait(before: Wait, after: Wait, news: bool) -> None:
    known = heard(before)
    assert known.record_report(report("osu-hpc", after), NOW + 30) is news


def test_a_report_of_an_unknown_site_changes_nothing() -> None:
    known = standings()
    assert not known.record_report(report("elsewhere", wait(1.0)), NOW)
    assert not known.record_report(report("mu-hpc", wait(1.0)), NOW)


def test_what_was_worked_out_holds_until_something_new_is_known() -> None:
    known = heard(wait(10.0))
    assert found(known) is found(known)
    known.record_report(report("osu-hpc", wait(20.0)), NOW)
    assert found(known).wait.mean == 20.0
    known.record_start(job(predicted=0.0, queued_at=0.0, started_at=600.0))
    assert found(known).wait.mean > 20.0


# -- the spread ----------------------------------------------------------------------------------------


def test_answers_that_go_as_planned_do_not_contradict_each_other() -> None:
    assert contradiction([(0.0, 600.0), (30.0, 570.0), (60.0, 540.0)]) == 0.0
    assert contradiction([(0.0, 10.0), (30.0, 0.0), (60.0, 0.0)]) == 0.0
    assert contradiction([(0.0, 600.0)]) == contradiction([]) == 0.0


def test_answers_that_contradict_each_other_spread() -> None:
    assert contradiction([(0.0, 0.0), (30.0, 300.0), (60.0, 270.0)]) == pytest.approx(math.sqrt(300**2 / 2))
    known = heard(wait(0.0), at=NOW - 30)
    known.record_report(report("osu-hpc", wait(300.0)), NOW)
    assert found(known).wait.deviation == pytest.approx(300.0)


@given(st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e6)), max_size=30))
def test_the_spread_is_a_number_whatever_clocks_do(answers: list[tuple[float, float]]) -> None:
    assert 0 <= contradiction(answers) < math.inf


# -- honesty and rates ---------------------------------------------------------------------------------


def test_a_site_that_lies_is_stretched_and_said_so() -> None:
    known = heard(wait(0.0))
    late = job(predicted=0.0, queued_at=100.0, started_at=640.0, state=JobState.RUNNING)
    known.record_start(late)
    answer = found(known)
    assert answer.wait.mean == pytest.approx(60 * (math.sqrt(10) - 1))
    (read, _) = known.reading(NOW)
    assert read["honesty"] == {
        "jobs": 1,
        "factor": pytest.approx(math.sqrt(10)),
        "spread": pytest.approx(math.log(10) / 2),
        "said": 0.0,
        "waited": 540.0,
    }


@pytest.mark.parametrize(
    "changes",
    [
        {"predicted": None, "queued_at": 0.0, "started_at": 9.0},
        {"predicted": 5.0, "queued_at": 0.0},
        {"predicted": 5.0, "queued_at": 0.0, "started_at": 9.0, "site": "mu-hpc"},
    ],
)
def test_what_is_no_comparison_teaches_nothing(changes: dict[str, object]) -> None:
    known = heard(wait(10.0))
    known.record_start(job(**changes))
    assert found(known).wait.mean == 10.0


def test_a_finished_job_teaches_its_sites_rate() -> None:
    done = job(
        state=JobState.SUCCEEDED, template="soykb", size=10**9, nodes=2, started_at=0.0, ended_at=1000.0
    )
    known = standings(done)
    learnt = known.node_rate("osu-hpc", "soykb")
    assert learnt is not None
    assert learnt.mean == pytest.approx(math.sqrt(4e6 * 8e6))
    assert known.node_rate("osu-hpc", "other") is None
    assert known.node_rate("gone", "soykb") is None


def test_what_earlier_runs_taught_is_known_again() -> None:
    late = job(predicted=0.0, queued_at=100.0, started_at=640.0, state=JobState.RUNNING)
    known = standings(late)
    known.record_report(report("osu-hpc", wait(0.0)), NOW)
    assert found(known).wait.mean > 100


# -- what is shown -------------------------------------------------------------------------------------


def test_the_reading_is_json_and_tells_all() -> None:
    known = heard(wait(10.0), wait(None, 2, why="never"))
    asked, configured = json.loads(json.dumps(known.reading(NOW)))
    assert (asked["name"], asked["adapter"], asked["state"], asked["jobs"]) == (
        "osu-hpc",
        "slurm",
        "answers",
        ["align", "private"],
    )
    assert asked["capacity"]["cores_free"] == 32
    assert asked["capacity"]["gpus"] == 8
    assert [(one["said"], one["counted"], one["why"]) for one in asked["waits"]] == [
        (10.0, 10.0, ""),
        (None, None, "never"),
    ]
    assert (configured["state"], configured["adapter"], configured["queue_wait"]) == ("configured", None, 5.0)
    known.record_report(silent(), NOW + 1)
    assert known.reading(NOW + 2)[0]["state"] == "silent"
    assert known.reading(NOW + 2)[0]["silent_since"] == NOW + 1
    assert known.reading(NOW + 2)[0]["why"] == silent().error


@given(
    st.integers(1, 6),
    st.integers(1, 20),
    st.lists(st.tuples(st.integers(1, 5), st.integers(0, 1000)), max_size=8),
)
def test_a_larger_request_never_waits_shorter_among_honest_answers(
    nodes: int, more: int, sizes: list[tuple[int, int]]
) -> None:
    # A site whose larger requests wait at least as long says so; what is counted must keep that order.
    waits = [Wait(Shape(size, size), float(seconds + size * 1000)) for size, seconds in dict(sizes).items()]
    known = heard(*waits)
    assert found(known, nodes).wait.mean <= found(known, nodes + more).wait.mean
