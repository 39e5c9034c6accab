"""``python -m apps.movers --config FILE --data DIR --store URL --folder DIR``: run until SIGTERM or SIGINT.

Exit status: 0 stopped, 1 a fault (logged with its traceback), 2 a configuration that is wrong.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from adon import config
from adon.config import Configuration
from adon.errors import InvalidInput
from adon.store.access.database import AccessStore, access_url
from adon.store.store import Store
from apps.collector.contacts import mail_server
from apps.link import CONTROLLER, LinkClient, LinkServer
from apps.movers.book import Book
from apps.movers.carrying import Carrier
from apps.movers.mover import SOCKET, Mover
from apps.movers.post import Post, addresses
from apps.movers.seeing import Flows
from apps.movers.tools import tools_of

log = logging.getLogger("apps.movers")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the process; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m apps.movers", description=__doc__)
    parser.add_argument("--config", type=Path, required=True, metavar="FILE")
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--store", required=True, metavar="URL")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="of the files that FILE names")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    try:
        configuration = config.load(options.config)
        _move(configuration, options.folder or options.config.parent, options.data, options.store)
    except InvalidInput as error:
        for problem in error.problems:
            print(problem, file=sys.stderr)  # noqa: T201  # one line per problem is the interface
        return 2
    except Exception:  # the process's outermost guard: loud, and started anew by its parent
        log.exception("event=fault")
        return 1
    return 0


def _move(configuration: Configuration, folder: Path, data: Path, store_url: str) -> None:
    tools = tools_of(configuration.transfers, folder)
    with ExitStack() as ends:
        store = Store.open(store_url, read_only=True)
        ends.callback(store.close)
        book = Book(data)
        ends.callback(book.close)
        link = LinkClient(data / CONTROLLER, "movers")
        ends.callback(link.close)
        post = _post(configuration, folder, data, store_url, book, ends)
        carrier = Carrier(configuration.transfers, tools)
        mover = Mover(configuration.transfers, carrier, Flows(store), book, post, link, time.time)
        link.on("standing", lambda told: setattr(mover, "told_active", told.get("active") is True))
        # Said again, now that somebody listens to the answer.
        link.on("hello", lambda _: link.send("hello", {"role": "movers"}))
        server = LinkServer(data / SOCKET, mover.handle)
        ends.callback(server.close)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda _number, _frame: mover.stop())
        log.info("event=started tools=%s", ",".join(tools) or "-")
        mover.run()
    log.info("event=stopped")


def _post(
    configuration: Configuration, folder: Path, data: Path, store_url: str, book: Book, ends: ExitStack
) -> Post:
    when, wanted = configuration.transfers.mail, configuration.measurements.notify.mail
    link = configuration.access.public_url
    if wanted is None:
        return Post(book, None, lambda _: None, when, link)
    access = AccessStore.open(access_url(data, store_url), read_only=True)
    ends.callback(access.close)
    return Post(book, mail_server(wanted, folder), addresses(when.addresses, access), when, link)


if __name__ == "__main__":
    # A worker that waits for a tool that hangs must not keep the process from ending.
    status = main()
    logging.shutdown()
    sys.stderr.flush()
    os._exit(status)
