"""Build a described cloud in this process's own namespaces, and remove it.

To be used in a process under ``unshare --net --pid --mount``:
nothing outside is touched, and whatever happens to the process, all of it ends with it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from adon.errors import Conflict, InvalidInput, Unavailable
from measurement.health.model import Pair
from measurement.instances import Instance
from mininet_topos import commands
from mininet_topos.cloud import delays, description
from mininet_topos.cloud.classes import changed_lines, has_own_class
from mininet_topos.cloud.description import Cloud
from mininet_topos.cloud.plan import CONTROL, Plan, guest_space, needs_delays, planned, router_space

SPACES = Path("/run/netns")
MOUNTED = "adon-cloud"
"""The name of the file system that holds the namespaces."""
STOP_TIMEOUT = 5.0


@dataclass
class Running:
    """A cloud that is there.

    :param cloud: as it is now.
    :param table: of the delay line; None if there is none.
    """

    cloud: Cloud
    table: Path | None = None

    @property
    def instances(self) -> tuple[Instance, ...]:
        """Its guests with their addresses."""
        return self.cloud.instances

    @property
    def emulation(self) -> str:
        """What makes the network, for reports."""
        delay = "no delays" if self.table is None else "delays by a TUN line of our own"
        return f"HTB rates, {delay}, Linux {os.uname().release}"

    def command(self, guest: str, *argv: str) -> list[str]:
        """What runs a program in a guest."""
        return _inside(guest_space(self.cloud, guest), *argv)

    def run(self, guest: str, *argv: str, timeout: float | None = None) -> str:
        """Run a program in a guest; what it prints.

        :raises Unavailable: if it fails, with what it said.
        """
        return _run(self.command(guest, *argv), timeout=timeout)

    def popen(self, guest: str, *argv: str, **options: Any) -> subprocess.Popen[Any]:
        """Start a program in a guest; end it before the cloud."""
        return subprocess.Popen(self.command(guest, *argv), **options)

    def change(self, pair: Pair, path: description.Path) -> None:
        """Let a path be another from now on; what is under way keeps its delay.

        :raises InvalidInput: if it is not a path, or is to have what was not prepared for: a limit where
            there was none, or a delay where nothing was delayed.
        """
        changed = replace(self.cloud, paths={**self.cloud.paths, pair: path})
        guest = changed.guests[changed.octet(pair.source) - 1]
        had, has = self.cloud.path(pair).rate, path.rate
        if (had is None) != (has is None):
            raise InvalidInput.of("path.rate", "a limit can change, but not come or go")
        if self.table is None and needs_delays(changed, [guest]):
            raise InvalidInput.of("path.delay", "the cloud was built without a delay line")
        if self.table is not None:
            delays.change(self.table, changed, pair)
        if has_own_class(changed, guest, pair.destination) and had != has:
            space = router_space(changed, changed.router(guest))
            _batch("tc", space, changed_lines(changed, guest, pair.destination))
        self.cloud = changed


@contextmanager
def built(cloud: Cloud, folder: Path, seed: int = 0) -> Iterator[Running]:
    """Build it; it is gone when the context ends, however that is.

    :param folder: a new file is made there for the delay line.
    :param seed: decides, with when packets come, which are lost.
    :raises Conflict: if this is no network namespace of one's own, or there is a cloud in it.
    :raises Unavailable: if the machine cannot build it, with what it said.
    """
    _require_own_namespace()
    plan = planned(cloud)
    with ExitStack() as stack:
        stack.callback(_forget)
        stack.enter_context(_spaces([*plan.addresses]))
        _run(["ip", "-batch", "-"], plan.links)
        for space, settings in plan.settings.items():
            _set(space, settings, plan.devices.get(space, ()))
        table = None
        if plan.lines:
            table = folder / f"{cloud.name}.delays"
            table.write_bytes(delays.filled(cloud))
            stack.callback(table.unlink)
            stack.enter_context(_line(table, plan, seed))
        for space, lines in plan.addresses.items():
            _batch("ip", space, lines)
        for space, lines in plan.limits.items():
            _batch("tc", space, lines)
        yield Running(cloud, table)


def _require_own_namespace() -> None:
    if os.geteuid() != 0:
        raise Unavailable("a cloud needs root: it makes network namespaces and interfaces")
    if f"{MOUNTED} {SPACES} " in Path("/proc/self/mounts").read_text():
        raise Conflict("namespace", "there is a cloud in it already")
    listed = _run(["ip", "-brief", "link"]).splitlines()
    names = {line.split()[0] for line in listed if line} - {"lo"}
    if names:
        raise Conflict("namespace", f"this is none of a cloud's own: it has {', '.join(sorted(names)[:5])}")


@contextmanager
def _spaces(names: list[str]) -> Iterator[None]:
    """Named namespaces, where only this mount namespace sees them."""
    SPACES.mkdir(parents=True, exist_ok=True)
    _run(["mount", "-t", "tmpfs", "-o", "mode=0755", MOUNTED, str(SPACES)])
    try:
        _run(["ip", "-batch", "-"], (f"netns add {name}" for name in names))
        yield
    finally:
        _run(["umount", "--lazy", "--recursive", str(SPACES)])


@contextmanager
def _line(table: Path, plan: Plan, seed: int) -> Iterator[None]:
    options = ["--single"] if plan.loses else []
    argv = [sys.executable, "-m", "mininet_topos.cloud.line", *options, str(table), str(seed)]
    with subprocess.Popen([*argv, *plan.lines.values()], stdout=subprocess.PIPE, text=True) as process:
        try:
            if process.stdout is None or process.stdout.readline() != "ready\n":
                raise Unavailable("the delay line did not start: see its words above")
            moves = (f"link set {device} netns {space}" for space, device in plan.lines.items())
            _run(["ip", "-batch", "-"], moves)
            yield
            if process.poll() is not None:
                raise Unavailable("the delay line ended by itself, and nothing came through any more")
        finally:
            process.kill()  # it has nothing to say good-bye to
            process.wait(STOP_TIMEOUT)


def _forget() -> None:
    """Be again as it was before; cables vanish with the namespaces that they led to."""
    _run(["ip", "address", "flush", "dev", "lo", "to", f"{CONTROL}/32"])


def _set(space: str, settings: Mapping[str, str], devices: Sequence[str]) -> None:
    written = (f"echo {value} >/proc/sys/{name}" for name, value in settings.items())
    _run(_inside(space, "sh", "-ec", "\n".join([*written, *devices])))


def _inside(space: str, *argv: str) -> list[str]:
    return ["nsenter", f"--net={SPACES / space}", *argv]


def _batch(tool: str, space: str, lines: Iterable[str]) -> None:
    _run([tool, "-netns", space, "-batch", "-"], lines)


def _run(argv: list[str], lines: Iterable[str] = (), timeout: float | None = None) -> str:
    text = "".join(f"{line}\n" for line in lines)
    return commands.output(argv, text, timeout=timeout)
