"""``python -m apps.collector --config FILE --data DIR``: run the collector until SIGTERM or SIGINT.

Exit status: 0 stopped, 1 a fault (logged with its traceback), 2 a configuration that is wrong.
"""

from __future__ import annotations

import argparse
import logging
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from adon import config
from adon.errors import InvalidInput
from apps.collector import orders
from apps.collector.collector import Collector
from apps.link import LinkClient
from measurement.archive import Archive
from measurement.errors import ArchiveError, Stopped
from measurement.poller import Poller

LOG = logging.getLogger("apps.collector")
ARCHIVE = "measurements.db"
SOCKET = "controller.sock"
CANCEL_WITHIN = 2.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the collector; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m apps.collector", description=__doc__)
    parser.add_argument("--config", type=Path, required=True, metavar="FILE")
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    options = parser.parse_args(arguments)
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.INFO,
        format="time=%(asctime)s level=%(levelname)s logger=%(name)s %(message)s",
    )
    try:
        return _collect(options.config, options.data)
    except InvalidInput as error:
        for problem in error.problems:
            print(problem, file=sys.stderr)  # noqa: T201  # one line per problem is the interface
        return 2
    except Exception:  # the process's outermost guard: loud, and started anew by its parent
        LOG.exception("event=fault")
        return 1


def _collect(file: Path, data: Path) -> int:
    configuration = config.load(file)
    stopping = threading.Event()

    def pause(seconds: float) -> None:
        if stopping.wait(seconds):
            raise Stopped

    poller = Poller(orders.points(configuration, file.parent, pause))
    try:
        archive = Archive(data / ARCHIVE)
    except ArchiveError as error:
        raise InvalidInput.of("data", str(error)) from error
    link = LinkClient(data / SOCKET, role="collector")
    window = configuration.measurements.window
    with archive:
        collector = Collector(orders.planned_tests(configuration), poller.run, archive, link, window=window)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda _number, _frame: collector.stop())
        LOG.info("event=started tests=%d", len(configuration.measurements.tests))
        try:
            collector.run()
        finally:
            stopping.set()
            _cancel(poller)
            link.close()
    LOG.info("event=stopped")
    return 0


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
