"""What a trial needs on a testbed: fresh ADON with its rules installed and each path measured once, or none.

A testbed serves many trials, ADON one: its archive and alarms would change the next trial.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from adon.api.measurements import MeasurementView
from adon.client import Client
from adon.errors import Unavailable
from adon.timestamps import format_time
from measurement.model import Metric
from mininet_topos.adon_configuration import MeasurementPeriods, configuration_text, fit_periods_to
from mininet_topos.adon_server import LOG, AdonServer, prepare_server
from mininet_topos.commands import wait_until
from mininet_topos.experiments.document import Controller
from mininet_topos.experiments.plan import Trial, circuit_of, measured_ends
from mininet_topos.experiments.policies import AdonPolicy, PathPolicy, PinnedPolicy
from mininet_topos.pinned_rules import PinnedFlow, pin_flow
from mininet_topos.testbed import LinkChange, Testbed
from mininet_topos.topologies.campus_topo import CampusTopo

CONNECT_TIMEOUT, MIN_FIRST_TESTS_TIMEOUT = 90.0, 180.0
LONGEST_TEST = 3.0
MAX_RESULTS = "10000"
METRICS = {"throughput": Metric.THROUGHPUT, "rtt": Metric.RTT, "latency": Metric.LOSS}
"""Per test a metric that a measured path has."""
LOAD_COOKIE = 0x0E00_0000_0000_0000
PrintLine = Callable[[str], object]
"""Is given what happens, one line each."""
_PART_DIED = re.compile(r"event=died (part=\S+ status=-?\d+)")


@dataclass
class TestLog:
    """Results of measurement points since a time, in the order of their observation.

    :param client: None where nothing is measured.
    """

    __test__ = False  # no test class of pytest

    client: Client | None
    since: float
    found: Sequence[MeasurementView] = ()

    def read(self) -> None:
        """Read the results that arrived until now."""
        if self.client is not None:
            self.found = self.client.measurements(since=format_time(self.since), limit=MAX_RESULTS)[::-1]

    def tested_at(self, since: float, paths: Iterable[str]) -> float | None:
        """Return when each path had a throughput test that started after a time; None if one has not."""
        ends: dict[str, float] = {}
        for one in self.found:
            if one.metric == Metric.THROUGHPUT and one.started_at >= since:
                ends.setdefault(one.path, one.observed_at)
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
    :ivar policy: decides about flows without a path of their own.
    :ivar pinned: carries the flows with a path.
    """

    testbed: Testbed
    topo: CampusTopo
    trial: Trial
    tests: TestLog
    server: AdonServer | None = None

    def __post_init__(self) -> None:
        ofctl, policy, server = self.testbed.switches.ofctl, self.trial.policy, self.server
        self.pinned = PinnedPolicy(ofctl, self.topo, policy, self.tests.last_throughput)
        self.policy: PathPolicy = self.pinned
        if policy == "ours" and server is not None and self.tests.client is not None:
            self.policy = AdonPolicy(self.tests.client, lambda: server.is_running)
        self._ready_log = len(self._read_log())  # a part that ended before may have found a port in use

    @property
    def policies(self) -> list[PathPolicy]:
        """The two policies, or the one that is both."""
        return list(dict.fromkeys((self.policy, self.pinned)))

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
        if died := _PART_DIED.search(self._read_log(), self._ready_log):
            raise Unavailable(f"a part of adon serve ended by itself: {died[1]}", code="not-running")

    def control(self, what: Controller) -> None:
        """Stop, start or kill ADON.

        :raises Unavailable: if it does not start.
        """
        assert self.server is not None  # noqa: S101 - a trial with such an event has one
        if what == "start":
            self.server.start()
            self.server.wait_ready()
            self._ready_log = len(self._read_log())
            return
        self.policy.read_decisions()
        self.server.stop() if what == "stop" else self.server.kill()

    def _read_log(self) -> str:
        return "" if self.server is None else (self.server.folder / LOG).read_text(errors="replace")


def needs_adon(trial: Trial) -> bool:
    """Return whether ADON decides, measures, or is stopped and started."""
    is_measured = any(trial.measuring.get(test, True) for test in METRICS)
    return trial.policy == "ours" or is_measured or any(one.controller for one in trial.events)


@contextmanager
def prepare_trial(
    testbed: Testbed, points: Path | None, trial: Trial, print_line: PrintLine, folder: Path | None = None
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
            change = LinkChange(None, setting.rate, setting.delay, setting.loss)
            testbed.change_link(circuit_of(topo, name), change)
        if points is None or not needs_adon(trial):
            _pin_loads(testbed, topo, trial)
            yield TrialSetup(testbed, topo, trial, TestLog(None, 0.0))
            return
        began, periods = time.time(), fit_periods_to(topo, trial.measuring)
        text = configuration_text(topo, points=points, periods=periods, extra=trial.configuration)
        with prepare_server(testbed, text, folder or own) as server:
            tests = TestLog(_start_adon(server, topo, trial, periods, print_line), began)
            tests.read()
            yield TrialSetup(testbed, topo, trial, tests, server)
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


def _start_adon(
    server: AdonServer, topo: CampusTopo, trial: Trial, periods: MeasurementPeriods, print_line: PrintLine
) -> Client:
    """Start ADON, and wait until its rules are installed and each path was measured once."""
    print_line("starting ADON")
    server.start()
    client = server.wait_ready()
    edges = {campus.edge for campus in topo.campuses.values()}

    def has_rules() -> bool:
        return edges <= {one.name for one in client.network().switches if one.connected and one.rules}

    # Tests before that take the campus's own way.
    _await(server, has_rules, CONNECT_TIMEOUT, "not every switch has its rules")
    for template in trial.templates:
        client.add_template(template.model_dump(mode="json", exclude={"version"}))
    wanted = {metric.value for test, metric in METRICS.items() if getattr(periods, test)}
    forward = {(path.name, path.campuses[0]) for path in topo.paths.values()}
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


def _pin_loads(testbed: Testbed, topo: CampusTopo, trial: Trial) -> None:
    """Without ADON no rule keeps what is sent between measured addresses on its path; loads need it."""
    loaded = {event.load.path for event in trial.events if event.load is not None}
    for path in loaded:
        (one, near), (other, far) = measured_ends(topo, path)
        flow = PinnedFlow(one, other, addresses=(near, far))
        pin_flow(testbed.switches.ofctl, topo, path, flow, LOAD_COOKIE)
