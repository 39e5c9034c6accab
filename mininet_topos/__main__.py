"""``python -m mininet_topos up``: build the two-campus network and keep it until Ctrl-C.

For looking around by hand, and for trying a controller of one's own: the edges connect to
``tcp:127.0.0.1:PORT`` inside the testbed's network namespace.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from adon.errors import AdonError, InvalidInput
from mininet_topos.isolation import default_folder, run_folder, run_isolated
from mininet_topos.mu_osu import DEFAULT_SCALE, MuOsu

DEFAULT_OPENFLOW_PORT = 6653


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status (2 for bad input, 1 if the testbed cannot be built)."""
    options = _parser().parse_args(argv)
    try:
        if options.inside is not None:
            return _inside(options)
        return _up(options)
    except AdonError as error:
        sys.stderr.write(f"{error}\n")
        return 2 if isinstance(error, InvalidInput) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m mininet_topos", description=__doc__)
    parser.add_argument("command", choices=["up"])
    parser.add_argument("--name", default="testbed", help="of the run folder (default: %(default)s)")
    parser.add_argument("--scale", type=float, default=DEFAULT_SCALE, help="1:SCALE (default: %(default)s)")
    parser.add_argument("--openflow-port", type=int, default=DEFAULT_OPENFLOW_PORT)
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    return parser


def _up(options: argparse.Namespace) -> int:
    """The owner's side: a folder, and a first process in namespaces of its own."""
    _end_on_signals()
    MuOsu(options.scale).topology()  # refuse what cannot be built before anything is started
    with run_folder(default_folder(options.name)) as folder:
        command = [sys.executable, "-m", "mininet_topos", "up", "--inside", str(folder.path)]
        command += ["--scale", str(options.scale), "--openflow-port", str(options.openflow_port)]
        with contextlib.suppress(KeyboardInterrupt), run_isolated(command, folder) as process:
            return process.wait()
    return 0


def _inside(options: argparse.Namespace) -> int:
    """The first process's side: build, say how to look inside, wait."""
    from mininet_topos.testbed import testbed  # the owner needs nothing of it

    _end_on_signals()
    with (
        contextlib.suppress(KeyboardInterrupt),
        testbed(MuOsu(options.scale).topology(), options.inside, options.openflow_port) as built,
    ):
        sys.stdout.write(_GUIDE.format(emulated_by=built.emulated_by, folder=options.inside))
        sys.stdout.flush()
        while True:
            signal.pause()
    return 0


def _end_on_signals() -> None:
    """Both, also where a shell started us with SIGINT ignored, as it does in the background."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


_GUIDE = """ready: {emulated_by}
rules:  OVS_RUNDIR={folder}/ovs ovs-ofctl -O OpenFlow13 dump-flows mu-edge
inside: nsenter --all --target $(cat {folder}/pid)
        then, in a host: mnexec -a $(cat {folder}/hosts/mu-dtn) ping 10.2.0.10
Ctrl-C removes everything.
"""

if __name__ == "__main__":
    sys.exit(main())
