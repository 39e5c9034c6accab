"""Which server to put under the REST API: the same Flask application and event streams under each.

Per server, all of them in turns, in rounds:

- *GET*: a prepared JSON answer of 2 kB made by Flask, 32 connections that ask as fast as they are answered;
- *streams*: 200 event streams, two events a second each: the share of a processor the server takes, its
  resident memory, how many streams live, and what a GET takes meanwhile;
- *slow*: 300 clients that have sent half a request, and whether a GET is answered beside them.

The servers are installed from PyPI into an environment of their own, since ADON needs one of them only.
"""

from __future__ import annotations

import asyncio
import os
import resource
import socket
import statistics
import subprocess
import sys
import time
import venv
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from benchmarks.summary import quantile, table

ROUNDS = 5
CONNECTIONS = 32
GET_S = 3.0
STREAMS = 200
STREAMS_S = 4.0
SLOW = 300
PATIENCE_S = 10.0
PACKAGES = (
    *("flask", "cheroot", "waitress", "gunicorn", "uvicorn", "httptools", "a2wsgi", "hypercorn", "granian"),
)
APP = "benchmarks.web_servers_app"
REQUEST = b"GET /json HTTP/1.1\r\nHost: localhost\r\n\r\n"

CHEROOT = (
    "import sys; from cheroot import wsgi; from {app} import plain;"
    "wsgi.Server(('127.0.0.1', int(sys.argv[1])), plain, numthreads={threads}).start()"
)
COMMANDS: dict[str, tuple[str, ...]] = {
    "cheroot, 16 threads": ("python", "-c", CHEROOT.format(app=APP, threads=16), "PORT"),
    "cheroot, 216 threads": ("python", "-c", CHEROOT.format(app=APP, threads=216), "PORT"),
    "waitress, 216 threads": ("waitress-serve", "--listen=127.0.0.1:PORT", "--threads=216", f"{APP}:plain"),
    "gunicorn gthread, 216": (
        *("gunicorn", "-b", "127.0.0.1:PORT", "-k", "gthread", "--threads", "216", "--log-level", "warning"),
        f"{APP}:plain",
    ),
    "uvicorn h11 + a2wsgi": (
        *("uvicorn", "--http", "h11", "--no-access-log", "--log-level", "warning", "--port", "PORT"),
        f"{APP}:adapted",
    ),
    "uvicorn h11 + bridge": (
        *("uvicorn", "--http", "h11", "--no-access-log", "--log-level", "warning", "--port", "PORT"),
        f"{APP}:bridged",
    ),
    "uvicorn httptools + bridge": (
        *("uvicorn", "--http", "httptools", "--no-access-log", "--log-level", "warning", "--port", "PORT"),
        f"{APP}:bridged",
    ),
    "hypercorn + bridge": (
        "hypercorn",
        "--bind",
        "127.0.0.1:PORT",
        "--log-level",
        "warning",
        f"{APP}:bridged",
    ),
    "granian + bridge": (
        *("granian", "--interface", "asgi", "--port", "PORT", "--log-level", "warning", f"{APP}:bridged"),
    ),
}


def run(folder: Path, seed: int) -> dict[str, Any]:
    """The benchmark; nothing in it is of chance."""
    del seed
    _soften_limit()
    programs = folder / "venv"
    venv.create(programs, with_pip=True)
    subprocess.run([programs / "bin" / "pip", "install", "-q", *PACKAGES], check=True)
    rounds: dict[str, list[dict[str, float]]] = {name: [] for name in COMMANDS}
    for _ in range(ROUNDS):
        for name, command in COMMANDS.items():
            rounds[name].append(_measured(programs / "bin", command))
    return {
        name: {what: [one[what] for one in found] for what in found[0]} for name, found in rounds.items()
    } | {"load": list(os.getloadavg())}


def _soften_limit() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))


def _measured(programs: Path, command: tuple[str, ...]) -> dict[str, float]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    words = [word.replace("PORT", str(port)) for word in command]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    process = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", programs / words[0], *words[1:]],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait(port)
        return asyncio.run(_all(port, process.pid))
    finally:
        for child in psutil.Process(process.pid).children(recursive=True):
            child.kill()
        process.kill()
        process.wait()


def _wait(port: int) -> None:
    deadline = time.monotonic() + 20
    while True:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1) as probe:
            probe.sendall(REQUEST)
            if probe.recv(64).startswith(b"HTTP/1.1 200"):
                return
        if time.monotonic() > deadline:
            raise TimeoutError("the server did not start")
        time.sleep(0.05)


async def _all(port: int, pid: int) -> dict[str, float]:
    times = await _gets(port, CONNECTIONS, GET_S)
    found = {
        "GET/s": len(times) / GET_S,
        "GET p50 ms": quantile(times, 0.5) * 1e3,
        "GET p99 ms": quantile(times, 0.99) * 1e3,
    }
    found |= await _streams(port, pid)
    return found | await _slow(port)


async def _gets(port: int, connections: int, seconds: float) -> list[float]:
    times: list[float] = []
    end = time.monotonic() + seconds

    async def ask() -> None:
        while time.monotonic() < end:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            with suppress(OSError, asyncio.IncompleteReadError):
                while time.monotonic() < end:
                    begun = time.monotonic()
                    await _get(reader, writer)
                    times.append(time.monotonic() - begun)
            writer.close()

    with suppress(TimeoutError):
        async with asyncio.timeout(seconds + PATIENCE_S), asyncio.TaskGroup() as group:
            for _ in range(connections):
                group.create_task(ask())
    return sorted(times) or [PATIENCE_S]


async def _get(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(REQUEST)
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = next(line for line in head.split(b"\r\n") if line.startswith(b"content-length:"))
    await reader.readexactly(int(length.split(b":")[1]))


async def _streams(port: int, pid: int) -> dict[str, float]:
    opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(STREAMS)]
    heard = [0] * STREAMS

    async def listen(number: int) -> None:
        reader, writer = opened[number]
        writer.write(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        with suppress(OSError):
            while piece := await reader.read(65536):
                heard[number] += piece.count(b"event: flow")

    tasks = [asyncio.create_task(listen(number)) for number in range(STREAMS)]
    await asyncio.sleep(1.5)
    before, begun = _used(pid), time.monotonic()
    await asyncio.sleep(STREAMS_S)
    share = (_used(pid) - before) / (time.monotonic() - begun)
    times = await _gets(port, 1, 1.5)
    found = {
        "streams alive": float(sum(count >= 2 * STREAMS_S for count in heard)),
        "processor share": share,
        "MiB": sum(one.memory_info().rss for one in _family(pid)) / 2**20,
        "GET p99 ms beside": quantile(times, 0.99) * 1e3,
    }
    for task in tasks:
        task.cancel()
    for _, writer in opened:
        writer.close()
    await asyncio.gather(*tasks, return_exceptions=True)
    return found


async def _slow(port: int) -> dict[str, float]:
    """What a GET takes while many have sent half a request; the patience if it is not answered."""
    opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(SLOW)]
    for _, writer in opened:
        writer.write(b"GET /json HTTP/1.1\r\nHost: loc")
    await asyncio.sleep(0.5)
    took = PATIENCE_S
    with suppress(TimeoutError, OSError, asyncio.IncompleteReadError):
        async with asyncio.timeout(PATIENCE_S):
            begun = time.monotonic()
            await _get(*await asyncio.open_connection("127.0.0.1", port))
            took = time.monotonic() - begun
    for _, writer in opened:
        writer.close()
    return {"GET ms beside slow": took * 1e3}


def _family(pid: int) -> list[psutil.Process]:
    first = psutil.Process(pid)
    return [first, *first.children(recursive=True)]


def _used(pid: int) -> float:
    return sum(sum(one.cpu_times()[:2]) for one in _family(pid))


def report(results: Mapping[str, Any]) -> str:
    """The table for people: medians over the rounds."""
    servers = {name: found for name, found in results.items() if name != "load"}
    what = list(next(iter(servers.values())))
    rows = [["median of rounds", *what]]
    for name, found in servers.items():
        rows.append([name, *(f"{statistics.median(found[one]):.3g}" for one in what)])
    return f"{table(rows)}\n\nload average {results['load'][0]:.1f}"


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as made:
        print(report(run(Path(made), 1)))
    sys.exit(0)
