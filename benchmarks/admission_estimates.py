"""How long a transfer will take, told when it is admitted, beside how long it then took.

Three ways of telling, each from what the decision core knows at that time:

- *as decided*: its size over the throughput that the decision expected on the path;
- *others leave*: the same share to begin with, and those beside it end and leave it theirs
  (:mod:`adon.simulation.forecast`);
- *told*: the forecast in the decision (:mod:`adon.broker.forecasting.sharing`), in the simulator only; what
  a real controller tells about real transfers is measured by :mod:`benchmarks.foretold`.

In the simulator: every transfer of the workload suite under ours, those that began at once and those that
had waited in the queue apart.  Who asks later is unknown at admission and makes the truth longer:
*undisturbed* are the transfers on whose path nobody began while they ran, that were not moved, and during
which the network did not change.

On the testbed (real TCP, Open vSwitch): the transfers of :mod:`benchmarks.fluid_scenarios`, one round; they
begin without a controller, so all of them at once, and the path's rate is the configured one.  Needs root.

Bound: a median absolute error of what is told below 15 % in the simulator, of transfers that began at once
and of those that had waited.  On the testbed it is :mod:`benchmarks.foretold` that has one: here most
transfers are disturbed on purpose.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adon.broker.decision import Decision, Outcome
from adon.broker.effects import Effect, SaveDecision
from adon.broker.events import Event
from adon.simulation.brokered import Brokered
from adon.simulation.engine import Record, simulate
from adon.simulation.forecast import Job, finish
from adon.simulation.policy import View
from adon.simulation.workload import Workload
from benchmarks import fluid, workloads_suite
from benchmarks.fluid_scenarios import SCENARIOS, Carry, Scenario
from benchmarks.summary import table
from measurement.model import Metric

BOUND = 0.15
WAYS = ("as decided", "others leave", "told")


@dataclass(frozen=True, slots=True)
class Told:
    """What was told about one transfer when it was admitted, in seconds, by each way."""

    number: int
    at: float
    path: str
    queued: bool
    seconds: tuple[float, float, float | None]


class Telling(Brokered):
    """Ours, noting at each admission what can be told."""

    def __init__(self, workload: Workload) -> None:
        super().__init__(workload)
        self.told: dict[int, Told] = {}

    def _carry_out(self, effect: Effect, view: View) -> Sequence[Event]:
        following = super()._carry_out(effect, view)
        if isinstance(effect, SaveDecision) and effect.decision.outcome is Outcome.ADMIT:
            self._tell(effect.decision, view)
        return following

    def _tell(self, decision: Decision, view: View) -> None:
        flow = self.broker.flows.owner(decision.flow)
        record = next(one for one in decision.candidates if one.path == decision.path)
        value = next((m.value for m in record.metrics if m.metric == Metric.THROUGHPUT), None)
        if flow is None or value is None or value <= 0 or decision.path is None:
            return
        streams = self.broker.flows.need(flow).streams
        each = value / self.broker.flows.need(flow).qspec.streams
        beside = [
            Job(max(1.0, (o.transfer_size - o.bytes_delivered) * 8.0), self.broker.flows.need(o).streams)
            for o in self.broker.flows.alongside(flow)
            if o.path == decision.path and o.number != flow.number
        ]
        together = each * (streams + sum(job.streams for job in beside))
        bits = flow.transfer_size * 8.0
        later = finish(together, [Job(bits, streams), *beside])[0]
        foretold = None if decision.forecast is None else decision.forecast.expected
        number = int(flow.request.label)
        waited = decision.at - flow.submitted_at > 0.001
        self.told[number] = Told(
            number, view.now, decision.path, waited, (bits / (each * streams), later, foretold)
        )


def run(folder: Path, seed: int) -> dict[str, Any]:
    """Both: the suite in the simulator, one round on the testbed."""
    simulated: list[dict[str, Any]] = []
    for description in workloads_suite.descriptions():
        workload = workloads_suite.workload(description.name, seed)
        policy = Telling(workload)
        records = simulate(workload, policy, seed)
        simulated += compared(workload, records, policy.told)
    found = fluid.tried(folder, rounds=1)
    real = [one for s in SCENARIOS for one in on_testbed(s, found["scenarios"][s.name][0])]
    return {"simulated": simulated, "testbed": real, "emulation": found["emulation"]}


def compared(workload: Workload, records: Sequence[Record], told: Mapping[int, Told]) -> list[dict[str, Any]]:
    """Per transfer that was admitted once and ended: the relative error of each way."""
    rows = []
    for record in records:
        known = told.get(record.transfer.number)
        if known is None or record.ended is None or record.began is None or record.began < known.at:
            continue  # stopped and admitted again: it was told of the rest only
        took = record.ended - known.at
        rows.append(
            {
                "workload": workload.name,
                "queued": known.queued,
                "undisturbed": _undisturbed(workload, records, record),
                **{
                    way: told / took - 1
                    for way, told in zip(WAYS, known.seconds, strict=True)
                    if told is not None
                },
            }
        )
    return rows


def _undisturbed(workload: Workload, records: Sequence[Record], record: Record) -> bool:
    """Whether nothing came between that nobody could know of."""
    began, ended = record.began, record.ended
    assert began is not None
    assert ended is not None
    ways = {path for _, path in record.stays}
    came = any(
        began < since < ended and path in ways
        for other in records
        if other is not record
        for since, path in other.stays
    )
    changed = any(began < at < ended for at in workload.network.changes)
    return len(record.stays) == 1 and not came and not changed


def on_testbed(scenario: Scenario, measured: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Per transfer of a real round: told from what had been asked for by then, beside what it took."""
    every, rows = list(zip(scenario.carries, measured, strict=True)), []
    for carry, one in every:
        now, ends, rate = one["started"], one["started"] + one["seconds"], fluid.goodput()[carry.path]
        others = [(o, m) for o, m in every if o.path == carry.path and m is not one]
        beside = [_job(o, m, now) for o, m in others if m["started"] < now < m["started"] + m["seconds"]]
        own = Job(carry.size * 8.0, carry.streams, _limit(carry))
        part = carry.streams / (carry.streams + sum(job.streams for job in beside))
        seconds = (own.bits / min(rate * part, own.limit * own.streams), finish(rate, [own, *beside])[0])
        came = any(now < m["started"] < ends for _, m in others)
        still = not (scenario.rates or scenario.others or any(o.moves for o in scenario.carries))
        rows.append(
            {
                "scenario": scenario.name,
                "undisturbed": still and not came,
                **{way: told / one["seconds"] - 1 for way, told in zip(WAYS[:2], seconds, strict=True)},
            }
        )
    return rows


def _job(carry: Carry, measured: Mapping[str, Any], now: float) -> Job:
    """What is left of a transfer, by what its receiver had counted."""
    sent = sum(measured["per_second"][: max(0, round(now - measured["started"]))])
    return Job(max(1.0, (carry.size - sent) * 8.0), carry.streams, _limit(carry))


def _limit(carry: Carry) -> float:
    return math.inf if carry.rate is None else carry.rate / carry.streams


def passed(results: Mapping[str, Any]) -> bool:
    """Whether the median of what is bounded is."""
    return all(error is None or error < BOUND for error in bounded(results).values())


def bounded(results: Mapping[str, Any]) -> dict[str, float | None]:
    """The medians that the bound is about."""
    simulated = results["simulated"]
    return {
        "simulated, at once": median([one for one in simulated if not one["queued"]], WAYS[2]),
        "simulated, queued first": median([one for one in simulated if one["queued"]], WAYS[2]),
    }


def median(rows: Sequence[Mapping[str, Any]], way: str) -> float | None:
    """The median absolute error of one way of telling; None of nobody."""
    errors = [abs(one[way]) for one in rows if way in one]
    return statistics.median(errors) if errors else None


def report(results: Mapping[str, Any]) -> str:
    """The table, and whether the bound holds."""
    simulated, real = results["simulated"], results["testbed"]
    groups = {
        "simulated, at once": [one for one in simulated if not one["queued"]],
        "simulated, queued first": [one for one in simulated if one["queued"]],
        "testbed": real,
    }
    rows = [["median absolute error", "transfers", *WAYS]]
    for name, every in groups.items():
        for words, some in ((name, every), (f"{name}, undisturbed", [o for o in every if o["undisturbed"]])):
            cells = ["-" if (error := median(some, way)) is None else f"{error:.1%}" for way in WAYS]
            rows.append([words, str(len(some)), *cells])
    verdict = "kept" if passed(results) else "MISSED"
    bound = f"Bound {BOUND:.0%} (told, simulated): {verdict}; {results['emulation']}"
    return f"{table(rows)}\n\n{bound}"
