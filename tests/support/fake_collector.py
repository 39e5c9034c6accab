"""A collector for tests of the web side: a plan, alarms and executed runs, answered over a real link."""

from __future__ import annotations

import functools
import time
import uuid
from pathlib import Path
from typing import Any

from adon.config import load
from adon.errors import InvalidInput, NotFound
from adon.measurement_plan import MeasurementPlan, as_psconfig, plan_measurements
from adon.studies import model as study
from apps.collector.studies import Studies
from apps.collector.timeline import LeftOut
from apps.link import LinkServer, Peer
from measurement.anomaly.alarm import Alarm, Kind, acknowledge, alarm_id
from measurement.anomaly.model import Direction, Evidence, Sample, Severity
from measurement.archive import Archive
from measurement.model import Metric, PathKey, Series, from_json, to_json
from measurement.notify.subscription import Subscription
from measurement.scheduling import Execution
from measurement.scheduling.ticks import seconds
from tests.support.factories import make_measurement

NOW = 1_760_000_000.0
NETWORK = Path(__file__).parents[1] / "data" / "network.yaml"


@functools.cache
def the_plan() -> MeasurementPlan:
    return plan_measurements(load(NETWORK))


def schedule_answer() -> dict[str, Any]:
    """As :meth:`apps.collector.conductor.Conductor.schedule` answers."""
    found = the_plan().schedule
    return {
        "measures": True,
        "round_seconds": seconds(found.hyperperiod),
        "tasks": [
            {
                "task": task.id,
                "source": task.source,
                "destination": task.destination,
                "tool": task.tool,
                "period_seconds": task.period,
                "slot_seconds": task.duration,
            }
            for task in found.tasks.values()
        ],
        "upcoming": [{"task": job.task, "start": NOW + 20 + seconds(job.start)} for job in found.jobs[:30]],
        "spend": {
            where: {"allowed_bps": spend.allowed, "peak_bps": spend.peak, "mean_bps": spend.mean}
            for where, spend in found.spend().items()
        },
    }


def put_alarm(archive: Archive, alarm: Alarm) -> None:
    document = to_json(alarm)
    archive.put_document("alarm", alarm.id, alarm.raised_at, alarm.series, document, is_open=alarm.open)


def alarm(
    series: Series,
    age: float,
    text: str,
    *,
    severity: Severity = Severity.WARNING,
    over: float | None = None,
    bad: bool = True,
) -> Alarm:
    """Raised ``age`` seconds before NOW; over so long ago, if it is."""
    at = NOW - age
    before = Evidence(58e6, 1e6, tuple(Sample(at - 240 * i, 58e6) for i in (3, 2, 1)))
    return Alarm(
        id=alarm_id(series, Kind.PLATEAU, at),
        series=series,
        kind=Kind.PLATEAU,
        direction=Direction.DOWN,
        bad=bad,
        severity=severity,
        raised_at=at,
        before=before,
        after=Evidence(12e6, 2e6, (Sample(at, 12e6),)),
        text=text,
        cleared_at=None if over is None else NOW - over,
    )


FELL = alarm(
    Series("al2s", "mu", "osu", "throughput"),
    300,
    "throughput on al2s from mu to osu fell from 58 Mbit/s to 12 Mbit/s",
    severity=Severity.CRITICAL,
)
ROSE = alarm(
    Series("internet", "osu", "mu", "rtt"), 900, "rtt on internet from osu to mu rose from 41 ms to 95 ms"
)
OVER = alarm(
    Series("al2s", "mu", "osu", "rtt"), 4000, "rtt on al2s from mu to osu rose from 33 ms to 60 ms", over=2000
)


def put_execution(archive: Archive, run: Execution) -> None:
    archive.put_document("execution", run.id, run.planned_start, None, to_json(run))


def alarms() -> list[Alarm]:
    return [FELL, ROSE, OVER]


def executions() -> list[Execution]:
    def run(task: str, age: float, lasted: float | None, outcome: str = "measured") -> Execution:
        planned = NOW - age
        started = None if lasted is None else planned + 0.125
        return Execution(task, int(age), planned, started, started and planned + (lasted or 0), outcome)

    return [
        run("al2s:mu>osu/throughput", 60, 5.5),
        run("al2s:mu>osu/rtt", 45, 5.0),
        run("internet:mu>osu/throughput", 30, None, str(LeftOut.QUIET)),
        run("internet:osu>mu/rtt", 20, 3.0, "the server answered 503"),
        run("al2s:osu>mu/rtt", 4000, 5.0),
    ]


class Collector:
    """Answers what is asked about measuring; what it is told to measure is measured at once."""

    def __init__(self, path: Path, archive: Path) -> None:
        self.archive = archive
        self.seen: list[tuple[str, dict[str, Any]]] = []
        self.ignored: dict[str, dict[str, int]] = {"mu": {"intervals": 3}}
        self.server = LinkServer(path, self.handle)

    def handle(self, peer: Peer, kind: str, payload: dict[str, Any]) -> None:
        command = payload.pop("command", None)
        if kind == "hello":
            return
        self.seen.append((kind, payload))
        if kind == "psconfig":
            peer.answer(str(command), as_psconfig(load(NETWORK), the_plan()))
            return
        if kind == "ignored":
            peer.answer(str(command), self.ignored)
            return
        if kind == "schedule":
            peer.answer(str(command), schedule_answer())
            return
        with Archive(self.archive) as archive:
            peer.answer(str(command), self.answer(archive, kind, payload))

    def answer(self, archive: Archive, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
        match kind:
            case "measure":
                return self.measure(archive, from_json(PathKey, payload["key"]), payload["test"])
            case "alarm.acknowledge":
                alarm = from_json(Alarm, archive.document("alarm", payload["id"]) or {})
                known = acknowledge(alarm, payload["who"], NOW)
                put_alarm(archive, known)
                return to_json(known)
            case "subscription.put":
                try:
                    wanted = to_json(from_json(Subscription, payload["subscription"]))
                except ValueError as error:
                    field, _, cause = str(error).partition(": ")
                    raise InvalidInput.of(field, cause) from None
                archive.put_document("subscription", wanted["id"], NOW, None, wanted, is_open=True)
                return wanted
            case "subscription.delete":
                if not archive.delete_document("subscription", payload["id"]):
                    raise NotFound("subscription", payload["id"])
                return {"id": payload["id"]}
            case "study.put":
                kept = Studies(archive).put(
                    from_json(study.Study, payload["study"]), payload[study.PACKED], stays=True
                )
                return to_json(kept)
            case "study.delete":
                Studies(archive).delete(payload["id"])
                return {"id": payload["id"]}
        raise InvalidInput.of("kind", kind)

    def measure(self, archive: Archive, key: PathKey, test: str) -> dict[str, Any]:
        if f"{key}/{test}" not in the_plan().tests:
            raise NotFound("test", f"{key}/{test}")
        at, name = float(int(time.time())), f"{key}/{test}/on demand 1"
        metrics = {"throughput": [Metric.THROUGHPUT], "rtt": [Metric.RTT]}.get(test, [])
        url = f"https://mu/pscheduler/tasks/{key.path}/runs/{uuid.uuid4()}"
        found = {"key": key, "value": 57e6, "started_at": at, "observed_at": at + 0.5, "source": url}
        archive.append([make_measurement(metric=one, **found) for one in metrics])
        run = Execution(name, 1, at, at, at + 0.5, "measured" if metrics else "the point did not answer")
        put_execution(archive, run)
        return {"task": name, "start": at}

    def close(self) -> None:
        self.server.close()
