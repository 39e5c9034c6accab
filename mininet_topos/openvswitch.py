"""A private Open vSwitch instance: database, daemon, sockets and logs in one folder.

The Open vSwitch of the machine is neither used nor changed.  With ``OVS_RUNDIR`` set to the folder, programs
of Open vSwitch talk to this instance (``ovs-vsctl(8)``, ``ovs-appctl(8)``); its sockets are files, so that
works from outside the namespaces too.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from adon.errors import Unavailable
from mininet_topos import commands
from mininet_topos.commands import read_end, stop_process, wait_until

SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"
START_TIMEOUT = 15.0
COMMAND_TIMEOUT = 60.0
"""Seconds; a transaction that makes a hundred switches in a guest takes half of it."""
STOP_TIMEOUT = 5.0
POLL_INTERVAL = 0.005
PROCESSORS_COUNTED = 10.1
"""Seconds on the machine's clock; measured with Open vSwitch 3.1."""


@dataclass(frozen=True, slots=True)
class OpenVSwitch:
    """A running instance of Open vSwitch."""

    folder: Path

    @property
    def environment(self) -> Mapping[str, str]:
        """Return the variables with which programs of Open vSwitch find this instance."""
        return {name: str(self.folder) for name in ("OVS_RUNDIR", "OVS_DBDIR", "OVS_LOGDIR")}

    def run(self, *argv: str) -> str:
        """Run a program of Open vSwitch on this instance and return what it prints.

        :raises Unavailable: if it fails, with its message.
        """
        environment = {**os.environ, **self.environment}
        return commands.output(argv, timeout=COMMAND_TIMEOUT, environment=environment)

    def vsctl(self, *arguments: str) -> str:
        """Run ``ovs-vsctl`` on this instance and return what it prints."""
        return self.run("ovs-vsctl", f"--timeout={int(COMMAND_TIMEOUT)}", *arguments)

    def ofctl(self, *arguments: str) -> str:
        """Run ``ovs-ofctl -O OpenFlow13`` on this instance and return what it prints."""
        return self.run("ovs-ofctl", "-O", "OpenFlow13", *arguments)


@contextmanager
def open_vswitch(folder: Path, *, dummy: bool = False) -> Iterator[OpenVSwitch]:
    """Start an instance in a new folder; both its daemons end with the context.

    :param dummy: only ports and datapaths of type ``dummy``, which need no root.
    :raises Unavailable: if Open vSwitch is not installed or does not start.
    """
    folder.mkdir(parents=True)
    instance = OpenVSwitch(folder)
    database, socket_path = folder / "conf.db", folder / "db.sock"
    instance.run("ovsdb-tool", "create", str(database), SCHEMA)
    with ExitStack() as daemons:
        server = _start(instance, daemons, "ovsdb-server", f"--remote=punix:{socket_path}", str(database))
        wait_until(lambda: socket_path.exists() or server.poll() is not None, START_TIMEOUT, POLL_INTERVAL)
        options = ("--enable-dummy", "--disable-system") if dummy else ()
        try:
            if server.poll() is None:
                _start(instance, daemons, "ovs-vswitchd", *options, f"unix:{socket_path}")
            # This fills the database, and waits until ovs-vswitchd has done what is in it (ovs-vsctl(8)).
            instance.vsctl("init")
        except Unavailable as error:
            logs = "; ".join(read_end(folder / f"{name}.log") for name in ("ovsdb-server", "ovs-vswitchd"))
            raise Unavailable(f"Open vSwitch did not start: {logs} ({error})") from error
        yield instance


def _start(instance: OpenVSwitch, daemons: ExitStack, name: str, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a daemon, which ends with ``daemons``; its own session keeps Ctrl-C away from it."""
    files = (f"--pidfile={instance.folder / name}.pid", f"--log-file={instance.folder / name}.log")
    process = subprocess.Popen(
        [name, *files, "--verbose=console:off", "--verbose=syslog:off", *arguments],
        env={**os.environ, **instance.environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    daemons.callback(stop_process, process, STOP_TIMEOUT)
    return process


def await_processors() -> None:
    """Wait until ``ovs-vswitchd`` can count the processors of the machine; only a new guest waits.

    It has a thread per processor that hears from the kernel's datapath.  It counts them again when ten
    seconds have passed, the first time since the machine started; one that starts before has no such thread.
    """
    time.sleep(max(0.0, PROCESSORS_COUNTED - time.monotonic()))
