"""Two hosts with a long path between them, in namespaces that vanish with this process; real TCP over it.

``lab ANSWER CASES``: the first process of an isolated world (:mod:`mininet_topos.isolation`).  CASES is JSON,
a list of ``{"window": bytes, "streams": n, "enough": bits/s}``; ANSWER gets what iperf3 reached in each,
bits/s, and what ``ss`` and ``ip`` printed meanwhile.  Where that was not enough, it is measured again.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from tests.broker.tuning.delay import open_tun
from tests.undisturbed import undisturbed

RATE, DELAY, QUEUE = 60.6e6, 0.0165, 0.05
"""1:100 of the thesis's layer-2 path: 60.6 Mbit/s on the wire are 58 of TCP payload, RTT 33 ms."""

SECONDS, WARMING = 4, 2
NEAR, FAR = "10.99.0.1", "10.99.0.2"


def run(*words: str) -> str:
    """A command's output.

    :raises subprocess.CalledProcessError: if it fails.
    """
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=60).stdout


class Lab:
    """The path, with the far host's namespace held by a process of its own."""

    def __init__(self) -> None:
        self.holder = subprocess.Popen(["unshare", "--net", "sleep", "600"])
        near, far = open_tun("near0"), open_tun("far0")
        self._await_namespace()
        run("ip", "link", "set", "far0", "netns", str(self.holder.pid))
        for end, name, address in ((self.near, "near0", NEAR), (self.far, "far0", FAR)):
            end("ip", "address", "add", f"{address}/30", "dev", name)
            end("ip", "link", "set", name, "txqueuelen", "10000", "up")
            end("ip", "link", "set", "lo", "up")
            # What one run learnt of the path must not help the next.
            end("sysctl", "-w", "net.ipv4.tcp_no_metrics_save=1")
        relay = [sys.executable, "-m", "tests.broker.tuning.delay", str(near), str(far)]
        self.relay = subprocess.Popen([*relay, str(RATE), str(DELAY), str(QUEUE)], pass_fds=(near, far))
        os.close(near)
        os.close(far)

    def _await_namespace(self) -> None:
        own = Path("/proc/self/ns/net").readlink()
        for _ in range(500):
            if Path(f"/proc/{self.holder.pid}/ns/net").readlink() != own:
                return
            time.sleep(0.01)
        raise TimeoutError("the far namespace does not appear")

    def near(self, *words: str) -> str:
        """Run at the sender."""
        return run(*words)

    def far(self, *words: str) -> str:
        """Run at the receiver."""
        return run("nsenter", "--net", "--target", str(self.holder.pid), *words)

    def tune(self, window: int) -> None:
        """Buffers at both ends that allow a window of so many bytes: twice as much (tuning.window)."""
        for end in (self.near, self.far):
            end("sysctl", "-w", f"net.ipv4.tcp_rmem=4096 {min(131072, 2 * window)} {2 * window}")
            end("sysctl", "-w", f"net.ipv4.tcp_wmem=4096 16384 {2 * window}")

    def measure(self, streams: int) -> dict[str, Any]:
        """What iperf3 reaches, once slow start is over."""
        server = ["nsenter", "--net", "--target", str(self.holder.pid), "iperf3", "-s", "-1", "-B", FAR]
        with subprocess.Popen(server, stdout=subprocess.DEVNULL):
            self._await_server()
            client = ["iperf3", "-c", FAR, "-P", str(streams), "-t", str(SECONDS), "-O", str(WARMING), "-J"]
            sending = subprocess.Popen(client, stdout=subprocess.PIPE, text=True)
            time.sleep(WARMING + SECONDS / 2)
            printed = self.near("sh", "-c", "ss -tin; ip -d link; sysctl -a 2>/dev/null")
            report = json.loads(sending.communicate(timeout=60)[0])
        return {"rate": report["end"]["sum_received"]["bits_per_second"], "printed": printed}

    def _await_server(self) -> None:
        for _ in range(500):
            if f"{FAR}:5201" in self.far("ss", "-tln"):
                return
            time.sleep(0.02)
        raise TimeoutError("iperf3 does not listen")


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    answer, cases = Path(sys.argv[1]), json.loads(sys.argv[2])
    lab = Lab()
    found = []
    for case in cases:
        lab.tune(case["window"])
        measure = partial(lab.measure, case["streams"])
        found.append(
            case | undisturbed(measure, lambda reached, least=case["enough"]: reached["rate"] > least)
        )
    round_trip = lab.near("ping", "-c", "5", "-i", "0.2", "-q", FAR)
    answer.write_text(json.dumps({"cases": found, "ping": round_trip}))


if __name__ == "__main__":
    main()
