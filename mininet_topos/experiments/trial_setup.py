"""What a trial needs on a testbed: fresh ADON with its rules installed and each path measured once, or none.

A testbed serves many trials, ADON one: its archive and alarms would change the next trial.
"""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from adon.api.measurements import MeasurementView
from adon.client import Client
from adon.errors import Conflict, InvalidInput, Unavailable
from adon.timestamps import format_time
from measurement.model import Metric
from mininet_topos.adon_configuration import (
    DEFAULT_PERIODS,
    MeasurementPeriods,
    configuration_text,
    fit_periods_to,
)
from mininet_topos.adon_server import LOG, URL, AdonServer, prepare_server
from mininet_topos.commands import wait_until
from mininet_topos.experiments.document import Controller, Experiment, LinkSetting
from mininet_topos.experiments.plan import Trial, circuit_of
from mininet_topos.experiments.policies import AdonPolicy, PathPolicy, PinnedPolicy
from mininet_topos.pinned_rules import PinnedFlow, pin_flow
from mininet_topos.testbed import LinkChange, Testbed
from mininet_topos.topologies.campus_topo import CampusTopo

CONNECT_TIMEOUT, MIN_FIRST_TESTS_TIMEOUT = 90.0, 180.0
LONGEST_TEST = 3.0
MAX_RESULTS = "10000"
RESULT_DELAY = 30.0
"""Seconds after its observation within which a result arrives."""
AROUND_ROUND_TRIPS = 1.0
"""Seconds kept free around light tests whose periods are too short for more, where no test fills a path."""
ROLES = ("researcher", "performance_engineer", "operator")
METRICS = {"throughput": Metric.THROUGHPUT, "rtt": Metric.RTT, "latency": Metric.LOSS}
"""Per test a metric that a measured path has."""
LOAD_COOKIE = 0x0E00_0000_0000_0000
_PART_DIED = re.compile(r"event=died (part=\S+ status=-?\d+)")


@dataclass
class TestLog:
    """Results of measurement points, each once, in the order of arrival.

    :param client: None where nothing is measured.
    """

    __test__ = False  # no test class of pytest

    client: Client | None
    since: float
    _found: dict[tuple[object, ...], MeasurementView] = field(default_factory=dict)

    @property
    def found(self) -> list[MeasurementView]:
        """The results."""
        return list(self._found.values())

    def read(self) -> None:
        """Read the results that arrived since the last call."""
        if self.client is None:
            return
        since = format_time(self.since - RESULT_DELAY)
        for one in reversed(self.client.measurements(since=since, limit=MAX_RESULTS)):
            self._found.setdefault((one.path, one.source, one.destination, one.metric, one.observed_at), one)
            self.since = max(self.since, one.observed_at)

    def tested_at(self, since: float, paths: Iterable[str]) -> float | None:
        """Return when each path had a throughput test that started after a time; None if one has not."""
        ends: dict[str, float] = {}
        for one in self.found:
            if one.metric == Metric.THROUGHPUT and one.started_at >= since:
                ends[one.path] = min(one.observed_at, ends.get(one.path, one.observed_at))
        wanted = set(paths)
        return max(ends[path] for path in wanted) if wanted and wanted <= ends.keys() else None

    def last_throughput(self, path: str) -> float:
        """Return the last result of a path in bits/s; infinite for a path without one."""
        values = [one.value for one in self.found if one.path == path and one.metric == Metric.THROUGHPUT]
        return float(values[-1] or 0.0) if values else float("inf")


@dataclass
class TrialSetup:
    """A testbed that is ready for a trial.

    :param server: None where the trial needs no ADON.
    """

    testbed: Testbed
    trial: Trial
    tests: TestLog
    policy: PathPolicy
    pinned: PinnedPolicy
    server: AdonServer | None = None
    _known_deaths: int = 0

    @property
    def is_down(self) -> bool:
        """Whether an event ended ADON."""
        return self.server is not None and self.server.process is None

    def check_health(self) -> None:
        """Look whether ADON, and each part of it, has run all the time.

        :raises Unavailable: naming what ended, with the end of its log.
        """
        if self.server is None or self.is_down:
            return
        self.server.require_running()
        deaths = _find_deaths(self.server)
        if len(deaths) > self._known_deaths:
            raise Unavailable(f"a part of adon serve ended by itself: {deaths[-1]}", code="not-running")

    def control(self, what: Controller) -> None:
        """Stop, start or kill ADON.

        :raises Unavailable: if it does not start.
        """
        assert self.server is not None  # noqa: S101 - a trial with such an event has one
        if what == "start":
            self.server.start()
            self.server.wait_ready()
            self.note_ready()
            return
        self.policy.read_decisions()
        self.server.stop() if what == "stop" else self.server.kill()

    def note_ready(self) -> None:
        """Overlook parts that ended until now: after a crash the first may find a port in use."""
        if self.server is not None:
            self._known_deaths = len(_find_deaths(self.server))


def _find_deaths(server: AdonServer) -> list[str]:
    """Return the parts of ADON that its log says have ended by themselves."""
    return _PART_DIED.findall((server.folder / LOG).read_text(errors="replace"))


def needs_adon(trial: Trial) -> bool:
    """Return whether ADON decides, measures, or is stopped and started."""
    decides = trial.policy == "ours" and any(flow.path is None for flow in trial.flows)
    measures = _asked_periods(trial.measuring).longest is not None
    return decides or measures or any(one.controller for one in trial.events)


@contextmanager
def prepare_trial(
    testbed: Testbed,
    points: Path | None,
    trial: Trial,
    experiment: Experiment,
    print_line: Callable[[str], object],
    folder: Path | None = None,
) -> Iterator[TrialSetup]:
    """Give links their attributes and start ADON, if the trial needs it; leave the testbed as it was.

    :param points: folder of the measurement points; None only if no trial needs ADON.
    :param folder: of an ADON that continues with its data and keeps it; None for a fresh one.
    :raises AdonError: if something does not start, is not measured in time, or cannot be restored.
    """
    topo = testbed.topo
    assert isinstance(topo, CampusTopo)  # noqa: S101 - experiments have no clouds
    own = testbed.folder / f"adon-{trial.number}"
    with _keep_network(testbed, topo):
        for name, setting in trial.links.items():
            testbed.change_link(circuit_of(topo, name), as_change(setting))
        if points is None or not needs_adon(trial):
            _pin_loads(testbed, topo, trial)
            yield make_setup(testbed, topo, trial, TestLog(None, 0.0))
            return
        began, periods = time.time(), plan_periods(topo, trial.measuring)
        extra = thaw(experiment.configuration)
        text = configuration_text(topo, points=points, periods=periods, extra=extra)
        with prepare_server(testbed, text, folder or own) as server:
            tests = TestLog(_start_adon(server, topo, trial, periods, print_line), began)
            tests.read()
            setup = make_setup(testbed, topo, trial, tests, server)
            setup.note_ready()
            yield setup
        shutil.rmtree(own, ignore_errors=True)


@contextmanager
def _keep_network(testbed: Testbed, topo: CampusTopo) -> Iterator[None]:
    """Restore rules and circuits at the end; after an exception the testbed is of no further use."""
    files = {campus.edge: testbed.folder / f"{campus.edge}.rules" for campus in topo.campuses.values()}
    for edge, file in files.items():
        file.write_text(testbed.switches.ofctl("--no-stats", "dump-flows", edge))
    yield
    testbed.restore_links()
    for edge, file in files.items():
        testbed.switches.ofctl("replace-flows", edge, str(file))


def make_setup(
    testbed: Testbed, topo: CampusTopo, trial: Trial, tests: TestLog, server: AdonServer | None = None
) -> TrialSetup:
    """Return a trial that is ready, with the policies that decide about its flows."""
    pinned = PinnedPolicy(testbed.switches.ofctl, topo, trial.policy, tests.last_throughput, time.time)
    setup = TrialSetup(testbed, trial, tests, pinned, pinned, server)
    if trial.policy == "ours" and server is not None and tests.client is not None:
        setup.policy = AdonPolicy(tests.client, time.time, lambda: server.is_running)
    return setup


def _start_adon(
    server: AdonServer,
    topo: CampusTopo,
    trial: Trial,
    periods: MeasurementPeriods,
    print_line: Callable[[str], object],
) -> Client:
    """Start ADON, and wait until its rules are installed and each path was measured once."""
    print_line("starting ADON")
    server.start()
    client = _add_experimenter(server.wait_ready())
    edges = {campus.edge for campus in topo.campuses.values()}

    def has_rules() -> bool:
        return edges <= {one.name for one in client.network().switches if one.connected and one.rules}

    # Tests before that take the campus's own way.
    _await(server, has_rules, CONNECT_TIMEOUT, "not every switch has its rules")
    for template in trial.templates:
        client.add_template(template.model_dump(mode="json", exclude={"version"}))
    wanted = {metric.value for test, metric in METRICS.items() if getattr(periods, test)}
    forward = {(path.name, path.campuses[0]) for path in topo.paths.values() if path.addresses}
    # A test that started before the switches had their rules has ended by then.
    since = time.time() + LONGEST_TEST

    def is_measured() -> bool:
        paths = [one.metrics for one in client.paths() if (one.path, one.source) in forward]
        recent = [{name for name, one in path.items() if one.observed_at >= since} for path in paths]
        return all(wanted <= names for names in recent)

    if wanted:
        print_line("measuring each path once")
        timeout = max(MIN_FIRST_TESTS_TIMEOUT, 2 * (periods.longest or 0.0) + 60)
        _await(server, is_measured, timeout, "not every path was measured")
    return client


def _await(server: AdonServer, condition: Callable[[], bool], timeout: float, problem: str) -> None:
    def holds() -> bool:
        server.require_running()
        return condition()

    if not wait_until(holds, timeout):
        raise Unavailable(f"{problem} within {timeout:g} s: {server.last_words}")


def as_change(setting: LinkSetting, *, up: bool | None = None) -> LinkChange:
    """Return what a document states of a circuit."""
    return LinkChange(up, setting.rate, setting.delay, setting.loss)


def plan_periods(topo: CampusTopo, measuring: Mapping[str, float | None]) -> MeasurementPeriods:
    """Return the periods of the document; of tests that it does not mention the shortest that fit.

    :raises InvalidInput: if there is no schedule.
    """
    asked = _asked_periods(measuring)
    if asked.longest is None:
        return asked
    try:
        return fit_periods_to(topo, asked, measuring)
    except InvalidInput:
        if asked.throughput is not None:
            raise
    return fit_periods_to(topo, replace(asked, around_others=AROUND_ROUND_TRIPS), measuring)


def _asked_periods(measuring: Mapping[str, float | None]) -> MeasurementPeriods:
    return replace(DEFAULT_PERIODS, **dict[str, Any](measuring))


def _pin_loads(testbed: Testbed, topo: CampusTopo, trial: Trial) -> None:
    """Without ADON no rule keeps what is sent between measured addresses on its path; loads need it."""
    loaded = {event.load.path for event in trial.events if event.load is not None}
    for path in (topo.paths[name] for name in topo.paths if name in loaded):
        one, other = (topo.campuses[campus].measuring for campus in path.campuses)
        addresses = (path.addresses[path.campuses[0]], path.addresses[path.campuses[1]])
        flow = PinnedFlow(one, other, addresses=addresses)
        pin_flow(testbed.switches.ofctl, topo, path.name, flow, LOAD_COOKIE)


def _add_experimenter(administrator: Client) -> Client:
    """Return the client of a user who may submit flows, add templates and close paths."""
    with suppress(Conflict):  # an ADON that continues knows the user
        administrator.add_user("experimenter", ROLES)
    made = administrator.add_token({"owner": "experimenter", "label": "experiment", "expires": "1 day"})
    return Client.at(URL, made.secret)


def thaw(value: Any) -> Any:
    """Return a frozen section as YAML has it."""
    return json.loads(json.dumps(value))
