"""``python -m apps.campus_edge --config FILE --data DIR [--store URL]``: the controller process.

Puts the parts together and keeps them together: store, broker, decision thread, link, os-ken.  It loads
no statistics, plotting or web framework; the collector and the web side are processes of their own.
"""

from __future__ import annotations

import argparse
import logging
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from os_ken.base.app_manager import AppManager

from adon.broker.broker import Broker
from adon.config import Configuration, load
from adon.errors import AdonError
from adon.store.store import WANTED, Store
from adon.templates_catalog.builtins import builtin_templates
from adon.templates_catalog.catalog import Catalog
from apps.campus_edge import connections
from apps.campus_edge.commands import Commands
from apps.campus_edge.executor import Executor
from apps.campus_edge.loop import DecisionLoop, Inbox, Stamps
from apps.campus_edge.switchboard import Switchboard
from apps.campus_edge.tally import Tally
from apps.link import LinkServer, Peer
from measurement.psconfig.needs import to_json as needs_to_json

log = logging.getLogger("adon.controller")


def main() -> int:
    """Run the controller until SIGTERM or SIGINT; 2 for wrong input, 1 for a part that is missing."""
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
        run(configuration, url, arguments.data / "controller.sock")
    except AdonError as error:
        for problem in getattr(error, "problems", (error,)):
            print(problem, file=sys.stderr)  # noqa: T201 - the supervisor shows it
        return 2 if error.status < 500 else 1
    return 0


def run(configuration: Configuration, store_url: str, socket_path: Path) -> None:
    """Start everything and wait for a signal."""
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    stamps = Stamps()
    store = Store.open(store_url)
    broker = Broker(
        configuration,
        _catalog(store, stamps.clock()),
        flows=store.unfinished_flows(),
        rules=[saved.rule for saved in store.rules(states=WANTED)],
        windows=store.windows(),
        last_number=store.last_flow_number(),
    )
    inbox = Inbox()
    where = configuration.controller
    listener = connections.listen(where.openflow_host, where.openflow_port)
    board = _switchboard(configuration, inbox, stamps)
    commands = Commands(inbox.put, Store.open(store_url, read_only=True), stamps)
    link = LinkServer(socket_path, _receiver(broker, commands, board.tally))
    executor = Executor(store, board, commands, link.broadcast)
    loop = DecisionLoop(inbox, broker, executor.carry_out, board.overdue, stamps)
    loop.start()
    threading.Thread(target=connections.accept, args=(listener,), name="of-accept", daemon=True).start()
    log.info("event=ready network=%s flows=%d", configuration.network, len(broker.flows))
    ended.wait()
    log.info("event=stopping")
    link.close()
    loop.stop()
    loop.join(timeout=5)


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


def _receiver(
    broker: Broker, commands: Commands, tally: Tally
) -> Callable[[Peer, str, dict[str, Any]], None]:
    def receive(peer: Peer, kind: str, payload: dict[str, Any]) -> None:
        if kind == "hello" and payload.get("role") == "collector":
            peer.send("quiet", {"paths": sorted(broker.quiet)})
            peer.send("needs", needs_to_json(broker.needs))
        if kind == "tally":
            # Counters need no decision: they are answered here, beside the decision thread.
            peer.answer(str(payload.get("command")), tally.read())
        else:
            commands.receive(peer, kind, payload)

    return receive


def _switchboard(configuration: Configuration, inbox: Inbox, stamps: Stamps) -> Switchboard:
    """Set os-ken up with its handshake and our application in it; no switch is connected yet."""
    connections.configure()
    manager = AppManager.get_instance()
    known = frozenset(switch.dpid for switch in configuration.switches.values())
    handshake = manager.instantiate(connections.Handshake)
    board: Switchboard = manager.instantiate(
        Switchboard, known, inbox.put, stamps, configuration.ignored_cookies
    )
    # os-ken's threads are no daemons, and would keep the process alive after its end; a thread
    # inherits that from the one that starts it.
    starter = threading.Thread(target=lambda: [app.start() for app in (handshake, board)], daemon=True)
    starter.start()
    starter.join()
    return board


if __name__ == "__main__":
    sys.exit(main())
