"""How soon and how reliably each detector finds a drop, and how often it cries wolf.

Generated series (:mod:`measurement.anomaly.generate`), independent normal noise unless said otherwise; σ is
the deviation before any change.  Two kinds of runs:

- *drops*: the level falls by 3, 4 or 6 σ at a random place from the 61st to the 100th sample, and stays;
  alone, or with the variance growing five-fold at the same sample.  The delay counts samples from the drop
  on, the one that is found being included; a drop not found within 40 samples is missed.
- *false alarms*: 1000 samples in which the level never steps: quiet, with one jump of the variance at a
  random place from the 101st to the 900th sample, spikes, drifts, diurnal cycles, and noise of other kinds.

The live detector was tuned on seeds below 50 000; what is reported runs on seeds from a million on.
APD looks ahead, so its delay is not one that anybody watching could have; the static threshold knows the
level, and lies 3 σ below it.
"""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.summary import quantile, table
from measurement.anomaly import generate
from measurement.anomaly.cusum import Cusum
from measurement.anomaly.generate import Diurnal, Drift, Noise, Shape, Spread, Step
from measurement.anomaly.holtwinters import HoltWinters
from measurement.anomaly.live import LevelShift, Settings
from measurement.anomaly.model import Detector, Direction, Finding, Sample, Stage, replay
from measurement.anomaly.plateau import SPD, replay_apd
from measurement.anomaly.plateau import Settings as PlateauSettings
from measurement.anomaly.threshold import Threshold

DROPS, QUIET, OTHERS = 400, 400, 100
LENGTH, FOLLOWED, WITHIN = 1000, 40, 12
LEVEL, SIGMA = 1000.0, 50.0
DETECTION_BOUND, FALSE_ALARM_BOUND = 0.95, 0.1
FIVE_FOLD = math.sqrt(5)
ROUNDS, STEPS = 5, 4000
DRAWN_NONE = 0.005
COLOURS = {
    "static": "#9d9da1",
    "SPD": "#e45756",
    "APD": "#f2a900",
    "CUSUM": "#b279a2",
    "Holt-Winters": "#54a24b",
    "live": "#1f5fbf",
}

Replay = Callable[[Sequence[Sample]], list[tuple[int, Finding]]]
Shapes = Callable[[random.Random], list[Shape]]


def with_detector(detector: Detector[Any]) -> Replay:
    """A whole series through a detector that sees no future."""
    return lambda series: replay(detector, series)


DETECTORS: Mapping[str, Replay] = {
    "static 850": with_detector(Threshold(low=LEVEL - 3 * SIGMA)),
    "SPD": with_detector(SPD()),
    "APD (looks ahead)": replay_apd,
    "CUSUM": with_detector(Cusum()),
    "Holt-Winters": with_detector(HoltWinters()),
    "live": with_detector(LevelShift()),
}
CHANCES: Mapping[str, tuple[int, Shapes, Noise]] = {
    "quiet": (QUIET, lambda _: [], generate.gaussian),
    "variance x5": (QUIET, lambda chance: [Spread(chance.randint(100, 899), FIVE_FOLD)], generate.gaussian),
    "deviation x5": (QUIET, lambda chance: [Spread(chance.randint(100, 899), 5.0)], generate.gaussian),
    "2 % spikes": (OTHERS, lambda chance: [*generate.spikes(chance, LENGTH, 0.02, -10.0)], generate.gaussian),
    "drift 0.01": (OTHERS, lambda _: [Drift(100, -0.01)], generate.gaussian),
    "drift 0.05": (OTHERS, lambda _: [Drift(100, -0.05)], generate.gaussian),
    "diurnal 2": (OTHERS, lambda _: [Diurnal(288, 2.0)], generate.gaussian),
    "diurnal 4": (OTHERS, lambda _: [Diurnal(288, 4.0)], generate.gaussian),
    "skewed": (OTHERS, lambda _: [], generate.skewed),
    "correlated": (OTHERS, lambda _: [], generate.correlated),
}


def run(folder: Path, seed: int) -> dict[str, Any]:  # noqa: ARG001 - nothing is written
    """The benchmark."""
    first = 1_000_000 * (seed + 1)
    return {
        "drops": {
            f"{by} σ{note}": {name: _drops(found, by, factor, first) for name, found in DETECTORS.items()}
            for factor, note in ((1.0, ""), (FIVE_FOLD, ", variance x5"))
            for by in (3, 4, 6)
        },
        "false_alarms": {
            name: {chances: _false_alarms(found, first, *CHANCES[chances]) for chances in CHANCES}
            for name, found in DETECTORS.items()
        },
        "curves": {
            name: [_operating_point(found, first) for found in row] for name, row in _curves().items()
        },
        "rtt": _round_trips(first),
        "microseconds": _costs(first),
    }


def passed(results: Mapping[str, Any]) -> bool:
    """Whether the live detector keeps what is asked of it, at either reading of a five-fold jump."""
    alarms = results["false_alarms"]["live"]
    return results["drops"]["4 σ"]["live"]["within"] >= DETECTION_BOUND and all(
        alarms[jump]["rate"] <= FALSE_ALARM_BOUND for jump in ("variance x5", "deviation x5")
    )


def _series(
    seed: int, length: int, shapes: Sequence[Shape], noise: Noise = generate.gaussian
) -> list[Sample]:
    return generate.series(seed, length, shapes, level=LEVEL, deviation=SIGMA, noise=noise)


def _drops(found: Replay, by: int, factor: float, first: int) -> dict[str, Any]:
    delays, early = [], 0
    for seed in range(first, first + DROPS):
        at = random.Random(-seed).randint(60, 99)
        findings = found(_series(seed, at + FOLLOWED, [Spread(at, factor), Step(at, -by)]))
        alarms = [(index, finding) for index, finding in findings if finding.stage is Stage.FOUND]
        early += sum(index < at for index, _ in alarms)
        down = [index for index, finding in alarms if index >= at and finding.direction is Direction.DOWN]
        delays += [down[0] - at + 1] if down else []
    return {
        "count": DROPS,
        "within": sum(delay <= WITHIN for delay in delays) / DROPS,
        "missed": 1 - len(delays) / DROPS,
        "median": statistics.median(delays) if delays else None,
        "p95": quantile(sorted(delays), 0.95) if delays else None,
        "early": early,
        "curve": [sum(delay <= most for delay in delays) / DROPS for most in range(1, FOLLOWED + 1)],
    }


def _false_alarms(found: Replay, first: int, count: int, shapes: Shapes, noise: Noise) -> dict[str, Any]:
    alarms = 0
    for seed in range(first, first + count):
        findings = found(_series(seed, LENGTH, shapes(random.Random(-seed)), noise))
        alarms += sum(finding.stage is Stage.FOUND for _, finding in findings)
    return {"count": count, "alarms": alarms, "rate": alarms / count, "upper": _upper(alarms) / count}


def _upper(alarms: int) -> float:
    # 95 % upper bound of a Poisson mean; 3 for none, else Wilson and Hilferty's approximation.
    if alarms == 0:
        return 3.0
    seen = alarms + 1
    return seen * (1 - 1 / (9 * seen) + 1.645 / (3 * math.sqrt(seen))) ** 3


def _curves() -> dict[str, list[tuple[float, Replay]]]:
    live, plain = Settings(), PlateauSettings()
    return {
        "live (score)": [
            (score, with_detector(LevelShift(replace(live, score=score))))
            for score in (5.0, 6.5, 8.0, 9.5, 11.0, 12.5)
        ],
        "CUSUM (limit)": [
            (limit, with_detector(Cusum(limit=limit))) for limit in (3.0, 5.0, 8.0, 12.0, 18.0, 25.0)
        ],
        "SPD (sensitivity)": [
            (most, with_detector(SPD(replace(plain, sensitivity=most)))) for most in (1.5, 2.0, 2.5, 3.0)
        ],
    }


def _operating_point(setting: tuple[float, Replay], first: int) -> dict[str, float]:
    value, found = setting
    _, shapes, noise = CHANCES["variance x5"]
    detected = _drops(found, 4, 1.0, first)["within"]
    return {
        "setting": value,
        "within": detected,
        "rate": _false_alarms(found, first, OTHERS, shapes, noise)["rate"],
    }


def _round_trips(first: int) -> dict[str, Any]:
    """Round trips of 1 ms, deviation 0.2 ms, that jump to 9 ms: how many samples until the alarm."""
    delays = []
    for seed in range(first, first + DROPS):
        series = generate.series(seed, 80, [Step(40, 40.0)], level=1e-3, deviation=2e-4)
        delays.append(DETECTORS["live"](series)[0][0] - 39)
    return {
        "count": DROPS,
        "shortest": min(delays),
        "median": statistics.median(delays),
        "longest": max(delays),
    }


def _costs(first: int) -> dict[str, dict[str, float]]:
    """Microseconds for one sample, beside a yardstick: the mean of the last 44 values, anew for each."""
    series = _series(first, STEPS, [])
    rounds: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        for name, found in {**DETECTORS, "yardstick": _plain_mean}.items():
            begun = time.perf_counter()
            found(series)
            rounds.setdefault(name, []).append((time.perf_counter() - begun) / STEPS * 1e6)
    return {
        name: {"median": statistics.median(each), "smallest": min(each), "largest": max(each)}
        for name, each in rounds.items()
    }


def _plain_mean(series: Sequence[Sample]) -> list[tuple[int, Finding]]:
    last: tuple[float, ...] = ()
    for sample in series:
        last = (*last[-43:], sample.value)
        sum(last) / len(last)
    return []


def report(results: Mapping[str, Any]) -> str:
    """The tables for people."""
    parts = [f"Drops found within {WITHIN} samples; median and 95 % delay; missed in {FOLLOWED}\n"]
    head = ["detector", *results["drops"]]
    parts.append(table([head, *([name, *_drop_cells(results, name)] for name in DETECTORS)]))
    parts.append(f"\nFalse alarms per series of {LENGTH} samples (95 % upper bound)\n")
    parts.append(
        table([["detector", *CHANCES], *([name, *_alarm_cells(results, name)] for name in DETECTORS)])
    )
    parts.append(
        f"\n4 σ drops within {WITHIN} samples against false alarms (variance x5), as the setting varies\n"
    )
    parts.append(table([["setting", "found", "false alarms"], *_curve_rows(results)]))
    rtt = results["rtt"]
    parts.append(
        f"\nRTT 1 ms (σ 0.2 ms) to 9 ms, live: {rtt['shortest']} to {rtt['longest']} samples, "
        f"median {rtt['median']:g}, of {rtt['count']} series\n"
    )
    parts.append(
        table([["µs per sample", "median", "smallest", "largest", "x yardstick"], *_cost_rows(results)])
    )
    return "\n".join(parts)


def _drop_cells(results: Mapping[str, Any], name: str) -> list[str]:
    return [_drop_cell(each[name]) for each in results["drops"].values()]


def _drop_cell(drops: Mapping[str, Any]) -> str:
    delays = "-" if drops["median"] is None else f"{drops['median']:g}/{drops['p95']:.0f}"
    return f"{drops['within']:.1%} {delays} {drops['missed']:.1%}"


def _alarm_cells(results: Mapping[str, Any], name: str) -> list[str]:
    return [f"{each['rate']:.2f} ({each['upper']:.2f})" for each in results["false_alarms"][name].values()]


def _curve_rows(results: Mapping[str, Any]) -> list[list[str]]:
    return [
        [f"{name} {point['setting']:g}", f"{point['within']:.1%}", f"{point['rate']:.2f}"]
        for name, points in results["curves"].items()
        for point in points
    ]


def _cost_rows(results: Mapping[str, Any]) -> list[list[str]]:
    costs = results["microseconds"]
    yardstick = costs["yardstick"]["median"]
    return [
        [
            name,
            *(f"{each[key]:.1f}" for key in ("median", "smallest", "largest")),
            f"{each['median'] / yardstick:.1f}",
        ]
        for name, each in costs.items()
    ]


def chart(results: Mapping[str, Any], path: Path) -> None:
    """Delay curves of a 4 σ drop, and what each setting pays in false alarms for it, as a picture."""
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    titles = (
        "Drop of 4 σ: share found within n samples",
        "Found within 12 against false alarms (variance x5)",
    )
    figure = make_subplots(rows=1, cols=2, subplot_titles=titles, horizontal_spacing=0.1)
    for name, each in results["drops"]["4 σ"].items():
        line = {"color": COLOURS[name.split()[0]], "width": 4 if name == "live" else 2}
        samples = list(range(1, FOLLOWED + 1))
        curve = go.Scatter(x=samples, y=each["curve"], name=name, mode="lines", line=line)
        figure.add_trace(curve, row=1, col=1)
    for name, points in results["curves"].items():
        rates, shares = (
            [max(DRAWN_NONE, point["rate"]) for point in points],
            [point["within"] for point in points],
        )
        labels = [f"{point['setting']:g}" for point in points]
        row = go.Scatter(x=rates, y=shares, text=labels, name=name, mode="lines+markers+text")
        row.update(textposition="bottom center", line={"color": COLOURS[name.split()[0]], "dash": "dot"})
        figure.add_trace(row, row=1, col=2)
    figure.add_vline(x=WITHIN, line_dash="dash", line_width=1, row=1, col=1)
    figure.add_hline(y=DETECTION_BOUND, line_dash="dash", line_width=1)
    figure.add_vline(x=FALSE_ALARM_BOUND, line_dash="dash", line_width=1, row=1, col=2)
    figure.update_xaxes(title_text="samples since the drop", row=1, col=1)
    title = f"false alarms per 1000 samples (none: drawn at {DRAWN_NONE:g})"
    figure.update_xaxes(title_text=title, type="log", row=1, col=2)
    figure.update_yaxes(title_text="share of drops", range=[-0.02, 1.05], row=1, col=1)
    figure.update_yaxes(range=[0.45, 1.03], row=1, col=2)
    figure.update_layout(
        template="plotly_white", width=1200, height=480, legend={"orientation": "h", "y": -0.2}
    )
    figure.update_layout(margin={"t": 40, "b": 40})
    figure.write_image(path, scale=1.5)
