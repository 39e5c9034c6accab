"""``python -m apps.campus_edge --config FILE --data DIR [--store URL]``: the controller process.

Puts the parts together and keeps them together: store, broker, decision thread, link, os-ken.  It loads
no statistics, plotting or web framework; the collector and the web side are processes of their own.
"""

from __future__ import annotations

import argparse
import gc
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from os_ken.base.app_manager import AppManager

from adon.broker.broker import Broker
from adon.code_version import code_version
from adon.config import Configuration, load
from adon.config.controller import HighAvailability
from adon.errors import AdonError, Conflict, exit_status
from adon.flowvisor.controller_roles import Control, StateLoaded, single_controller, standby_controller
from adon.store.lease import CONTROLLER, Lease, LeaseLost, check_shared
from adon.store.network_rows import WANTED
from adon.store.store import Store
from adon.templates_catalog.builtin_templates import builtin_templates
from adon.templates_catalog.catalog import Catalog
from adon.timestamps import MonotoneClock
from apps.campus_edge import connections, fireflies, hello_key, signals, switch_listener
from apps.campus_edge.commands import Commands
from apps.campus_edge.executor import Executor, monitoring_to_json
from apps.campus_edge.gate import Gate, Terms
from apps.campus_edge.input_recorder import Remembering
from apps.campus_edge.leader_lease import Leadership
from apps.campus_edge.loop import DecisionLoop, Inbox, Stamps
from apps.campus_edge.roles import RoleDesk, step_down
from apps.campus_edge.standby import refusing
from apps.campus_edge.switchboard import Switchboard
from apps.campus_edge.tally import Tally
from apps.campus_edge.tls import Credentials
from apps.database_wait import wait_for
from apps.journal import Journal
from apps.link import CONTROLLER as CONTROLLER_SOCKET
from apps.link import LinkServer, Peer
from apps.service_manager import ServiceManager
from measurement.psconfig.needs import to_json as needs_to_json
from measurement.sites import codec as sites_codec

log = logging.getLogger("adon.controller")

YOUNG_OBJECTS = 20_000
"""New objects after which the collector looks at them: a packet leaves a few that are gone by themselves."""
JOBS_REMEMBERED = 500
"""Jobs that are over from which is learnt again what sites are worth."""
CLOCK_SLACK_S = 1.0
"""Seconds that the wall clock may be behind the latest saved time before the log says so."""
SITES_ASKED = "sites.asked"
"""A collector asks what it is to do about compute sites: it began to listen after its greeting."""


def main() -> int:
    """Run the controller until SIGTERM or SIGINT; an error's exit status is :func:`~adon.errors.exit_status`.

    One that is not, or not any more, the active controller of several ends with 75.
    """
    parser = argparse.ArgumentParser(prog="adon-controller", description=__doc__)
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--store", help="database URL; default: SQLite in the data folder")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    logging.getLogger("os_ken").setLevel(logging.WARNING)
    try:
        configuration = load(arguments.config)
        url = arguments.store or f"sqlite:///{arguments.data / 'state.db'}"
        run(configuration, url, arguments.data / CONTROLLER_SOCKET)
    except LeaseLost as error:
        step_down(str(error))  # before the decision thread ran, which does the same
    except AdonError as error:
        for problem in getattr(error, "problems", (error,)):
            print(problem, file=sys.stderr)  # noqa: T201 - the supervisor shows it
        return exit_status(error)
    return 0


@dataclass(frozen=True, slots=True)
class _Shell:
    """What is there whether or not this controller is the active one."""

    configuration: Configuration
    store_url: str
    socket_path: Path
    desk: RoleDesk
    watchman: ServiceManager
    clock: MonotoneClock
    stamps: Stamps
    inbox: Inbox = field(default_factory=Inbox)
    ended: threading.Event = field(default_factory=threading.Event)


def run(configuration: Configuration, store_url: str, socket_path: Path) -> None:
    """Start everything and wait for a signal; of several controllers, stand by until it is our turn."""
    where, watchman = configuration.controller, ServiceManager(os.environ)
    if where.ha is not None:
        check_shared(store_url)
    _wait_for_store(store_url, watchman)  # with the default actions of signals: SIGTERM ends it
    signals.hold()
    control: dict[int, Control] = {one.dpid: one.control for one in configuration.switches.values()}
    begin = (
        single_controller(control, _generation(store_url))
        if where.ha is None
        else standby_controller(control)
    )
    clock = MonotoneClock()
    shell = _Shell(configuration, store_url, socket_path, RoleDesk(begin), watchman, clock, Stamps(clock))
    credentials = None if where.tls is None else Credentials(where.tls)
    listener = switch_listener.listen(where.openflow_host, where.openflow_port)
    board = _switchboard(shell)
    gate = Gate(Terms.of(configuration), credentials, board.tally, board.handle_packets)
    ended = shell.ended.set
    signals.install_handlers({signal.SIGTERM: ended, signal.SIGINT: ended, signal.SIGHUP: gate.reload})
    shell.desk.serve(board)
    threading.Thread(
        target=switch_listener.accept, args=(listener, gate), name="of-accept", daemon=True
    ).start()
    if where.ha is None:
        _serve(shell, board, None)
    else:
        _stand_by(shell, board, where.ha)


def _wait_for_store(url: str, watchman: ServiceManager) -> None:
    def pause(seconds: float) -> None:
        watchman.pulse()
        time.sleep(seconds)

    wait_for("state", lambda: Store.open(url, read_only=True).close(), pause)


def _stand_by(shell: _Shell, board: Switchboard, ha: HighAvailability) -> None:
    """Wait for the lease, and then be the active controller."""
    with Store.open(shell.store_url) as leases:
        leadership = Leadership(leases, shell.desk, ha.name or socket.gethostname(), ha.lease)
        link = refusing(shell.socket_path, lambda: leadership.active)
        lease = leadership.campaign(shell.ended, shell.watchman)
        link.close()
        if lease is not None:
            leadership.keep(lease)
            _serve(shell, board, lease)
            leadership.give_back(lease)


def _generation(store_url: str) -> int:
    """A generation for the only controller there is, above that of its last run.

    :raises Conflict: if it is not the only one: others share this database, and one of them is active.
    """
    with Store.open(store_url) as store:
        taken = store.take_lease(CONTROLLER, socket.gethostname(), 0.0)
        held = store.lease(CONTROLLER)
    if taken is None:
        other = "another controller" if held is None else held.holder
        raise Conflict("controller.ha", f"is missing, and {other} is the active controller of this database")
    return taken.generation


def _serve(shell: _Shell, board: Switchboard, lease: Lease | None) -> None:
    """Load the state and be the active controller until the signal."""
    store, stamps = Store.open(shell.store_url, fence=lease), shell.stamps
    behind = shell.clock.advance_to(store.latest_time())
    if behind > CLOCK_SLACK_S:
        log.warning("event=clock.behind seconds=%.0f", behind)
    broker = Broker(
        shell.configuration,
        _catalog(store, stamps.clock()),
        flows=store.unfinished_flows(),
        rules=[saved.rule for saved in store.rules(states=WANTED)],
        windows=store.windows(),
        reservations=store.reservations(),
        last_number=store.last_flow_number(),
        circuits=store.circuits(),
        jobs=store.remembered_jobs(JOBS_REMEMBERED),
        last_job=store.last_job_number(),
        identity=hello_key.identity(shell.configuration),
    )
    commands = Commands(shell.inbox.put, Store.open(shell.store_url, read_only=True), stamps)
    link = LinkServer(shell.socket_path, receiver(broker, commands, board.tally))
    journal = Journal(shell.socket_path.parent)
    executor = Executor(store, board, commands, link.broadcast, journal.record_sent)
    remembering = Remembering(store, code_version())
    executor.remember = remembering.keep
    if shell.configuration.policy.fireflies is not None:
        executor.firefly = fireflies.Sender(shell.configuration.policy.fireflies)
    loop = DecisionLoop(
        shell.inbox, broker, executor.carry_out, board.overdue, stamps, remembering, shell.watchman
    )
    # What is loaded by now stays: Python's collector of cycles need not look at it while a decision waits.
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS)
    loop.start()
    shell.desk.feed(StateLoaded())
    log.info("event=ready network=%s flows=%d", shell.configuration.network, len(broker.flows))
    shell.ended.wait()
    log.info("event=stopping")
    link.close()
    loop.stop()
    loop.join(timeout=5)
    journal.close()


def _catalog(store: Store, now: float) -> Catalog:
    """The saved templates; the built-in ones are saved once, where their names are free."""
    catalog = Catalog.of(saved.template for saved in store.templates())
    names = {template.name for template in catalog.latest}
    for template in builtin_templates():
        if template.name not in names:
            catalog, saved = catalog.add(template)
            with store.transaction():
                store.save_template(saved, "built-in", now)
    return catalog


def receiver(broker: Broker, commands: Commands, tally: Tally) -> Callable[[Peer, str, dict[str, Any]], None]:
    """Return the link's handler: greetings and counters are answered at once, commands become events."""

    def receive(peer: Peer, kind: str, payload: dict[str, Any]) -> None:
        if kind == "hello" and payload.get("role") == "collector":
            peer.send("standing", {"active": True})
            peer.send("quiet", {"paths": sorted(broker.quiet)})
            peer.send("needs", needs_to_json(broker.needs))
            watched = broker.monitoring
            peer.send("monitor", monitoring_to_json(watched.watches, watched.series))
        if kind == SITES_ASKED or (kind == "hello" and payload.get("role") == "collector"):
            peer.send("shapes", sites_codec.shapes_to_json(broker.shapes))
            for orders in sites_codec.orders_to_json(broker.orders):
                peer.send("jobs", orders)
        if kind == "tally":
            # Counters need no decision: they are answered here, beside the decision thread.
            told = tally.read() | {"unannounced_refused": broker.unannounced_refused}
            peer.answer(str(payload.get("command")), told)
        elif kind != SITES_ASKED:
            commands.receive(peer, kind, payload)

    return receive


def _switchboard(shell: _Shell) -> Switchboard:
    """Set os-ken up with its handshake and our application in it; no switch is connected yet."""
    connections.configure()
    manager = AppManager.get_instance()
    known = frozenset(switch.dpid for switch in shell.configuration.switches.values())
    handshake = manager.instantiate(connections.Handshake)
    ignored = shell.configuration.ignored_cookies
    board: Switchboard = manager.instantiate(
        Switchboard, known, shell.inbox.put, shell.stamps, ignored, shell.inbox.offer, shell.desk
    )
    # os-ken's threads are no daemons, and would keep the process alive after its end; a thread
    # inherits that from the one that starts it.
    starter = threading.Thread(target=lambda: [app.start() for app in (handshake, board)], daemon=True)
    starter.start()
    starter.join()
    return board


if __name__ == "__main__":
    sys.exit(main())
