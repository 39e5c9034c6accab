"""What a trial needs on a testbed: fresh ADON with its rules installed and each path measured once, or none.

A testbed serves many trials, ADON one: its archive and alarms would change the next trial.
"""

from __future__ import annotations

import itertools
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
    AROUND_OTHERS,
    DEFAULT_PERIODS,
    MeasurementPeriods,
    configuration_text,
    find_obstacle,
    fit_periods_to,
)
from mininet_topos.adon_server import LOG, URL, AdonServer, prepare_server
from mininet_topos.commands import wait_until
from mininet_topos.experiments.document import Controller, Experiment, LinkSetting, Measuring
from mininet_topos.experiments.plan import PlannedFlow, Trial, narrowest_circuit, paths_between
from mininet_topos.experiments.policies import AdonPolicy, Choice, PathPolicy, PinnedPolicy
from mininet_topos.measurement_points import Points
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
ROUNDS = (20.0, 40.0, 80.0, 160.0, 320.0, 640.0, 1280.0, 2560.0, 3600.0)
"""Periods of tests that a document with other periods does not mention; the first that fits."""
ROLES = ("researcher", "performance_engineer", "operator")
PERIODS: Mapping[str, frozenset[str]] = {
    "throughput": frozenset({Metric.THROUGHPUT.value}),
    "rtt": frozenset({Metric.RTT.value}),
    "latency": frozenset({Metric.LOSS.value}),
}
"""Per test the metrics that a measured path has."""
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
    found: list[MeasurementView] = field(default_factory=list)
    _known: set[tuple[object, ...]] = field(default_factory=set)

    def read(self) -> None:
        """Read the results that arrived since the last call."""
        if self.client is None:
            return
        since = format_time(self.since - RESULT_DELAY)
        for one in reversed(self.client.measurements(since=since, limit=MAX_RESULTS)):
            key = (one.path, one.source, one.destination, one.metric, one.observed_at)
            if key not in self._known:
                self._known.add(key)
                self.found.append(one)
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
        if what is Controller.START:
            self.server.start()
            self.server.wait_ready()
            self.note_ready()
            return
        self.policy.read_decisions()
        self.server.stop() if what is Controller.STOP else self.server.kill()

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
    return decides or bool(_measured(trial.measuring)) or any(one.controller for one in trial.events)


@contextmanager
def prepare_trial(
    testbed: Testbed,
    points: Points | None,
    trial: Trial,
    experiment: Experiment,
    print_line: Callable[[str], object],
    folder: Path | None = None,
) -> Iterator[TrialSetup]:
    """Give links their attributes and start ADON, if the trial needs it; leave the testbed as it was.

    :param points: None only if no trial needs ADON.
    :param folder: of an ADON that continues with its data and keeps it; None for a fresh one.
    :raises AdonError: if something does not start, is not measured in time, or cannot be restored.
    """
    topo = testbed.topo
    assert isinstance(topo, CampusTopo)  # noqa: S101 - experiments have no clouds
    rules = _read_rules(testbed, topo)
    for name, setting in trial.links.items():
        testbed.change_link(circuit_of(topo, name), as_change(setting))
    if points is None or not needs_adon(trial):
        _pin_loads(testbed, topo, trial)
        yield make_setup(testbed, topo, trial, TestLog(None, 0.0))
    else:
        own = testbed.folder / f"adon-{trial.number}"
        periods = plan_periods(topo, trial.measuring)
        extra = thaw(experiment.configuration)
        text = configuration_text(
            topo, contacts=points.contacts, token=points.token, periods=periods, extra=extra
        )
        began = time.time()
        with prepare_server(testbed, text, folder or own) as server:
            tests = TestLog(_start_adon(server, topo, trial, periods, print_line), began)
            tests.read()
            setup = make_setup(testbed, topo, trial, tests, server)
            setup.note_ready()
            yield setup
        shutil.rmtree(own, ignore_errors=True)
    testbed.restore_links()
    for switch, file in rules.items():
        testbed.switches.ofctl("replace-flows", switch, str(file))


def make_setup(
    testbed: Testbed, topo: CampusTopo, trial: Trial, tests: TestLog, server: AdonServer | None = None
) -> TrialSetup:
    """Return a trial that is ready, with the policies that decide about its flows."""
    pinned = make_pinned_policy(testbed, topo, trial, tests)
    if trial.policy != "ours" or server is None or tests.client is None:
        return TrialSetup(testbed, trial, tests, pinned, pinned, server)

    def size_of(flow: PlannedFlow) -> int:
        return requested_size(flow, topo, trial.limit)

    policy = AdonPolicy(tests.client, size_of, time.time, lambda: server.is_running)
    return TrialSetup(testbed, trial, tests, policy, pinned, server)


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
    wanted = {metric for test in PERIODS if getattr(periods, test) for metric in PERIODS[test]}
    forward = {(path.name, path.campuses[0]) for path in topo.paths.values() if path.addresses}
    # A test that started before the switches had their rules has ended by then.
    since = time.time() + LONGEST_TEST

    def is_measured() -> bool:
        found = [one.metrics for one in client.paths() if (one.path, one.source) in forward]
        return all(
            wanted <= {name for name, one in metrics.items() if one.observed_at >= since} for metrics in found
        )

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


def _read_rules(testbed: Testbed, topo: CampusTopo) -> dict[str, Path]:
    """Write the rules of each edge to a file and return the files."""
    files = {campus.edge: testbed.folder / f"{campus.edge}.rules" for campus in topo.campuses.values()}
    for switch, file in files.items():
        file.write_text(testbed.switches.ofctl("--no-stats", "dump-flows", switch))
    return files


def circuit_of(topo: CampusTopo, name: str) -> str:
    """Return the circuit of this name, or the narrowest of the path of this name."""
    return narrowest_circuit(topo, name) if name in topo.paths else name


def as_change(setting: LinkSetting, *, up: bool | None = None) -> LinkChange:
    """Return what a document states of a circuit."""
    return LinkChange(up, setting.rate, setting.delay, setting.loss)


def requested_size(flow: PlannedFlow, topo: CampusTopo, limit: float) -> int:
    """Return the bytes to request: of a flow that lasts a time, what it can send in it at most."""
    if flow.size is not None:
        return flow.size
    goodputs = [path.goodput for path in paths_between(topo, flow.source, flow.destination).values()]
    rate = flow.rate or max(goodputs, default=1e6)
    return max(1, round(rate / 8 * (limit if flow.lasts is None else flow.lasts)))


def plan_periods(topo: CampusTopo, measuring: Measuring) -> MeasurementPeriods:
    """Return the periods of the document; of tests that it does not mention the shortest that fit.

    :raises InvalidInput: if there is no schedule.
    """
    given: dict[str, Any] = measuring.given
    asked = replace(DEFAULT_PERIODS, **given)
    if not any(given.values()):
        return fit_periods_to(topo, asked) if _measured(measuring) else asked
    rest = [test for test in PERIODS if test not in given]
    arounds = (AROUND_OTHERS, AROUND_ROUND_TRIPS) if asked.throughput is None else (AROUND_OTHERS,)
    causes: set[str] = set()
    for every, around in itertools.product(ROUNDS if rest else ROUNDS[:1], arounds):
        periods = replace(asked, around_others=around, **dict[str, Any](dict.fromkeys(rest, every)))
        obstacle = find_obstacle(topo, periods)
        if obstacle is None:
            return periods
        causes = {problem.cause for problem in obstacle.problems}
    raise InvalidInput.of("measuring", f"does not fit: {'; '.join(sorted(causes))}")


def _measured(measuring: Measuring) -> frozenset[str]:
    """The tests that run."""
    return frozenset(test for test in PERIODS if measuring.given.get(test, 1.0) is not None)


def make_pinned_policy(testbed: Testbed, topo: CampusTopo, trial: Trial, tests: TestLog) -> PinnedPolicy:
    """Return the policy of flows about which ADON does not decide: pinned, ``always``, ``best test``."""
    always = trial.policy.removeprefix("always ")

    def choose(flow: PlannedFlow) -> Choice:
        if flow.path is not None:
            return Choice(flow.path)
        paths = list(paths_between(topo, flow.source, flow.destination))
        if trial.policy == "best test":
            return Choice(max(paths, key=tests.last_throughput), "its last throughput test is the best")
        return Choice(always if always in paths else paths[0], trial.policy)

    return PinnedPolicy(testbed.switches.ofctl, topo, choose, time.time)


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
