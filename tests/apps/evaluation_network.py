"""Three machines at a switch, in namespaces of this process's own; then ``adon evaluate`` between them.

To be run inside ``unshare --net --pid --mount``: everything ends with the process.  What is sent *to* a
machine is limited (TBF at the switch), so that the right answers are known::

    user ---+--- one   50 Mbit/s
            +--- two   20 Mbit/s
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

RATES = {"one": "50mbit", "two": "20mbit", "user": "100mbit"}
ADDRESSES = {name: f"10.9.0.{number}" for number, name in enumerate(RATES, start=1)}


def run(*argv: str) -> None:
    subprocess.run(argv, check=True, capture_output=True)


@contextmanager
def machine(name: str, folder: Path) -> Iterator[None]:
    """A network namespace that a sleeping process keeps; its pid is in the folder."""
    with subprocess.Popen(
        ["unshare", "--net", "sh", "-c", "echo; exec sleep 600"], stdout=subprocess.PIPE
    ) as keeper:
        assert keeper.stdout is not None
        keeper.stdout.readline()  # the namespace is there once it has spoken
        (folder / name).write_text(str(keeper.pid))
        within = ("nsenter", f"--net=/proc/{keeper.pid}/ns/net")
        try:
            run(
                "ip",
                "link",
                "add",
                f"sw-{name}",
                "type",
                "veth",
                "peer",
                "name",
                "eth0",
                "netns",
                str(keeper.pid),
            )
            run("ip", "link", "set", f"sw-{name}", "master", "switch", "up")
            rate = ("rate", RATES[name], "burst", "32kb", "latency", "50ms")
            run("tc", "qdisc", "add", "dev", f"sw-{name}", "root", "tbf", *rate)
            run(*within, "ip", "address", "add", f"{ADDRESSES[name]}/24", "dev", "eth0")
            run(*within, "ip", "link", "set", "eth0", "up")
            run(*within, "ip", "link", "set", "lo", "up")
            yield
        finally:
            keeper.kill()


def main() -> int:
    folder, out = Path(sys.argv[1]), sys.argv[2]
    run("ip", "link", "add", "switch", "type", "bridge")
    run("ip", "link", "set", "switch", "up")
    listed = "\n".join(f"  - {{name: {name}, address: {its}}}" for name, its in ADDRESSES.items())
    (folder / "instances.yaml").write_text(f"instances:\n{listed}\n")
    at = folder / "at"
    at.write_text(f'#!/bin/sh\npid=$(cat {folder}/"$1"); shift\nexec nsenter --net=/proc/$pid/ns/net "$@"\n')
    at.chmod(0o755)
    with ExitStack() as stack:
        for name in RATES:
            stack.enter_context(machine(name, folder))
        argv = [sys.executable, "-m", "apps.cli", "evaluate", "run", *sys.argv[3:]]
        argv += ["--instances", str(folder / "instances.yaml"), "--out", out, "--reach", f"{at} {{name}}"]
        return subprocess.run(argv, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
