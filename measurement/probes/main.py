"""``adon-probe-agent``: an instance's agent as a process."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import logging
import signal
import sys
from pathlib import Path

from measurement.instances import PORT
from measurement.probes.key import read_key, write_key
from measurement.probes.service import Limits, Service


def main() -> int:
    """Run until SIGTERM or SIGINT; 0 then, 1 if it cannot begin, with the reason on standard error."""
    parser = argparse.ArgumentParser(
        prog="adon-probe-agent", description="Answers probes of other instances, and probes them when asked."
    )
    parser.add_argument("--host", default="0.0.0.0", help="address to listen on (default: all of IPv4)")  # noqa: S104
    parser.add_argument("--port", type=_port, default=PORT, help="TCP and UDP (default: %(default)s)")
    parser.add_argument("--key", type=Path, required=True, help="file with the key, mode 0600")
    parser.add_argument("--new-key", action="store_true", help="make that file, and end")
    parser.add_argument(
        "--loads",
        type=_at_least_one,
        default=Limits().loads,
        help="trains and transfers at a time (%(default)s)",
    )
    parser.add_argument("--verbose", action="store_true", help="say who connects, and what was refused")
    arguments = parser.parse_args()
    logging.basicConfig(
        level=logging.INFO if arguments.verbose else logging.WARNING,
        format="time=%(asctime)s level=%(levelname)s %(message)s",
        stream=sys.stderr,
    )
    try:
        if arguments.new_key:
            write_key(arguments.key)
        else:
            asyncio.run(_serve(arguments, read_key(arguments.key)))
    except (OSError, ValueError) as error:
        sys.stderr.write(f"adon-probe-agent: {error}\n")
        return 1
    return 0


async def _serve(arguments: argparse.Namespace, key: bytes) -> None:
    gc.freeze()  # what is imported stays; with many agents on a host, looking at it again costs them all
    try:
        service = Service(arguments.host, arguments.port, key, Limits(loads=arguments.loads))
    except OSError as error:
        raise OSError(f"--host {arguments.host} --port {arguments.port}: {error.strerror}") from error
    serving = asyncio.create_task(service.run())
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, serving.cancel)
    sys.stdout.write(f"event=ready port={service.port}\n")
    sys.stdout.flush()
    with contextlib.suppress(asyncio.CancelledError):
        await serving


def _port(text: str) -> int:
    return _between(text, 0, 65_535)


def _at_least_one(text: str) -> int:
    return _between(text, 1, 10_000)


def _between(text: str, least: int, most: int) -> int:
    if not text.isdecimal() or not least <= int(text) <= most:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is no number from {least} to {most}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
