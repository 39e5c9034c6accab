"""Compute sites at work in the collector: polled, jobs handed over once and followed, whatever goes wrong."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from adon.config.compute import Adapter, SlurmAdapter
from apps.collector import adapters, sites
from apps.collector.desk import ATTEMPTS, Desk
from apps.collector.sites import Desks
from measurement.custom.batch.htcondor import HTCondor
from measurement.custom.batch.model import Capacity, Job, JobState, JobStatus
from measurement.custom.batch.slurm import Slurm
from measurement.custom.errors import BatchFailed
from measurement.model import from_json, to_json
from measurement.sites import codec
from measurement.sites.batch import BatchSite
from measurement.sites.model import JobNews, JobOrder, Shape, SiteReport, SiteState, Wait
from measurement.sites.static import StaticSite
from tests.apps.collecting import Clock, Told
from tests.apps.edge import eventually
from tests.broker.sites.values import SLURM, compute_site
from tests.measurement.custom.conftest import Install, install

__all__ = ["install"]
NOW = 1_760_000_000.0
CAPACITY = Capacity(8, 4, 2, 1, 0)


class Site:
    """A working stand-in for a compute site, that fails when it is told to.

    :ivar breaks: verbs that fail now; ``loses`` those that are done and then fail (the answer is lost).
    """

    def __init__(self) -> None:
        self.wait = 0.0
        self.jobs: dict[str, tuple[Job, JobStatus]] = {}
        self.breaks: set[str] = set()
        self.loses: set[str] = set()
        self.asked: list[tuple[Shape, ...]] = []
        self.cancelled: list[str] = []

    def _may(self, verb: str) -> None:
        if verb in self.breaks:
            raise BatchFailed(f"{verb} failed", "detail for our log only")

    def state(self, shapes: Sequence[Shape]) -> SiteState:
        self._may("state")
        self.asked.append(tuple(shapes))
        return SiteState(CAPACITY, tuple(Wait(shape, self.wait) for shape in shapes))

    def submit(self, job: Job) -> str:
        self._may("submit")
        number = str(len(self.jobs) + 1)
        self.jobs[number] = (job, JobStatus(number, JobState.PENDING, NOW))
        if "submit" in self.loses:
            raise BatchFailed("submit did not end within 10 s")
        return number

    def find(self, name: str) -> str | None:
        self._may("find")
        return next((number for number, (job, _) in self.jobs.items() if job.name == name), None)

    def follow(self, job_id: str) -> JobStatus:
        self._may("follow")
        return self.jobs[job_id][1]

    def cancel(self, job_id: str) -> None:
        self._may("cancel")
        self.cancelled.append(job_id)
        if not self.jobs[job_id][1].state.over:
            self.now_is(job_id, JobState.CANCELED, ended=NOW)

    def now_is(self, job_id: str, state: JobState, **changes: Any) -> None:
        job, status = self.jobs[job_id]
        self.jobs[job_id] = (job, replace(status, state=state, **changes))


class Bench:
    """A desk whose turns the test takes itself."""

    def __init__(
        self, site: Site | None = None, build: Callable[[], Any] | None = None, *, live: bool = False
    ) -> None:
        self.timer = Clock()
        timer = () if live else (self.timer,)
        self.site = Site() if site is None else site
        self.told = Told()
        self.leads = True
        self.desk = Desk(
            "osu-hpc",
            adapter(),
            build if build is not None else lambda: self.site,
            self.told,
            lambda: self.leads,
            lambda: NOW,
            *timer,
        )

    def turn(self, times: int = 1) -> None:
        """Whatever is due by the clock is due now."""
        for _ in range(times):
            self.timer.now += 1000.0
            self.desk.hear(0.0)
            self.desk.turn()

    def order(self, number: int = 1, *, again: bool = False, **changes: Any) -> JobOrder:
        order = replace(JobOrder(number, "e1", "osu-hpc", "align", ("chr1",)), **changes)
        self.desk.take(order, again=again)
        return order

    @property
    def reports(self) -> list[SiteReport]:
        return [from_json(SiteReport, body) for kind, body in self.told.sent if kind == "site"]

    @property
    def news(self) -> list[JobNews]:
        return [from_json(JobNews, body) for kind, body in self.told.sent if kind == "job"]


def adapter(**changes: Any) -> Adapter:
    found = compute_site({**SLURM, **changes}).adapter
    assert found is not None
    return found


@pytest.fixture
def bench() -> Bench:
    return Bench()


# -- polling -------------------------------------------------------------------------------------------


def test_a_site_is_asked_for_the_sizes_that_are_wanted_at_its_own_time_limit(bench: Bench) -> None:
    bench.turn()
    assert bench.site.asked == [(Shape(1, 1, 0, 3600.0),)]
    bench.desk.ask_for((Shape(2, 4, 10, 60.0), Shape(1, 1)))
    bench.turn()
    assert bench.site.asked[-1] == (Shape(2, 4, 10, 3600.0), Shape(1, 1, 0, 3600.0))
    bench.desk.ask_for(())  # nothing wanted: what was wanted goes on
    bench.turn()
    assert len(bench.site.asked[-1]) == 2
    assert bench.reports[-1].state == SiteState(
        CAPACITY, (Wait(bench.site.asked[-1][0], 0.0), Wait(bench.site.asked[-1][1], 0.0))
    )


def test_a_site_that_fails_is_told_without_its_own_words(bench: Bench) -> None:
    bench.site.breaks = {"state"}
    bench.turn()
    assert (bench.reports[-1].state, bench.reports[-1].error) == (None, "state failed")
    bench.site.breaks = set()
    bench.turn()
    assert bench.reports[-1].state is not None


def test_who_does_not_measure_asks_nobody(bench: Bench) -> None:
    bench.leads = False
    bench.order()
    bench.turn(3)
    assert (bench.site.asked, bench.told.sent) == ([], [])
    bench.leads = True
    bench.turn()
    assert len(bench.site.jobs) == 1


def test_an_adapter_that_cannot_be_made_is_tried_again() -> None:
    working: list[Site] = []

    def build() -> Site:
        if not working:
            raise BatchFailed("absent")
        return working[0]

    bench = Bench(build=build)
    bench.turn()
    assert bench.reports[-1].error == "absent"
    working.append(bench.site)
    bench.turn()
    assert bench.reports[-1].state is not None


def test_a_controller_that_comes_again_is_told_again(bench: Bench) -> None:
    bench.turn()
    bench.told.sent.clear()
    bench.desk.begin_anew()
    bench.desk.hear(0.0)
    assert len(bench.reports) == 1


NODES = '{"nodes": [{"name": "a", "state": "idle", "alloc_cpus": 0, "idle_cpus": 4, "real_memory": 1,'
NODES += ' "alloc_memory": 0, "partitions": ["debug"]}]}'


@pytest.mark.parametrize(
    ("sinfo", "sbatch", "error"),
    [
        ("echo '<html>'", "true", "sinfo "),
        ("true", "true", "sinfo "),
        ("echo '[[[['", "true", "sinfo "),
        ("echo '{}'", "true", "sinfo "),
        ("echo 'password=hunter2' >&2; exit 3", "true", "sinfo "),
        ("kill -9 $$", "true", "sinfo "),
        ("yes", "true", "sinfo "),
        ("sleep 1000", "true", "sinfo "),
        (f"echo '{NODES}'", "echo 'Job 1 to start at noon' >&2", "sbatch "),
        (f"echo '{NODES}'", "echo 'Job 1 to start at 99999999999 using' >&2", "T_q "),
        (f"echo '{NODES}'", "echo 'Job 1 to start at 1 using' >&2", ""),  # in the past: at once
    ],
)
def test_what_commands_may_do(install: Install, sinfo: str, sbatch: str, error: str) -> None:
    for tool, body in (("sinfo", sinfo), ("squeue", "true"), ("sbatch", sbatch)):
        install(tool, body)
    site = compute_site({**SLURM, "timeout": "1 s" if "sleep" in sinfo else "20 s"})
    assert site.adapter is not None
    bench = Bench(build=lambda: adapters.build(site, site.adapter))  # type: ignore[arg-type]
    bench.turn()
    (report,) = bench.reports
    assert report.error.startswith(error)
    assert "hunter2" not in str(bench.told.sent)
    assert (report.state is None) is bool(error)
    if report.state is not None:
        assert [wait.seconds for wait in report.state.waits] == [0.0]


# -- jobs ----------------------------------------------------------------------------------------------


def test_a_job_is_handed_over_followed_and_let_go(bench: Bench) -> None:
    bench.site.wait = 90.0
    order = bench.order(size=10)
    bench.turn()
    job, _ = bench.site.jobs["1"]
    assert (job.name, job.nodes, job.cores, job.memory, job.duration) == (
        order.name,
        2,
        8,
        16 * 10**9,
        7200.0,
    )
    assert job.script == "#!/bin/sh\nexec /opt/soykb/align --data - chr1\n"
    bench.site.now_is("1", JobState.RUNNING, started=NOW + 30)
    bench.turn(2)
    bench.site.now_is("1", JobState.SUCCEEDED, ended=NOW + 60, exit_status=0)
    bench.turn(2)
    assert [(one.status.state, one.predicted) for one in bench.news if one.status] == [
        (JobState.PENDING, 90.0),
        (JobState.RUNNING, 90.0),
        (JobState.SUCCEEDED, 90.0),
    ]
    assert bench.site.cancelled == ["1"]  # what it still held there is let go


def test_an_answer_that_was_lost_does_not_make_it_run_twice(bench: Bench) -> None:
    bench.site.loses = {"submit"}
    bench.order()
    bench.turn()
    assert len(bench.site.jobs) == 1
    bench.turn(3)
    assert len(bench.site.jobs) == 1
    assert bench.news[-1].status is not None
    assert bench.news[-1].status.id == "1"


@pytest.mark.parametrize("site_job", [None, "1"])
def test_an_order_that_is_told_again_is_not_carried_out_again(site_job: str | None) -> None:
    bench = Bench()
    order = bench.order()
    bench.turn()
    anew = Bench(bench.site)  # the collector began anew
    anew.desk.take(replace(order, site_job=site_job), again=True)
    anew.turn(2)
    assert len(bench.site.jobs) == 1
    assert anew.news[-1].status is not None


def test_one_that_never_arrived_is_handed_over_after_all() -> None:
    bench = Bench()
    bench.order(again=True)
    bench.turn()
    assert len(bench.site.jobs) == 1


def test_a_site_that_answers_and_refuses_is_believed_in_the_end(bench: Bench) -> None:
    bench.site.breaks = {"submit"}
    bench.order()
    bench.turn(ATTEMPTS)
    assert (bench.news[-1].refused, bench.news[-1].error.endswith("submit failed")) == (True, True)
    bench.turn(3)
    assert bench.news[-1].refused
    assert sum(one.refused for one in bench.news) == 1


def test_a_site_that_is_away_refuses_nothing(bench: Bench) -> None:
    bench.site.breaks = {"state", "submit"}
    bench.order()
    bench.turn(3 * ATTEMPTS)
    assert not any(one.refused for one in bench.news)
    bench.site.breaks = set()
    bench.turn()
    assert len(bench.site.jobs) == 1


def test_one_that_cannot_be_followed_now_is_followed_later(bench: Bench) -> None:
    bench.order()
    bench.turn()
    bench.site.breaks = {"follow"}
    bench.turn(3)
    assert [one.error for one in bench.news] == ["", "follow failed"]
    bench.site.breaks = set()
    bench.turn()
    assert bench.news[-1].status is not None


@pytest.mark.parametrize("state", [JobState.PENDING, JobState.RUNNING])
def test_a_job_is_ended_on_request(bench: Bench, state: JobState) -> None:
    order = bench.order()
    bench.turn()
    bench.site.now_is("1", state)
    bench.desk.take(replace(order, cancel=True), again=False)
    bench.turn()
    assert bench.site.cancelled[0] == "1"
    assert bench.news[-1].status is not None
    assert bench.news[-1].status.state is JobState.CANCELED


def test_one_that_was_not_handed_over_yet_never_is(bench: Bench) -> None:
    bench.order(cancel=True)
    bench.turn()
    assert (bench.site.jobs, bench.news[-1].refused) == ({}, True)


def test_a_program_that_is_not_configured_is_refused(bench: Bench) -> None:
    bench.order(program="other")
    bench.order(2, arguments=("a", "b"))
    bench.order(3, arguments=("$(id)",))
    bench.turn()
    assert bench.site.jobs == {}
    assert [one.refused for one in bench.news] == [True, True, True]


def test_a_controller_that_had_not_heard_the_end_hears_it(bench: Bench) -> None:
    order = bench.order()
    bench.turn()
    bench.site.now_is("1", JobState.SUCCEEDED, ended=NOW + 60)
    bench.turn()
    bench.told.sent.clear()
    bench.desk.begin_anew()
    bench.desk.take(replace(order, site_job="1"), again=True)
    bench.turn()
    assert [one.status.state for one in bench.news if one.status] == [JobState.SUCCEEDED]
    bench.desk.begin_anew()  # now it knows: the job is not named again, and forgotten
    bench.desk.begin_anew()
    bench.turn()
    assert len(bench.news) == 1


# -- the thread ----------------------------------------------------------------------------------------


@pytest.fixture
def running() -> Iterator[Bench]:
    bench = Bench(live=True)
    bench.desk.start()
    yield bench
    bench.desk.stop()


def test_a_desk_works_by_itself(running: Bench) -> None:
    eventually(lambda: running.reports)
    running.order()
    eventually(lambda: running.news)
    assert running.site.jobs["1"][0].name == "adon-j1-e1"


def test_a_bug_in_one_turn_does_not_end_it(running: Bench, caplog: pytest.LogCaptureFixture) -> None:
    eventually(lambda: running.reports)
    running.site.jobs["1"] = None  # type: ignore[assignment]
    running.order(site_job="1")
    eventually(lambda: "event=fault site=osu-hpc" in caplog.text)
    running.desk.begin_anew()
    eventually(lambda: len(running.reports) > 1)


def test_a_site_that_hangs_holds_up_nobody_who_stops() -> None:
    hanging, entered, returned = threading.Event(), threading.Event(), threading.Event()

    class Hangs(Site):
        def state(self, shapes: Sequence[Shape]) -> SiteState:
            entered.set()
            hanging.wait(120)
            returned.set()
            raise BatchFailed("late")

    bench = Bench(Hangs(), live=True)
    bench.desk.start()
    assert entered.wait(60)
    bench.desk.stop(0.1)
    assert not returned.is_set(), "the stop waited for the site"
    hanging.set()


# -- what the controller says --------------------------------------------------------------------------


def test_orders_find_their_site_and_one_without_is_refused(bench: Bench) -> None:
    desks = Desks({"osu-hpc": bench.desk}, bench.told, lambda: NOW)
    desks.shapes(codec.shapes_to_json([Shape(3, 3)]))
    here, gone = JobOrder(1, "e1", "osu-hpc", "align"), JobOrder(2, "e2", "gone", "align")
    for message in codec.orders_to_json([here, gone]):
        desks.orders(message)
    desks.order(to_json(JobOrder(3, "e3", "osu-hpc", "align")))
    bench.turn()
    assert bench.site.asked[0] == (Shape(3, 3),)
    assert len(bench.site.jobs) == 2
    refused = next(one for one in bench.news if one.refused)
    assert (refused.number, "gone" in refused.error) == (2, True)


@pytest.mark.parametrize(
    "payload", [{}, {"items": 3}, {"items": [3]}, {"items": [{}], "first": True}, {"number": "x"}]
)
def test_messages_that_make_no_sense_change_nothing(bench: Bench, payload: dict[str, Any]) -> None:
    desks = Desks({"osu-hpc": bench.desk}, bench.told, lambda: NOW)
    for listen in (desks.orders, desks.order, desks.shapes):
        listen(payload)
    bench.turn()
    assert (bench.site.jobs, bench.news) == ({}, [])


# -- adapters from the configuration -------------------------------------------------------------------


def test_each_kind_gets_its_adapter() -> None:
    slurm = adapters.build(compute_site(), adapter(partition="gpu", slurm_conf="/etc/s.conf"))
    assert isinstance(slurm, BatchSite)
    assert isinstance(slurm.system, Slurm)
    assert (slurm.system.partition, slurm.system.commands.limits.seconds) == ("gpu", 10.0)
    assert dict(slurm.system.commands.fixed) == {"SLURM_TIME_FORMAT": "%s", "SLURM_CONF": "/etc/s.conf"}
    site = compute_site({"kind": "htcondor", "through": ["ssh", "pool"]})
    assert site.adapter is not None
    condor = adapters.build(site, site.adapter)
    assert isinstance(condor, BatchSite)
    assert isinstance(condor.system, HTCondor)
    assert condor.system.commands.through == ("ssh", "pool")
    site = compute_site({"kind": "static"}, queue_wait=None)
    assert site.adapter is not None
    assert adapters.build(site, site.adapter) == StaticSite(16, 0, None)


def test_t_q_of_a_far_site_is_counted_from_its_own_clock(install: Install) -> None:
    install("enter", 'shift; exec "$@"')
    install("date", "echo 1000")
    install("sbatch", "echo 'sbatch: Job 1 to start at 1600 using' >&2")
    site = compute_site({**SLURM, "through": ["enter", "login"]})
    assert isinstance(site.adapter, SlurmAdapter)
    far = adapters.build(site, site.adapter)
    assert isinstance(far, BatchSite)
    assert far.system.queue_wait(1, 1, 60) == 600.0
    install("date", "echo today")
    with pytest.raises(BatchFailed):
        far.system.queue_wait(1, 1, 60)


def test_facts_stand_in_their_words_and_every_word_is_quoted() -> None:
    programs = compute_site(
        {
            "kind": "slurm",
            "jobs": {"odd": {"run": ["/opt/a b", "{job}/{flow}", "n={bytes}", "$HOME", "it's"]}},
        }
    ).adapter
    assert programs is not None
    job = adapters.job(JobOrder(3, "e1", "osu-hpc", "odd", (), "f-17", 25), programs.jobs)
    assert job.script == "#!/bin/sh\nexec '/opt/a b' j-3/f-17 n=25 '$HOME' 'it'\"'\"'s'\n"


def test_the_module_says_what_it_sends() -> None:
    assert sites.ASKED == "sites.asked"
