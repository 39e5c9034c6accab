"""An Open vSwitch instance of our own: database, daemon, sockets and logs under one folder.

The machine's own Open vSwitch, if it runs, is neither used nor touched.  Whoever wants to look at ours sets
``OVS_RUNDIR`` to the folder; the sockets are ordinary files, so that works from outside the namespaces too.
Programs are found by the folder their environment names (``ovs-vsctl(8)``, ``ovs-appctl(8)``); nothing is
found, or ended, by name.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from adon.errors import Unavailable
from mininet_topos import commands
from mininet_topos.commands import wait_until

SCHEMA = Path("/usr/share/openvswitch/vswitch.ovsschema")
START_TIMEOUT = 15.0
COMMAND_TIMEOUT = 60.0
"""Seconds: a transaction that makes a hundred switches in a guest takes half of it."""
STOP_TIMEOUT = 5.0
POLL_INTERVAL = 0.005
PROCESSORS_COUNTED = 10.1
"""Seconds on the machine's clock; measured with Open vSwitch 3.1."""


@dataclass(frozen=True, slots=True)
class OpenVSwitch:
    """A running instance."""

    folder: Path

    @property
    def environment(self) -> Mapping[str, str]:
        """What makes Open vSwitch's programs talk to this instance."""
        return {name: str(self.folder) for name in ("OVS_RUNDIR", "OVS_DBDIR", "OVS_LOGDIR")}

    def run(self, *argv: str, text: str = "") -> str:
        """Run one of Open vSwitch's programs on this instance and return what it prints.

        :param text: its standard input.
        :raises Unavailable: if it fails, with its own words.
        """
        return commands.output(
            argv, text, timeout=COMMAND_TIMEOUT, environment={**os.environ, **self.environment}
        )

    def vsctl(self, *arguments: str) -> str:
        """``ovs-vsctl`` on this instance."""
        return self.run("ovs-vsctl", f"--timeout={int(COMMAND_TIMEOUT)}", *arguments)

    def ofctl(self, *arguments: str) -> str:
        """``ovs-ofctl -O OpenFlow13`` on this instance."""
        return self.run("ovs-ofctl", "-O", "OpenFlow13", *arguments)


@contextmanager
def open_vswitch(folder: Path, *, dummy: bool = False) -> Iterator[OpenVSwitch]:
    """Start an instance in a new folder; both its daemons end with the context.

    :param dummy: with ports and datapaths of type ``dummy`` and without those of the system: needs no root.
    :raises Unavailable: if Open vSwitch is not installed or does not start.
    """
    if not SCHEMA.exists():
        raise Unavailable(f"Open vSwitch is not installed: there is no {SCHEMA} (run scripts/setup.sh)")
    folder.mkdir(parents=True)
    instance = OpenVSwitch(folder)
    database, socket_path = folder / "conf.db", folder / "db.sock"
    instance.run("ovsdb-tool", "create", str(database), str(SCHEMA))
    with ExitStack() as daemons:
        server = daemons.enter_context(
            _daemon(instance, "ovsdb-server", f"--remote=punix:{socket_path}", str(database))
        )
        _await(instance, "ovsdb-server", server, partial(_listens, socket_path))
        options = ("--enable-dummy", "--disable-system") if dummy else ()
        daemons.enter_context(_daemon(instance, "ovs-vswitchd", *options, f"unix:{socket_path}"))
        _await_first_answer(instance)
        yield instance


@contextmanager
def _daemon(instance: OpenVSwitch, name: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Keep one daemon as our child, in a session of its own so that a Ctrl-C reaches it through us."""
    process = subprocess.Popen(
        [
            name,
            f"--pidfile={instance.folder / name}.pid",
            f"--log-file={instance.folder / name}.log",
            *_QUIET,
            *arguments,
        ],
        env={**os.environ, **instance.environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


_QUIET = ("--verbose=console:off", "--verbose=syslog:off")


def await_processors() -> None:
    """Until ``ovs-vswitchd`` can count this machine's processors: everywhere but in a new guest, now.

    It has a thread per processor that hears from the kernel's datapath.  It counts them again when ten
    seconds have passed, the first time since the machine started; one that begins before has no such thread.
    """
    time.sleep(max(0.0, PROCESSORS_COUNTED - time.monotonic()))


def _listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as asking:
        try:
            asking.connect(str(path))
        except OSError:
            return False
    return True


def _await(
    instance: OpenVSwitch, name: str, process: subprocess.Popen[bytes], ready: Callable[[], bool]
) -> None:
    def settled() -> bool:
        return process.poll() is not None or ready()

    if not wait_until(settled, START_TIMEOUT, POLL_INTERVAL) or process.poll() is not None:
        raise Unavailable(f"{name} did not start: {_last_lines(instance.folder / f'{name}.log')}")


def _await_first_answer(instance: OpenVSwitch) -> None:
    """Fill the database: that waits until ``ovs-vswitchd`` has done what is in it (ovs-vsctl(8))."""
    try:
        instance.vsctl("init")
    except Unavailable as error:
        log = instance.folder / "ovs-vswitchd.log"
        raise Unavailable(f"ovs-vswitchd did not start: {_last_lines(log)} ({error})") from error


def _last_lines(path: Path, count: int = 5) -> str:
    if not path.exists():
        return "it wrote no log"
    return " | ".join(path.read_text(errors="replace").splitlines()[-count:])
