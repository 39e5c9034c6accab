"""The web side under load, and whether the controller minds: 10 000 flows, 1 000 000 values, 50 requests/s.

Rounds of two halves, idle and loaded, in an order that changes.  In both, one flow is moved about ten times a
second and timed (:class:`benchmarks.web_scene.Deciding`).  In the loaded half every GET of the API is asked
in turns at a steady rate by a process of its own (:mod:`benchmarks.web_load`), which is not niced; the
yardstick is ``/healthz``, which goes the same way and reads nothing.  The turns are mixed once, by the seed.

Bounds: the p99 of every operation below 100 ms; the median of the rounds' p99s of a decision, loaded, at most
1.5 times that when idle.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from benchmarks.filled.filling import FLOWS, VALUES, fill
from benchmarks.filled.lives import KINDS
from benchmarks.summary import quantile, table
from benchmarks.web_operations import LEFT_OUT, Api, Question, questions
from benchmarks.web_scene import Deciding, Scene, scene

ROUNDS = 5
HALF_S = 40.0
RATE = 50.0
BOUND_MS, BOUND_RATIO = 100.0, 1.5
YARDSTICK = "/healthz"
WARM_S = 4.0


def run(folder: Path, seed: int, flows: int = FLOWS, values: int = VALUES) -> dict[str, Any]:
    """The benchmark: milliseconds by operation, decisions by round, processor shares by process."""
    chance = random.Random(seed)
    with scene(folder, seed, partial(fill, seed=seed, flows=flows, values=values)) as playing:
        api = Api(playing.url, playing.filled.tokens[0])
        with playing.unobserved():
            asked = questions(api, chance, _backtest(api))
        chance.shuffle(asked)  # the largest pages stand one after another in the list
        deciding = Deciding(playing, chance)
        _loaded(playing, deciding, asked, chance, WARM_S)  # opens connections, fills caches
        rounds: dict[str, list[dict[str, Any]]] = {"idle": [], "loaded": []}
        for number in range(ROUNDS):
            for half in ("idle", "loaded") if number % 2 == 0 else ("loaded", "idle"):
                rounds[half].append(
                    _idle(playing, deciding)
                    if half == "idle"
                    else _loaded(playing, deciding, asked, chance, HALF_S)
                )
    return {
        "filled": {
            name: getattr(playing.filled, name) for name in ("flows", "decisions", "values", "bytes_held")
        },
        "operations": _by_operation(rounds["loaded"]),
        "decisions": {half: _decisions(found) for half, found in rounds.items()},
        "cpu": {half: _shares(found) for half, found in rounds.items()},
        "failed": [one for each in rounds["loaded"] for one in each["failed"]],
        "late": max(each["late"] for each in rounds["loaded"]),
        "load": list(os.getloadavg()),
    }


def _backtest(api: Api) -> str:
    """The id of a template tried on the last day; done when this returns."""
    kept = api.get(f"/templates/{KINDS[0]}")
    fields = ("name", "title", "description", "qspec", "weights", "tables", "selection", "cost", "priority")
    since = (datetime.now(UTC) - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    name = str(
        api.post("/template-backtests", {"template": {f: kept[f] for f in fields}, "since": since})["id"]
    )
    while (state := api.get(f"/template-backtests/{name}")["state"]) in ("waiting", "running"):
        time.sleep(0.5)
    if state != "done":
        raise RuntimeError(f"the backtest ended as {state}")
    return name


def _idle(playing: Scene, deciding: Deciding) -> dict[str, Any]:
    before, begun = playing.used(), time.monotonic()
    decisions = deciding.for_seconds(HALF_S)
    return {"decisions": decisions, "shares": _used(playing, before, begun)}


def _loaded(
    playing: Scene, deciding: Deciding, asked: Sequence[Question], chance: random.Random, seconds: float
) -> dict[str, Any]:
    plan = {
        "url": playing.url,
        "tokens": playing.filled.tokens,
        "rate": RATE,
        "seconds": seconds,
        "questions": [[one.name, [f"/api/v1{path}" for path in one.paths]] for one in asked],
        "offset": chance.randrange(len(asked)),
    }
    before, begun = playing.used(), time.monotonic()
    process = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", sys.executable, "-m", "benchmarks.web_load"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    # Read beside the decisions: its answer is larger than a pipe.
    answers: list[str] = []
    reader = threading.Thread(target=lambda: answers.append(process.communicate(json.dumps(plan))[0]))
    reader.start()
    try:
        decisions = deciding.for_seconds(seconds)
        shares = _used(playing, before, begun)
    finally:
        if sys.exc_info()[0] is not None:
            process.kill()
        reader.join()
    found: dict[str, Any] = json.loads(answers[0])
    shares["load generator"] = found["cpu"] / found["seconds"]
    return {**found, "decisions": decisions, "shares": shares}


def _used(playing: Scene, before: Mapping[str, float], begun: float) -> dict[str, float]:
    took = time.monotonic() - begun
    return {name: (used - before[name]) / took for name, used in playing.used().items()}


def _by_operation(rounds: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Count, p50, p99 and largest of all rounds together, and each round's median."""
    samples: dict[str, list[list[float]]] = defaultdict(list)
    for each in rounds:
        for name, took in each["milliseconds"].items():
            samples[name].append(sorted(took))
    found = {}
    for name, each in samples.items():
        whole = sorted(chain.from_iterable(each))
        found[name] = {
            "count": len(whole),
            "p50": quantile(whole, 0.5),
            "p99": quantile(whole, 0.99),
            "largest": whole[-1],
            "rounds": [quantile(took, 0.5) for took in each],
        }
    return found


def _decisions(rounds: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """p50 and p99 of each round, by how far the decision had come."""
    return {
        name: {
            "count": sum(len(each["decisions"][name]) for each in rounds),
            **{
                label: [quantile(sorted(each["decisions"][name]), share) for each in rounds]
                for label, share in (("p50", 0.5), ("p99", 0.99))
            },
        }
        for name in rounds[0]["decisions"]
    }


def _shares(rounds: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    return {name: statistics.median(each["shares"][name] for each in rounds) for name in rounds[0]["shares"]}


def ratio(results: Mapping[str, Any], name: str = "sent") -> float:
    """The median of the rounds' p99s when loaded, by that when idle."""
    idle, loaded = (statistics.median(results["decisions"][half][name]["p99"]) for half in ("idle", "loaded"))
    return loaded / idle


def slow(results: Mapping[str, Any]) -> list[str]:
    """The operations above the bound."""
    found = results["operations"].items()
    return sorted(name for name, one in found if one["p99"] >= BOUND_MS)


def passed(results: Mapping[str, Any]) -> bool:
    """Whether all operations and the decisions are quick enough, and all were answered."""
    return not slow(results) and not results["failed"] and ratio(results) <= BOUND_RATIO


def report(results: Mapping[str, Any]) -> str:
    """The tables for people."""
    filled, operations = results["filled"], results["operations"]
    yardstick = operations[YARDSTICK]["p50"]
    rows = [["GET, ms", "asked", "p50", "p99", "max", "medians of rounds", f"p50 x {YARDSTICK}"]]
    for name, one in sorted(operations.items(), key=lambda item: -item[1]["p99"]):
        figures = [f"{one[key]:.1f}" for key in ("p50", "p99", "largest")]
        medians = " ".join(f"{median:.1f}" for median in one["rounds"])
        rows.append([name, str(one["count"]), *figures, medians, f"{one['p50'] / yardstick:.1f}"])
    head = (
        f"{filled['flows']} flows, {filled['decisions']} decisions, {filled['values']} values, "
        f"{filled['bytes_held'] / 2**20:.0f} MiB; load average {results['load'][0]:.1f}"
    )
    return "\n\n".join(
        (
            head,
            table(rows),
            _decision_table(results),
            _cpu_table(results),
            _verdict(results),
            "\n".join(f"Not asked: {name}: {why}" for name, why in LEFT_OUT.items()),
        )
    )


def _decision_table(results: Mapping[str, Any]) -> str:
    rows = [["a decision, ms", "", "p50", "p99", "p99 of rounds", "median p99 x idle"]]
    for name in results["decisions"]["idle"]:
        for half in ("idle", "loaded"):
            one = results["decisions"][half][name]
            figures = [f"{statistics.median(one[key]):.2f}" for key in ("p50", "p99")]
            each = " ".join(f"{p99:.1f}" for p99 in one["p99"])
            rows.append(
                [name, half, *figures, each, f"{ratio(results, name):.2f}" if half == "loaded" else ""]
            )
    return table(rows)


def _cpu_table(results: Mapping[str, Any]) -> str:
    names = list(results["cpu"]["loaded"])
    rows = [["processors", *names]]
    for half in ("idle", "loaded"):
        rows.append([half, *(f"{results['cpu'][half].get(name, 0.0):.2f}" for name in names)])
    return table(rows)


def _verdict(results: Mapping[str, Any]) -> str:
    over, failed = slow(results), results["failed"]
    return (
        f"p99 of at least {BOUND_MS:g} ms: {', '.join(over) or 'none'}"
        f"\nNot answered with a success: {len(failed)} {sorted({tuple(one) for one in failed})[:5]}"
        f"\nDecisions when loaded: {ratio(results):.2f} of the idle p99, bound {BOUND_RATIO:g}"
        f"\nA request left at most {results['late']:.0f} ms late"
    )
