"""Read and keep the results of 500 measurement points with four tests each.

Three ways: plain HTTP with connections kept open; plain HTTP with a connection per request; a fresh TLS
connection per request (what stock pScheduler offers: no keep-alive, no session is resumed).  A round asks
each point what ran (one request), reads four results (four requests) and appends the values to an archive
in SQLite; the first round also reads each point's clock.  The points are stand-ins in processes of their
own (:mod:`benchmarks.polling_points`), so that their memory does not count.  The reader runs in a process
of its own too, and its peak resident memory is the kernel's figure.

Yardstick, in the same run: the same requests by ``http.client`` with as many threads, answers read and
thrown away.
"""

from __future__ import annotations

import http.client
import json
import resource
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.polling_points import TASKS
from benchmarks.summary import Summary, table

POINTS = 500
PROCESSES = 2
THREADS = 16
ROUNDS = 5
BOUNDS_S = {"plain, keep-alive": 10.0, "plain, close": 10.0, "fresh TLS": 30.0}
BOUND_MIB = 250.0
_WAYS = {
    "plain, keep-alive": ("keep-alive", False),
    "plain, close": ("close", False),
    "fresh TLS": ("close", True),
}


def run(folder: Path, seed: int) -> dict[str, Any]:
    """All ways; seconds per round, MiB, requests.  Nothing here is drawn by chance: the seed is only kept."""
    from measurement.point.certificate import ensure

    certificate, key = ensure(folder, ["127.0.0.1"])
    ways = {}
    for number, (name, (connection, tls)) in enumerate(_WAYS.items()):
        inside = folder / f"way-{number}"
        inside.mkdir()
        with _points(connection, (str(certificate), str(key)) if tls else ()) as (ports, counts):
            asked = {"ports": ports, "certificate": str(certificate) if tls else None, "folder": str(inside)}
            found = _in_a_process(asked)
        bare = found["bare_requests"]
        ours = {
            "fleet_requests": counts["requests"] - bare,
            "fleet_connections": counts["connections"] - (bare if connection == "close" else POINTS * ROUNDS),
        }
        ways[name] = {**found, **counts, **ours, "bound_s": BOUNDS_S[name]}
    versions = {
        "requests": version("requests"),
        "urllib3": version("urllib3"),
        "openssl": ssl.OPENSSL_VERSION,
    }
    setting = {"points": POINTS, "tests": len(TASKS), "threads": THREADS, "rounds": ROUNDS, "seed": seed}
    return {"ways": ways, "setting": setting, "versions": versions}


def passed(results: Mapping[str, Any]) -> bool:
    """Whether every way kept its bounds: the slowest round, and the peak memory."""
    ways = results["ways"].values()
    return all(way["round_s"]["largest"] <= way["bound_s"] and way["peak_mib"] <= BOUND_MIB for way in ways)


def report(results: Mapping[str, Any]) -> str:
    """The table for people."""
    head = ["way", "median s", "largest s", "bound s", "spread", "bare http.client s", "results/s"]
    rows = [[*head, "requests per result", "connections per request", "peak MiB"]]
    for name, way in results["ways"].items():
        seconds = way["round_s"]
        times = [seconds["median"], seconds["largest"], way["bound_s"], seconds["spread"]]
        rates = [way["bare_s"]["median"], way["results"] / sum(way["all_s"])]
        shares = [
            way["fleet_requests"] / way["results"],
            way["fleet_connections"] / way["fleet_requests"],
            way["peak_mib"],
        ]
        cells = [f"{value:.2f}" for value in [*times, *rates]]
        rows.append([name, *cells, *(f"{value:.3g}" for value in shares)])
    setting = results["setting"]
    return table(rows) + "\n\n{points} points, {tests} tests each, {threads} threads, {rounds} rounds".format(
        **setting
    )


@contextmanager
def _points(connection: str, certificate: Sequence[str]) -> Iterator[tuple[list[int], dict[str, int]]]:
    """Running stand-ins; the counts are there when they have ended."""
    command = [sys.executable, "-m", "benchmarks.polling_points"]
    command += [str(POINTS // PROCESSES), connection, *certificate]
    counts = {"connections": 0, "requests": 0}
    with ExitStack() as stack:
        processes = [
            stack.enter_context(
                subprocess.Popen(
                    ["setpriv", "--pdeathsig", "KILL", *command],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            for _ in range(PROCESSES)
        ]
        ports = []
        for process in processes:
            assert process.stdout is not None
            ports += json.loads(process.stdout.readline())
        yield ports, counts
        for process in processes:
            told = json.loads(process.communicate()[0])
            for name in counts:
                counts[name] += told[name]


def _in_a_process(asked: Mapping[str, Any]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.polling"],
        input=json.dumps(asked),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _measure(asked: Mapping[str, Any]) -> dict[str, Any]:
    """In the reader's process: the rounds, then the yardstick."""
    rounds, results = _fleet_rounds(asked["ports"], asked["certificate"], Path(asked["folder"]))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    bare = [_bare_round(asked["ports"], asked["certificate"]) for _ in range(ROUNDS)]
    return {
        "round_s": asdict(Summary.of([[each] for each in rounds])),
        "all_s": rounds,
        "bare_s": asdict(Summary.of([[each] for each in bare])),
        "results": results,
        "bare_requests": len(asked["ports"]) * (1 + len(TASKS)) * ROUNDS,
        "peak_mib": peak,
    }


def _fleet_rounds(ports: Sequence[int], certificate: str | None, folder: Path) -> tuple[list[float], int]:
    from measurement.archive import Archive
    from measurement.fleet import Fleet, Host
    from measurement.model import Measurement
    from measurement.pscheduler.client import PSchedulerClient

    scheme = "http" if certificate is None else "https"
    verify = certificate if certificate is not None else True
    hosts = [
        Host(PSchedulerClient(f"{scheme}://127.0.0.1:{port}", verify), _watched(number))
        for number, port in enumerate(ports)
    ]
    rounds, kept = [], []
    with Archive(folder / "measurements.db") as archive:

        def take(values: Sequence[object]) -> None:
            good = [value for value in values if isinstance(value, Measurement)]
            kept.append(archive.append(good).new)

        fleet = Fleet(hosts, take, since=time.time() - 60, threads=THREADS)
        for _ in range(ROUNDS):
            rounds.append(_timed(lambda: _all_well(fleet.poll().errors)))
    assert sum(kept) == len(ports) * len(TASKS) * ROUNDS, f"{sum(kept)} results"
    return rounds, sum(kept)


def _watched(number: int) -> list[Any]:
    from measurement.fleet import Watched
    from measurement.model import Metric, PathKey
    from measurement.poller import PathTest
    from measurement.pscheduler import specs
    from measurement.pscheduler.specs import PostedTask

    ends = specs.Ends("192.0.2.1", "192.0.2.2", "a.example.net", "b.example.net")
    key = PathKey(f"path-{number}", f"site-{number}", "collector")
    tests = {
        "throughput": (specs.throughput(ends, 10), Metric.THROUGHPUT),
        "rtt": (specs.rtt(ends, 10), Metric.RTT),
        "latency": (specs.latency(ends, 600, 0.01), Metric.ONE_WAY_DELAY),
        "udp": (specs.throughput(ends, 10, udp_bandwidth=10_000_000), Metric.JITTER),
    }
    return [
        Watched(PostedTask(TASKS[name], "", ""), PathTest(key, request, (metric,)))
        for name, (request, metric) in tests.items()
    ]


def _all_well(errors: Sequence[Exception]) -> None:
    assert not errors, errors[0]


def _bare_round(ports: Sequence[int], certificate: str | None) -> float:
    context = None if certificate is None else ssl.create_default_context(cafile=certificate)
    paths = ["/pscheduler/schedule?start=a&end=b"]
    paths += [f"/pscheduler/tasks/{task}/runs/x/result" for task in TASKS.values()]

    def read(port: int) -> None:
        if context is None:
            connection = http.client.HTTPConnection("127.0.0.1", port)
        else:
            connection = http.client.HTTPSConnection("127.0.0.1", port, context=context)
        for path in paths:
            connection.request("GET", path)
            json.loads(connection.getresponse().read())
        connection.close()

    def everything() -> None:
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(read, ports))

    return _timed(everything)


def _timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


if __name__ == "__main__":
    print(json.dumps(_measure(json.load(sys.stdin))))
