"""Two hundred people who look at the dashboard, and what that costs: processor, memory, open files.

Two ways in turn, each for a while, while the controller decides ten times a second:

- *streams*: event streams of the API (server-sent events), as a program listens to them;
- *polling*: open pages of the dashboard, of forty people who have a session each.  What a page asks while it
  is open, and flows move, is recorded once in a browser (:func:`benchmarks.web_pages.recorded`), and asked
  again by so many at its pace, each with what it was answered last (:class:`benchmarks.open_pages.OpenPage`).

Memory is the web process's resident set at the start, after a while, and at the end.  Bounds: less than one
processor, and at the end no more than a twentieth above what it was after a while.
"""

from __future__ import annotations

import asyncio
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from benchmarks.filled.filling import FLOWS, VALUES, fill
from benchmarks.open_pages import OpenPage, session
from benchmarks.summary import quantile, table
from benchmarks.web_load import Asker
from benchmarks.web_operations import Api
from benchmarks.web_pages import Asked, recorded
from benchmarks.web_scene import Deciding, Scene, scene

DASHBOARDS = 200
SECONDS = 120.0
SETTLED = 0.25
"""The share of that after which memory is looked at for the second time."""
RECORD_S = 15.0
CPU_BOUND, GROWTH_BOUND = 1.0, 0.05
SHOWN = {"/": 60, "/flows": 60, "/flows/<id>": 40, "/network": 20, "/alarms": 10, "/mesh": 10}
"""How many look at which page."""


def run(folder: Path, seed: int, flows: int = FLOWS, values: int = VALUES) -> dict[str, Any]:
    """The benchmark: processors, MiB, open files."""
    with scene(folder, seed, partial(fill, seed=seed, flows=flows, values=values)) as playing:
        tokens = playing.filled.tokens
        api = Api(playing.url, tokens[0])
        with playing.unobserved():
            flow = api.get("/flows?state=active")["items"][0]["id"]
        deciding = Deciding(playing, random.Random(seed))
        seen = _recorded(playing, deciding, flow)
        found = {
            "nobody": _while(playing, deciding, _nobody()),
            "streams": _while(playing, deciding, _streams(playing.url, tokens)),
            "polling": _while(playing, deciding, _polling(playing.url, seen, tokens)),
        }
    return {"ways": found, "load": list(os.getloadavg())}


def _recorded(playing: Scene, deciding: Deciding, flow: str) -> dict[str, Asked]:
    """What each page asks while a flow moves; so its own callbacks for what is new are among it."""
    ended = threading.Event()

    def decide() -> None:
        while not ended.is_set():
            deciding.for_seconds(1.0)

    decisions = threading.Thread(target=decide)
    decisions.start()
    try:
        token = playing.filled.tokens[0]
        return {page: recorded(playing.url, token, page.replace("<id>", flow), RECORD_S) for page in SHOWN}
    finally:
        ended.set()
        decisions.join()


def _while(playing: Scene, deciding: Deciding, what: Any) -> dict[str, Any]:
    """What processes use while something goes on."""
    web = playing.processes["web"]
    before, begun = playing.used(), time.monotonic()
    memory = [_mib(web)]

    async def both() -> Any:
        decisions = asyncio.create_task(asyncio.to_thread(deciding.for_seconds, SECONDS))
        task = asyncio.create_task(what)
        await asyncio.sleep(SECONDS * SETTLED)
        memory.append(_mib(web))
        took = await decisions
        memory.append(_mib(web))
        files = web.num_fds()
        task.cancel()
        (told,) = await asyncio.gather(task, return_exceptions=True)
        return took, files, told if isinstance(told, dict) else {}

    took, files, told = asyncio.run(both())
    seconds = time.monotonic() - begun
    shares = {name: (used - before[name]) / seconds for name, used in playing.used().items()}
    p99 = quantile(sorted(took["sent"]), 0.99)
    return {"shares": shares, "mib": memory, "files": files, "decision p99 ms": p99, **told}


def _mib(process: psutil.Process) -> float:
    return float(process.memory_info().rss) / 2**20


async def _nobody() -> dict[str, Any]:
    await _forever()
    return {}


async def _forever() -> None:
    """Until this is cancelled, which is an end like any other: what was counted is told then."""
    with suppress(asyncio.CancelledError):
        await asyncio.Event().wait()


async def _streams(url: str, tokens: Sequence[str]) -> dict[str, Any]:
    heard = [0] * DASHBOARDS
    asker = Asker(url)

    async def listen(number: int) -> None:
        async for piece in asker.stream("/api/v1/events", tokens[number % len(tokens)]):
            heard[number] += piece.count(b"\nevent:")

    listeners = [asyncio.create_task(listen(number)) for number in range(DASHBOARDS)]
    await _forever()
    alive = sum(not one.done() for one in listeners)
    for one in listeners:
        one.cancel()
    await asyncio.gather(*listeners, return_exceptions=True)
    return {"alive": alive, "answers": sum(heard), "failed": DASHBOARDS - alive}


async def _polling(url: str, seen: Mapping[str, Asked], tokens: Sequence[str]) -> dict[str, Any]:
    asker, times, answered = Asker(url), [], Counter[int]()
    cookies = [session(url, token) for token in tokens]

    async def look(asked: Asked, cookie: str, begin: float) -> None:
        page = OpenPage(asker, cookie)
        await asyncio.sleep(begin)
        pause = asked.seconds / max(1, len(asked.questions))
        while True:
            for question in asked.questions:
                due = time.monotonic()
                answered[await page.ask(question)] += 1
                times.append((time.monotonic() - due) * 1e3)
                await asyncio.sleep(max(0.0, pause - (time.monotonic() - due)))

    pages = [seen[page] for page, many in SHOWN.items() for _ in range(many)]
    looking = [
        asyncio.create_task(look(asked, cookies[number % len(cookies)], asked.seconds * number / len(pages)))
        for number, asked in enumerate(pages)
        if asked.questions
    ]
    await _forever()
    alive = sum(not one.done() for one in looking)
    for one in looking:
        one.cancel()
    await asyncio.gather(*looking, return_exceptions=True)
    asker.close()
    p99 = quantile(sorted(times), 0.99) if times else 0.0
    failed = sum(many for status, many in answered.items() if status not in (200, 204, 304))
    unchanged = sum(answered[status] for status in (204, 304))
    told = {"alive": alive, "answers": len(times), "unchanged": unchanged, "failed": failed}
    return {**told, "answer p99 ms": p99}


def passed(results: Mapping[str, Any]) -> bool:
    """Whether two hundred cost less than a processor, and memory stays."""
    ways = [one for name, one in results["ways"].items() if name != "nobody"]
    return all(
        one["shares"]["web"] < CPU_BOUND and growth(one) <= GROWTH_BOUND and not one["failed"] for one in ways
    )


def growth(way: Mapping[str, Any]) -> float:
    """By what share memory has grown since it had settled."""
    _, settled, late = way["mib"]
    return float(late / settled - 1)


def report(results: Mapping[str, Any]) -> str:
    """The tables for people."""
    head = ["200 dashboards", "web: processors", "controller", "MiB at start, settled, late", "growth"]
    rows = [[*head, "files open", "alive", "answers or events", "unchanged", "failed", "decision p99 ms"]]
    for name, one in results["ways"].items():
        memory = " ".join(f"{mib:.0f}" for mib in one["mib"])
        shares = [f"{one['shares'][which]:.2f}" for which in ("web", "controller")]
        told = [str(one.get(key, "")) for key in ("alive", "answers", "unchanged", "failed")]
        growing = f"{growth(one):+.1%}"
        rows.append(
            [name, *shares, memory, growing, str(one["files"]), *told, f"{one['decision p99 ms']:.1f}"]
        )
    return f"{table(rows)}\n\nload average {results['load'][0]:.1f}"
