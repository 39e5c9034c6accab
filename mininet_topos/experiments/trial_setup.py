"""What a trial needs on a testbed: fresh ADON with its rules installed and each path measured once, or none.

A testbed serves many trials, ADON one: its archive and alarms would change the next trial.
"""

from __future__ import annotations

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
from adon.errors import AdonError, Conflict, InvalidInput, Unavailable
from adon.timestamps import format_time
from measurement.model import Metric
from mininet_topos.adon_configuration import (
    DEFAULT_PERIODS,
    LONGEST_ROUND,
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
ROLES = ("researcher", "performance_engineer", "operator")
PERIODS: Mapping[str, frozenset[str]] = {
    "throughput": frozenset({Metric.THROUGHPUT.value}),
    "rtt": frozenset({Metric.RTT.value}),
    "latency": frozenset({Metric.LOSS.value}),
}
"""Per test the metrics that a measured path has."""
ADON_COOKIES, PINNED_COOKIES = (f"cookie={top:#x}/0xff00000000000000" for top in (0xAD << 56, 0x0E << 56))
LOAD_COOKIE = 0x0E00_0000_0000_0000
_COUNTERS = re.compile(r"(duration|n_packets|n_bytes|idle_age|hard_age)=[^ ,]*,? ?")
_PART_DIED = re.compile(rb"event=died (part=\S+ status=-?\d+)")


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
        ends = [
            min(
                (
                    one.observed_at
                    for one in self.found
                    if one.metric == Metric.THROUGHPUT and one.path == path and one.started_at >= since
                ),
                default=None,
            )
            for path in paths
        ]
        known = [end for end in ends if end is not None]
        return max(known, default=None) if len(known) == len(ends) else None

    def last_throughput(self, path: str) -> float:
        """Return the last result of a path in bits/s; infinite for a path without one."""
        values = [one.value for one in self.found if one.path == path and one.metric == Metric.THROUGHPUT]
        return float(values[-1] or 0.0) if values else float("inf")


@dataclass
class TrialSetup:
    """A testbed that is ready for a trial.

    :param server: None where the trial needs no ADON.
    :param is_down: whether ADON was ended by an event.
    """

    testbed: Testbed
    trial: Trial
    tests: TestLog
    policy: PathPolicy
    pinned: PinnedPolicy
    server: AdonServer | None = None
    is_down: bool = False
    _read: int = 0

    def check_health(self) -> None:
        """Look whether ADON, and each part of it, has run all the time.

        :raises Unavailable: naming what ended, with the end of its log.
        """
        if self.server is None or self.is_down:
            return
        self.server.require_running()
        with (self.server.folder / LOG).open("rb") as log:
            log.seek(self._read)
            new = log.read()
        if (died := _PART_DIED.search(new)) is not None:
            part = died[1].decode(errors="replace")
            raise Unavailable(f"a part of adon serve ended by itself: {part}", code="not-running")
        self._read += new.rfind(b"\n") + 1

    def control(self, what: Controller) -> None:
        """Stop, start or kill ADON.

        :raises InvalidInput: if the trial runs without it.
        :raises Unavailable: if it does not start.
        """
        if self.server is None:
            raise InvalidInput.of("controller", "ADON does not run in this trial")
        ours = self.policy if isinstance(self.policy, AdonPolicy) else None
        if what is not Controller.START:
            if ours is not None:
                ours.disconnect()
            self.is_down = True
            self.server.stop() if what is Controller.STOP else self.server.kill()
            return
        self.server.start()
        self.server.wait_ready()
        self.note_ready()
        self.is_down = False
        if ours is not None:
            ours.connect()

    def note_ready(self) -> None:
        """Overlook parts that ended until now: after a crash the first may find a port in use."""
        if self.server is not None:
            self._read = (self.server.folder / LOG).stat().st_size


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
    """Give links their attributes and start ADON, if the trial needs it; both end with the context.

    :param points: None only if no trial needs ADON.
    :param folder: of an ADON that continues with its data and keeps it; None for a fresh one.
    :raises AdonError: if something does not start or is not measured in time.
    """
    topo = testbed.topo
    assert isinstance(topo, CampusTopo)  # noqa: S101 - experiments have no clouds
    try:
        for name, setting in trial.links.items():
            testbed.change_link(circuit_of(topo, name), as_change(setting))
        if points is None or not needs_adon(trial):
            _pin_loads(testbed, topo, trial)
            pinned = make_pinned_policy(testbed, topo, trial, TestLog(None, 0.0))
            yield TrialSetup(testbed, trial, TestLog(None, 0.0), pinned, pinned)
            return
        periods = plan_periods(topo, trial.measuring)
        extra = thaw(experiment.configuration)
        text = configuration_text(
            topo, contacts=points.contacts, token=points.token, periods=periods, extra=extra
        )
        own = testbed.folder / f"adon-{trial.number}"
        with prepare_server(testbed, text, folder or own) as server:
            print_line("starting ADON")
            began = time.time()
            server.start()
            client = _add_experimenter(server.wait_ready())
            _await_switches(client, server, topo)
            for template in trial.templates:
                client.add_template(template.model_dump(mode="json", exclude={"version"}))
            if _measured(trial.measuring):
                print_line("measuring each path once")
                _await_first_tests(client, server, periods, topo)
            yield _setup_with(testbed, topo, trial, server, client, began)
        shutil.rmtree(own, ignore_errors=True)
    finally:
        testbed.restore_links()


def _setup_with(
    testbed: Testbed, topo: CampusTopo, trial: Trial, server: AdonServer, client: Client, began: float
) -> TrialSetup:
    tests = TestLog(client, began)
    tests.read()
    pinned = make_pinned_policy(testbed, topo, trial, tests)

    def size_of(flow: PlannedFlow) -> int:
        return requested_size(flow, topo, trial.limit)

    policy = AdonPolicy(client, size_of, time.time) if trial.policy == "ours" else pinned
    setup = TrialSetup(testbed, trial, tests, policy, pinned, server)
    setup.note_ready()
    return setup


def clear_rules(testbed: Testbed, before: Mapping[str, str]) -> bool:
    """Remove the rules that a trial left; return whether those of :func:`read_rules` are there again."""
    try:
        for switch in before:
            for cookies in (ADON_COOKIES, PINNED_COOKIES):
                testbed.switches.ofctl("del-flows", switch, cookies)
        return read_rules(testbed) == before
    except AdonError:
        return False


def read_rules(testbed: Testbed) -> dict[str, str]:
    """Return the rules of each edge without their counters."""
    edges = [campus.edge for campus in testbed.topo.campuses.values()]
    dumps = {edge: testbed.dump_flows(edge).splitlines() for edge in edges}
    return {
        edge: "\n".join(sorted(_COUNTERS.sub("", line).strip() for line in lines if "cookie=" in line))
        for edge, lines in dumps.items()
    }


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

    :raises InvalidInput: if there is no schedule; names ``measuring``.
    """
    given: dict[str, Any] = measuring.given
    asked = replace(DEFAULT_PERIODS, **given)
    close = replace(asked, around_others=AROUND_ROUND_TRIPS)
    if asked.throughput is None and find_obstacle(topo, asked) and not find_obstacle(topo, close):
        asked = close
    rest = [test for test in PERIODS if test not in measuring.given]
    if not _measured(measuring):
        return asked
    try:
        if not any(measuring.given.values()):
            return fit_periods_to(topo, asked)
        every = DEFAULT_PERIODS.longest or LONGEST_ROUND
        while (obstacle := find_obstacle(topo, asked)) is not None:
            if not rest or every >= LONGEST_ROUND:
                raise obstacle
            every = min(2 * every, LONGEST_ROUND)
            asked = replace(asked, **dict[str, Any](dict.fromkeys(rest, every)))
    except InvalidInput as error:
        causes = {problem.cause for problem in error.problems}
        raise InvalidInput.of("measuring", f"does not fit: {'; '.join(sorted(causes))}") from error
    return asked


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


def _await_switches(client: Client, server: AdonServer, topo: CampusTopo) -> None:
    """Wait until every edge has ADON's rules: tests before that take the campus's own way."""
    edges = {campus.edge for campus in topo.campuses.values()}

    def is_ready() -> bool:
        server.require_running()
        found = client.network().switches
        return edges <= {one.name for one in found if one.connected and one.rules}

    if not wait_until(is_ready, CONNECT_TIMEOUT):
        cause = f"not every switch has its rules within {CONNECT_TIMEOUT:g} s"
        raise Unavailable(f"{cause}: {server.last_words}")


def _await_first_tests(
    client: Client, server: AdonServer, periods: MeasurementPeriods, topo: CampusTopo
) -> None:
    """Wait until each path has a result of every test that runs."""
    wanted = {metric for test in PERIODS if getattr(periods, test) for metric in PERIODS[test]}
    timeout = max(MIN_FIRST_TESTS_TIMEOUT, 2 * (periods.longest or 0.0) + 60)
    forward = {(path.name, path.campuses[0]) for path in topo.paths.values() if path.addresses}
    # A test that started before the switches had their rules has ended by then.
    since = time.time() + LONGEST_TEST

    def is_measured() -> bool:
        server.require_running()
        found = [one.metrics for one in client.paths() if (one.path, one.source) in forward]
        return all(
            wanted <= {name for name, one in metrics.items() if one.observed_at >= since} for metrics in found
        )

    if not wait_until(is_measured, timeout):
        raise Unavailable(f"not every path was measured within {timeout:g} s: {server.last_words}")


def thaw(value: Any) -> Any:
    """Return a frozen section as YAML has it."""
    if isinstance(value, Mapping):
        return {name: thaw(one) for name, one in value.items()}
    return [thaw(one) for one in value] if isinstance(value, tuple | list) else value
