"""An Open vSwitch instance of our own: database, daemon, sockets and logs under one folder.

The machine's own Open vSwitch, if it runs, is neither used nor touched.  Whoever wants to look at ours sets
``OVS_RUNDIR`` to the folder; the sockets are ordinary files, so that works from outside the namespaces too.
Programs are found by the folder their environment names (``ovs-vsctl(8)``, ``ovs-appctl(8)``); nothing is
found, or ended, by name.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from adon.errors import Unavailable
from mininet_topos.waiting import wait_until

SCHEMA = Path("/usr/share/openvswitch/vswitch.ovsschema")
START_TIMEOUT = 15.0
COMMAND_TIMEOUT = 15.0
STOP_TIMEOUT = 5.0


@dataclass(frozen=True, slots=True)
class OpenVSwitch:
    """A running instance."""

    folder: Path

    @property
    def environment(self) -> Mapping[str, str]:
        """What makes Open vSwitch's programs talk to this instance."""
        return {name: str(self.folder) for name in ("OVS_RUNDIR", "OVS_DBDIR", "OVS_LOGDIR")}

    def run(self, *argv: str) -> str:
        """Run one of Open vSwitch's programs on this instance and return what it prints.

        :raises Unavailable: if it fails, with its own words.
        """
        environment = {**os.environ, **self.environment}
        try:
            done = subprocess.run(
                argv, env=environment, capture_output=True, text=True, timeout=COMMAND_TIMEOUT
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Unavailable(f"{argv[0]}: {error}") from error
        if done.returncode != 0:
            raise Unavailable(f"{' '.join(argv)}: {done.stderr.strip()}")
        return done.stdout

    def vsctl(self, *arguments: str) -> str:
        """``ovs-vsctl`` on this instance."""
        return self.run("ovs-vsctl", f"--timeout={int(COMMAND_TIMEOUT)}", *arguments)

    def ofctl(self, *arguments: str) -> str:
        """``ovs-ofctl -O OpenFlow13`` on this instance."""
        return self.run("ovs-ofctl", "-O", "OpenFlow13", *arguments)


@contextmanager
def open_vswitch(folder: Path) -> Iterator[OpenVSwitch]:
    """Start an instance in a new folder; both its daemons end with the context.

    :raises Unavailable: if Open vSwitch is not installed or does not start.
    """
    if not SCHEMA.exists():
        raise Unavailable(f"Open vSwitch is not installed: there is no {SCHEMA} (run scripts/setup.sh)")
    folder.mkdir(parents=True)
    instance = OpenVSwitch(folder)
    database = folder / "conf.db"
    instance.run("ovsdb-tool", "create", str(database), str(SCHEMA))
    with ExitStack() as daemons:
        remote = f"--remote=punix:{folder / 'db.sock'}"
        server = daemons.enter_context(_daemon(instance, "ovsdb-server", remote, str(database)))
        _await(
            instance, "ovsdb-server", server, lambda: _succeeds(instance, "ovs-vsctl", "--no-wait", "init")
        )
        switch = daemons.enter_context(_daemon(instance, "ovs-vswitchd", f"unix:{folder / 'db.sock'}"))
        _await(instance, "ovs-vswitchd", switch, lambda: _succeeds(instance, "ovs-appctl", "version"))
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


def _succeeds(instance: OpenVSwitch, *argv: str) -> bool:
    try:
        instance.run(*argv)
    except Unavailable:
        return False
    return True


def _await(
    instance: OpenVSwitch, name: str, process: subprocess.Popen[bytes], ready: Callable[[], bool]
) -> None:
    def settled() -> bool:
        return process.poll() is not None or ready()

    if not wait_until(settled, START_TIMEOUT) or process.poll() is not None:
        raise Unavailable(f"{name} did not start: {_last_lines(instance.folder / f'{name}.log')}")


def _last_lines(path: Path, count: int = 5) -> str:
    if not path.exists():
        return "it wrote no log"
    return " | ".join(path.read_text(errors="replace").splitlines()[-count:])
