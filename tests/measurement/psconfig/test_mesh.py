from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.model import Metric, PathKey
from measurement.pscheduler.specs import Ends
from measurement.psconfig.expand import expand
from measurement.psconfig.mesh import FETCH, Direction, Mesh, Need, NoMesh, longest_gap, mesh, planned
from measurement.psconfig.template import read
from measurement.psconfig.write import write
from measurement.scheduling import Agreement, conflicts

THERE = Direction(
    PathKey("l2", "mu", "osu"),
    Ends("10.1.0.1", "10.1.0.2", "mu.example.net", "osu.example.net"),
    frozenset({"mu", "osu"}),
    frozenset({"mu-osu"}),
    {"mu-osu": 1e9},
)
BACK = Direction(
    PathKey("l2", "osu", "mu"),
    Ends("10.1.0.2", "10.1.0.1", "osu.example.net", "mu.example.net"),
    frozenset({"mu", "osu"}),
    frozenset({"osu-mu"}),
    {"osu-mu": 1e9},
)


def made(needs: dict[Metric, Need], agreement: Agreement | None = None) -> Mesh:
    found = mesh(needs, [THERE, BACK], agreement)
    assert isinstance(found, Mesh), found
    return found


def refused(needs: dict[Metric, Need], agreement: Agreement | None = None) -> str:
    found = mesh(needs, [THERE, BACK], agreement)
    assert isinstance(found, NoMesh)
    return found.cause


def test_each_metric_has_a_test_in_each_direction_and_one_test_gives_several() -> None:
    needs = dict.fromkeys(Metric, Need(600.0))
    found = made(needs)
    assert sorted((test.key.source, test.request.kind) for test in found.tests) == [
        ("mu", "latency"), ("mu", "rtt"), ("mu", "throughput"),
        ("osu", "latency"), ("osu", "rtt"), ("osu", "throughput"),
    ]  # fmt: skip
    served = {metric for test in found.tests for metric in test.metrics if test.key.source == "mu"}
    assert served == set(Metric) - {Metric.HEALTH}, "which rounds among instances give, and no test"


@given(
    st.dictionaries(st.sampled_from(list(Metric)), st.floats(120.0, 7200.0), min_size=1),
    st.sampled_from([None, 1e9, 1e8]),
)
def test_no_value_ever_gets_older_than_it_may(ages: dict[Metric, float], allowed: float | None) -> None:
    needs = {metric: Need(age) for metric, age in ages.items()}
    agreement = None if allowed is None else Agreement({"mu-osu": allowed, "osu-mu": allowed})
    found = mesh(needs, [THERE, BACK], agreement)
    if isinstance(found, NoMesh):
        assert found.cause
        return
    for test in found.tests:
        needed = min(ages[metric] for metric in test.metrics)
        jobs = sorted(job for job in found.schedule.jobs if job.task == test.task.id)
        starts = sorted(job.start / 1000 for job in jobs)
        again = [*starts, starts[0] + found.schedule.hyperperiod / 1000]
        # From the end of one measurement until the value of the next is there.
        ages_then = [
            after + test.request.slot + FETCH - (before + test.request.lasts)
            for before, after in pairwise(again)
        ]
        assert max(ages_then) <= needed + 0.002
        # However else runs were placed before their deadlines, the age would hold.
        assert 2 * test.task.period - test.request.lasts + FETCH <= needed + 0.002
        assert test.worst_age == pytest.approx(max(ages_then))


def test_tests_that_disturb_each_other_never_overlap() -> None:
    found = made(dict.fromkeys(Metric, Need(900.0)))
    tasks = found.schedule.tasks
    for one in found.schedule.jobs:
        for other in found.schedule.jobs:
            if one < other and conflicts(tasks[one.task], tasks[other.task]):
                assert one.finish <= other.start or other.finish <= one.start


def test_streams_and_the_bound_on_loss_shape_the_test() -> None:
    found = made({Metric.THROUGHPUT: Need(900.0, streams=4), Metric.LOSS: Need(900.0, bound=0.01)})
    by_kind = {test.request.kind: test.request.spec for test in found.tests}
    assert by_kind["throughput"]["parallel"] == 4
    assert by_kind["latency"]["packet-count"] == 300  # none of 300 lost: below 1 % with 95 % confidence
    assert found.notes == ()


def test_a_bound_too_small_to_tell_is_noted() -> None:
    found = made({Metric.LOSS: Need(3600.0, bound=1e-6)})
    assert found.tests[0].request.spec["packet-count"] == 10_000
    assert "takes 3000000 packets" in found.notes[0]


def test_what_cannot_be_kept_fresh_is_refused_with_the_age_that_could_be() -> None:
    cause = refused({Metric.THROUGHPUT: Need(20.0)})
    assert "l2:mu>osu/throughput: a value cannot be kept younger than 20 s" in cause
    at_least = float(cause.partition("at least ")[2].partition(" s")[0])
    assert isinstance(mesh({Metric.THROUGHPUT: Need(at_least)}, [THERE]), Mesh)


def test_what_does_not_fit_together_is_refused_with_the_reason() -> None:
    cause = refused({Metric.THROUGHPUT: Need(40.0), Metric.LOSS: Need(40.0, bound=0.003)})
    assert "EDF-CE found no schedule" in cause


def test_what_the_agreement_does_not_allow_is_refused() -> None:
    assert "EDF-CE found no schedule" in refused({Metric.THROUGHPUT: Need(900.0)}, Agreement({"mu-osu": 1e6}))


@pytest.mark.parametrize(("needs", "directions"), [({}, [THERE]), ({Metric.RTT: Need(900.0)}, [])])
def test_nothing_to_do_is_no_mesh(needs: dict[Metric, Need], directions: list[Direction]) -> None:
    assert isinstance(mesh(needs, directions), NoMesh)


@pytest.mark.parametrize(
    "fields", [{"max_age": 0.0}, {"max_age": float("nan")}, {"max_age": 9.0, "streams": 0}]
)
def test_a_need_is_checked(fields: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"max_age|streams"):
        Need(**fields)  # type: ignore[arg-type]


def test_the_gap_over_the_end_of_the_round_counts() -> None:
    assert longest_gap([10, 30], 100) == 80
    assert longest_gap([0], 100) == 100


def test_a_site_can_run_the_mesh_with_its_own_agents() -> None:
    found = made(dict.fromkeys(Metric, Need(900.0)))
    template = read(json.dumps(write(planned(found.tests))).encode())
    specs = sorted(json.dumps(each.spec, sort_keys=True) for each in expand(template))
    assert specs == sorted(json.dumps(dict(test.request.spec), sort_keys=True) for test in found.tests)
