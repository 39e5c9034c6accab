"""``python -m apps.collector --config FILE --data DIR [--controller SOCKET]``: run until SIGTERM or SIGINT.

Exit status: 0 stopped, 1 a fault (logged with its traceback), 2 a configuration that is wrong, 74 an archive
whose database stopped answering.
"""

from __future__ import annotations

import argparse
import logging
import signal
import socket
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from adon import config
from adon.access.policy import Policy as AccessPolicy
from adon.config import Configuration
from adon.errors import EXIT_DATABASE, InvalidInput
from adon.measurement_plan import MeasurementPlan, Slots, as_psconfig, plan_measurements
from adon.store.access.access import access_url
from adon.timestamps import MonotoneClock
from apps.collector import contacts, files, rounds, studies
from apps.collector.alarm_notices import telling
from apps.collector.background_tasks import reader_of, watching
from apps.collector.collector import Collector, Inbox
from apps.collector.conductor import Conductor
from apps.collector.control import Control
from apps.collector.deployed import Deployed
from apps.collector.identity import next_start
from apps.collector.keeper import Keeper
from apps.collector.links import WebSide, carry_out, listen
from apps.collector.owners import Owners
from apps.collector.planner import Planner
from apps.collector.psconfig_file import read_template
from apps.collector.readers import Readers
from apps.collector.sites import working
from apps.collector.studies import Studies
from apps.collector.ways_in import ways_in
from apps.collector.workers import Workers
from apps.database_wait import wait_for
from apps.link import CONTROLLER, LinkClient, LinkServer
from measurement.anomaly.alarm import Alarm
from measurement.anomaly.policy import Policy
from measurement.anomaly.watch import Watch
from measurement.archive import Archive, Retention
from measurement.errors import ArchiveError, ArchiveUnavailable, Stopped, shorten
from measurement.poller import Point, Poller
from measurement.scheduling import gantt

LOG = logging.getLogger("apps.collector")
ARCHIVE = "measurements.db"
SOCKET = "collector.sock"
DOCUMENTS_KEPT = {
    "execution": 30 * 86_400.0,
    "alarm": 400 * 86_400.0,
    "overlap": 30 * 86_400.0,
    **studies.RETENTION,
}
"""Seconds for which what became of runs, and alarms that are over, can be looked up."""
MOST_AT_ONCE = 64
"""Runs under way, from handing them over to their end; each has a thread that mostly waits."""
CANCEL_WITHIN = 2.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the collector; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m apps.collector", description=__doc__)
    parser.add_argument("--config", type=Path, required=True, metavar="FILE")
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument(
        "--folder", type=Path, metavar="DIR", help="of the files that FILE names (default: FILE's)"
    )
    parser.add_argument("--store", metavar="URL", help="of the state (default: DIR/state.db)")
    parser.add_argument("--controller", type=Path, metavar="SOCKET", help="default: DIR/controller.sock")
    options = parser.parse_args(arguments)
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.INFO,
        format="time=%(asctime)s level=%(levelname)s logger=%(name)s %(message)s",
    )
    try:
        folder = options.folder or options.config.parent
        users = access_url(options.data, options.store)
        controller = options.controller or options.data / CONTROLLER
        return _collect(options.config, folder, options.data, users, controller)
    except InvalidInput as error:
        for problem in error.problems:
            print(problem, file=sys.stderr)  # noqa: T201  # one line per problem is the interface
        return 2
    except ArchiveUnavailable as error:
        # One line without a traceback: the process waits for the archive when it starts again.
        LOG.critical('event=archive_unavailable cause="%s"', shorten(str(error)))
        return EXIT_DATABASE
    except Exception:  # the process's outermost guard: loud, and started anew by its parent
        LOG.exception("event=fault")
        return 1


def _collect(file: Path, folder: Path, data: Path, users: str, controller: Path) -> int:
    configuration = config.load(file)
    template = read_template(configuration, folder)

    def draw(found: MeasurementPlan) -> None:
        files.write(data / files.GANTT, gantt.page(found.schedule, title=configuration.network).encode())

    plan = plan_measurements(configuration, psconfig=template)
    draw(plan)
    for note in plan.notes:
        LOG.warning('event=not_planned cause="%s"', note)
    stopping, inbox, clock = threading.Event(), Inbox(), MonotoneClock()

    def pause(seconds: float) -> None:
        if stopping.wait(seconds):
            raise Stopped

    identity = next_start(data)
    poller = Poller(contacts.points(configuration, folder, pause, identity))
    if identity.before is not None:
        left = contacts.points(configuration, folder, pause, identity.before)
        threading.Thread(target=_sweep, args=(left,), name="sweep", daemon=True).start()
    with ExitStack() as ends:
        archive = ends.enter_context(_archive(configuration, data))
        link = LinkClient(controller, role="collector")
        ends.callback(link.close)
        owners = Owners(users)
        ends.callback(owners.close)
        web, readers = WebSide(), Readers(AccessPolicy(configuration.policy.measurement_access), owners.now)
        told = ends.enter_context(
            telling(configuration.measurements.notify, folder, data, web.notice, readers.may_hear, clock)
        )

        def notify(alarm: Alarm) -> None:
            told.offer(alarm)
            web.alarm(alarm)

        limits = {} if configuration.health is None else rounds.limits(configuration.health)
        watch = Watch(Policy(periods=plan.expected(), limits=limits))
        keeper = Keeper(archive, watch, link, notify, clock, web.value)

        def publish(found: MeasurementPlan) -> None:
            draw(found)
            inbox.call(lambda: carry_out(keeper, conductor, found))

        planner = Planner(configuration, template, publish)

        def plan_slots(slots: Slots) -> None:
            threading.Thread(target=planner.replan, kwargs={"slots": slots}, daemon=True).start()

        conductor = Conductor(
            plan,
            Workers(poller.run, inbox.put, MOST_AT_ONCE),
            archive,
            link,
            notice=configuration.measurements.notice,
            cancel=lambda: _cancel(poller),
            clock=clock,
            posting_time=poller.posting_time,
            plan_slots=plan_slots,
        )
        control = Control(
            inbox,
            keeper,
            conductor,
            archive,
            told,
            readers,
            clock,
            lambda: as_psconfig(configuration, conductor.plan),
        )
        server = LinkServer(data / SOCKET, control.handle)
        ends.callback(server.close)
        web.server = server

        def leads() -> bool:
            return collector.leads

        reads = (configuration, folder, identity, pause, inbox.keep, leads)
        deployed = Deployed(frozenset(configuration.measurements.points), reader_of(*reads))
        listen(link, inbox, keeper, conductor, planner, deployed.want)
        url = ends.enter_context(ways_in(configuration, folder, inbox))
        collector = Collector(
            inbox,
            archive,
            keeper,
            conductor,
            holder=f"{socket.gethostname()}:{data.resolve()}",  # a restart has its lease at once
            clock=clock,
            failure=lambda: told.failure,
            retention=Retention(**dict(configuration.measurements.retention), documents=DOCUMENTS_KEPT),
        )
        link.on(
            "standing", lambda told: inbox.call(lambda: collector.follow(active=told.get("active") is True))
        )
        ends.enter_context(working(configuration, link, leads))
        ends.enter_context(watching(*reads))
        ends.enter_context(rounds.running(configuration, folder, data, inbox, Studies(archive), leads))
        deployed.start()  # what was wanted meanwhile has waited
        ends.callback(deployed.close)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda _number, _frame: collector.stop())
        LOG.info("event=started tests=%d ingest=%s", len(plan.tests), url or "-")
        try:
            collector.run()
        finally:
            stopping.set()
            _cancel(poller)
    LOG.info("event=stopped")
    return 0


def _archive(configuration: Configuration, data: Path) -> Archive:
    where = configuration.measurements.archive_url or data / ARCHIVE
    try:
        return wait_for("archive", lambda: Archive(where))
    except ArchiveError as error:
        raise InvalidInput.of("data", error) from error


def _sweep(left: Mapping[str, Point]) -> None:
    with suppress(Stopped):
        contacts.sweep(left)


def _cancel(poller: Poller) -> None:
    # In a thread of its own: a point that hangs must not keep us from stopping.
    def work() -> None:
        for error in poller.cancel_all():
            LOG.warning('event=not_cancelled cause="%s"', error)

    canceller = threading.Thread(target=work, name="canceller", daemon=True)
    canceller.start()
    canceller.join(CANCEL_WITHIN)


if __name__ == "__main__":
    sys.exit(main())
