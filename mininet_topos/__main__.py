"""``python -m mininet_topos up``: build the two-campus network and keep it until Ctrl-C or SIGTERM.

For looking around by hand, and for trying a controller of one's own: the edges connect to
``tcp:127.0.0.1:PORT`` inside the testbed's network namespace.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Sequence

from adon.errors import AdonError, InvalidInput, Unavailable
from mininet_topos.interruption import sigterm_interrupts
from mininet_topos.isolation import default_folder, run_folder, run_isolated
from mininet_topos.mu_osu import DEFAULT_SCALE, MuOsu
from mininet_topos.up import DEFAULT_OPENFLOW_PORT, READY_TIMEOUT, Bed
from mininet_topos.waiting import wait_until


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status (2 for bad input, 1 if the testbed cannot be built)."""
    options = _parser().parse_args(argv)
    try:
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
    return parser


def _up(options: argparse.Namespace) -> int:
    MuOsu(options.scale).topology()  # refuse what cannot be built before anything is started
    with (
        contextlib.suppress(KeyboardInterrupt),
        sigterm_interrupts(),
        run_folder(default_folder(options.name)) as folder,
    ):
        command = [sys.executable, "-m", "mininet_topos.up", "--folder", str(folder.path)]
        command += ["--scale", str(options.scale), "--openflow-port", str(options.openflow_port)]
        with run_isolated(command, folder) as process:
            wait_until(lambda: Bed.is_up(folder.path) or process.poll() is not None, READY_TIMEOUT)
            if not Bed.is_up(folder.path):
                raise Unavailable("the testbed does not come up")
            bed = Bed.read(folder.path)
            sys.stdout.write(_GUIDE.format(emulation=bed.emulation, folder=folder.path))
            sys.stdout.flush()
            return process.wait()
    return 0


_GUIDE = """ready: {emulation}
rules:  OVS_RUNDIR={folder}/ovs ovs-ofctl -O OpenFlow13 dump-flows mu-edge
inside: nsenter --all --target $(cat {folder}/pid)
        then, in a host: mnexec -a $(cat {folder}/hosts/mu-dtn) ping 10.2.0.10
Ctrl-C removes everything.
"""

if __name__ == "__main__":
    sys.exit(main())
