"""What sites are asked and answer, and its form that travels."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.custom.batch.model import Capacity, Job, JobState, JobStatus
from measurement.model import from_json, to_json
from measurement.sites import codec
from measurement.sites.batch import BatchSite
from measurement.sites.model import (
    LONGEST_WAIT,
    MOST_SHAPES,
    JobNews,
    JobOrder,
    Shape,
    SiteReport,
    SiteState,
    Wait,
)
from measurement.sites.static import StaticSite
from tests.support.refusals import refused

times = st.floats(0, 1e10)
texts = st.text(max_size=20)
shapes = st.builds(
    lambda nodes, more, memory, seconds: Shape(nodes, nodes + more, memory, seconds),
    st.integers(1, 1000),
    st.integers(0, 1000),
    st.integers(0, 10**15),
    st.floats(1, 1e7),
)
numbers = st.integers(0, 10**6)
maybe = st.none() | numbers
capacities = st.builds(
    Capacity, numbers, numbers, numbers, numbers, numbers, maybe, maybe, maybe, maybe, maybe
)
waits = st.builds(Wait, shapes, st.none() | st.floats(0, LONGEST_WAIT), texts)
states = st.builds(SiteState, capacities, st.lists(waits, max_size=3).map(tuple))
reports = st.builds(SiteReport, texts, times, st.none() | states, texts)
words = st.lists(texts, max_size=3).map(tuple)
orders = st.builds(
    JobOrder, numbers, texts, texts, texts, words, texts, maybe, st.none() | texts, st.booleans()
)
statuses = st.builds(
    JobStatus,
    texts,
    st.sampled_from(JobState),
    st.none() | times,
    st.none() | times,
    st.none() | times,
    maybe,
    texts,
)
news = st.builds(JobNews, numbers, times, st.none() | statuses, st.none() | times, texts, st.booleans())


def travelled(body: dict[str, Any]) -> Any:
    return json.loads(json.dumps(body, allow_nan=False))


@given(reports)
def test_reports_travel_whole(report: SiteReport) -> None:
    assert from_json(SiteReport, travelled(to_json(report))) == report


@given(orders)
def test_orders_travel_whole(order: JobOrder) -> None:
    assert from_json(JobOrder, travelled(to_json(order))) == order


@given(news)
def test_news_travel_whole(told: JobNews) -> None:
    assert from_json(JobNews, travelled(to_json(told))) == told


@given(st.lists(shapes, max_size=MOST_SHAPES))
def test_shapes_travel_whole(listed: list[Shape]) -> None:
    assert codec.shapes_from_json(travelled(codec.shapes_to_json(listed))) == tuple(listed)


def test_no_more_shapes_are_taken_than_a_site_is_asked_for() -> None:
    many = [Shape(n, n) for n in range(1, 40)]
    assert len(codec.shapes_from_json(codec.shapes_to_json(many))) == MOST_SHAPES


@pytest.mark.parametrize("number", [0, 1, 50, 51, 120])
def test_all_orders_go_in_messages_of_a_bounded_size(number: int) -> None:
    messages = list(codec.orders_to_json(JobOrder(n, "e", "hpc", "align") for n in range(number)))
    assert [message["first"] for message in messages] == [True] + [False] * (len(messages) - 1)
    assert sum(len(message["items"]) for message in messages) == number
    assert all(len(message["items"]) <= codec.AT_ONCE for message in messages)


GOOD = to_json(SiteReport("hpc", 1.0, SiteState(Capacity(1, 1, 1, 0, 0), (Wait(Shape(), 5.0),))))


def changed(**wait: Any) -> dict[str, Any]:
    found = json.loads(json.dumps(GOOD))
    found["state"]["waits"][0].update(wait)
    return dict(found)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"site": "hpc"},
        {**GOOD, "at": "soon"},
        {**GOOD, "at": None},
        {**GOOD, "state": "good"},
        {**GOOD, "state": {"capacity": {}}},
        changed(seconds=-1.0),
        changed(seconds=1e300),
        changed(shape={"nodes": 0, "cores": 1, "memory": 0, "seconds": 1}),
        changed(shape={"nodes": 2, "cores": 1, "memory": 0, "seconds": 1}),
    ],
)
def test_a_report_that_makes_no_sense_is_refused(body: dict[str, Any]) -> None:
    with refused(ValueError):
        from_json(SiteReport, body)


@pytest.mark.parametrize("seconds", [-1.0, -1e-9, math.nan, math.inf, LONGEST_WAIT + 1])
def test_a_wait_that_cannot_be(seconds: float) -> None:
    with refused(ValueError, "seconds"):
        Wait(Shape(), seconds)


@pytest.mark.parametrize("at", [math.nan, math.inf])
def test_a_time_that_cannot_be(at: float) -> None:
    with refused(ValueError, "at"):
        SiteReport("hpc", at, None)
    with refused(ValueError, "at"):
        JobNews(1, at, None)


# --- a batch system as a site ------------------------------------------------------------------------------


class System:
    """A batch system with one number to say."""

    def __init__(self, wait: float | None) -> None:
        self.wait = wait
        self.jobs: dict[str, Job] = {}

    def queue_wait(self, cores: int, nodes: int, duration: float, memory: int = 0) -> float | None:
        return None if self.wait is None else self.wait + cores + nodes + duration + memory

    def capacity(self) -> Capacity:
        return Capacity(8, 4, 1, 1, 0)

    def submit(self, job: Job) -> str:
        self.jobs[str(len(self.jobs) + 1)] = job
        return str(len(self.jobs))

    def find(self, name: str) -> str | None:
        return next((known for known, job in self.jobs.items() if job.name == name), None)

    def status(self, job_id: str) -> JobStatus:
        return JobStatus(job_id, JobState.RUNNING)

    def cancel(self, job_id: str) -> None:
        del self.jobs[job_id]


def test_a_batch_system_as_a_site() -> None:
    system = System(0.0)
    site = BatchSite(system)
    asked = (Shape(1, 2, 3, 4.0), Shape(1, 1, 0, 1.0))
    assert site.state(asked) == SiteState(
        Capacity(8, 4, 1, 1, 0), (Wait(asked[0], 10.0), Wait(asked[1], 3.0))
    )
    job = Job("adon-j1-e1", "#!/bin/sh\n", 1, 1, 60.0)
    assert (site.find(job.name), site.submit(job), site.find(job.name)) == (None, "1", "1")
    assert site.follow("1").state is JobState.RUNNING
    site.cancel("1")
    assert system.jobs == {}


def test_a_job_that_would_never_start_says_so() -> None:
    (found,) = BatchSite(System(None)).state((Shape(),)).waits
    assert found.seconds is None
    assert "never start" in found.why


@pytest.mark.parametrize("wait", [-1e9, 1e300, math.nan])
def test_a_batch_system_that_says_nonsense_does_not_answer(wait: float) -> None:
    with refused("batch-failed"):
        BatchSite(System(wait)).state((Shape(),))


# --- configured numbers as a site --------------------------------------------------------------------------


def test_a_static_site_tells_its_numbers_and_takes_no_jobs() -> None:
    site = StaticSite(4, 64, 20.0)
    small, large = site.state((Shape(4, 4), Shape(5, 5))).waits
    assert (small.seconds, large.seconds) == (20.0, None)
    assert {"4", "5"} <= {*large.why.split()}
    assert site.state(()).capacity == Capacity(64, 64, 4, 0, 0, 4)
    assert site.find("a") is None
    for verb in (
        lambda: site.submit(Job("a", "#!", 1, 1, 1)),
        lambda: site.follow("1"),
        lambda: site.cancel("1"),
    ):
        with refused("batch-failed"):
            verb()


def test_a_static_site_without_a_resource_for_us() -> None:
    (found,) = StaticSite(4, 64, None).state((Shape(),)).waits
    assert found.seconds is None
    assert found.why
