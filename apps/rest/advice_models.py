"""What is asked about transfer advice, and what is answered."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from adon.broker.tuning.advice import Advice, HostAdvice
from adon.broker.tuning.checking import Check, Finding
from adon.broker.tuning.facts import PathFacts, Reached
from adon.broker.tuning.item import Gap, Item
from adon.broker.tuning.prediction import Range
from adon.broker.uncertain import Uncertain
from adon.units import Duration, Rate, Ratio, Size
from apps.rest.models import View
from apps.rest.times import Time

HostName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9.:_-]{0,252}$")]
InterfaceName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$")]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class PathBody(_Body):
    """What is known, or supposed, about a path; what is left out is taken from the flow, or not known."""

    rate: Rate | None = Field(default=None, description="what it carries, as in 10 Gbps")
    rtt: Duration | None = None
    rtt_deviation: Duration = 0.0
    loss: Ratio | None = None
    mtu: int | None = Field(default=None, ge=576, le=65_535)
    reached: Rate | None = Field(default=None, description="what a throughput test got")
    reached_streams: int = Field(default=1, ge=1, le=1000)
    shallow_queues: bool | None = Field(default=None, description="a queue holds less than one BDP")


class HostBody(_Body):
    """One end host, and what its own commands printed."""

    name: HostName | None = None
    text: str = Field(
        default="",
        max_length=900_000,
        description="of sysctl -a, ip -d link, tc qdisc, ethtool, ss -tin, /proc/meminfo; in any order",
    )
    interface: InterfaceName | None = None
    memory: Size | None = None
    rate: Rate | None = Field(default=None, description="of its interface")
    mtu: int | None = Field(default=None, ge=576, le=65_535)


class AdviceBody(_Body):
    """A question: about a flow with other numbers, or about numbers alone."""

    flow: str | None = Field(default=None, max_length=20, description="as in f-17; then it says the rest")
    path: PathBody = PathBody()
    sender: HostBody = HostBody()
    receiver: HostBody = HostBody()
    streams: int | None = Field(default=None, ge=1, le=1000, description="that are open now")


class ItemView(View):
    """One piece of advice."""

    name: str
    value: str
    reason: str
    formula: str
    confidence: Literal["high", "medium", "low"]

    @classmethod
    def of(cls, item: Item) -> Self:
        """The item as it is answered."""
        return cls(**{name: getattr(item, name) for name in cls.model_fields})


class GapView(View):
    """Something that is not known, what is left open by it, how to find out."""

    what: str
    without: str
    measure: str

    @classmethod
    def of(cls, gap: Gap) -> Self:
        """The gap as it is answered."""
        return cls(what=gap.what, without=gap.without, measure=gap.measure)


class SettingView(View):
    """One value a host should have, and has."""

    kind: Literal["sysctl", "interface"]
    key: str
    value: str
    compare: Literal["at least", "equal"]
    reason: str
    present: str | None
    verdict: Literal["applied", "differs", "unknown"]

    @classmethod
    def of(cls, finding: Finding) -> Self:
        """The finding as it is answered."""
        setting = finding.setting
        same = {name: getattr(setting, name) for name in ("kind", "key", "value", "compare", "reason")}
        return cls(**same, present=finding.present, verdict=finding.verdict.value)


class HostAdviceView(View):
    """One end: what it should have, and whether it has it."""

    host: str
    role: Literal["sender", "receiver"]
    verdict: Literal["applied", "differs", "unknown"]
    settings: list[SettingView]
    remarks: list[str]
    source: str = Field(description="who told the present values; empty if nobody did")
    observed_at: Time | None

    @classmethod
    def of(cls, host: HostAdvice, check: Check) -> Self:
        """One end as it is answered."""
        return cls(
            host=host.host,
            role=host.role,
            verdict=check.verdict.value,
            settings=[SettingView.of(finding) for finding in check.findings],
            remarks=list(check.remarks),
            source=check.source,
            observed_at=check.observed_at,
        )


class RangeView(View):
    """A low end, what is expected, a high end; null where it is not a finite number."""

    low: float | None
    expected: float | None
    high: float | None

    @classmethod
    def of(cls, found: Range | None) -> Self | None:
        """The range as it is answered."""
        if found is None:
            return None
        return cls(**{name: _finite(getattr(found, name)) for name in cls.model_fields})


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


class PredictionView(View):
    """Throughput in bits/s before and after, and the factor between them."""

    before_bps: RangeView | None
    after_bps: RangeView | None
    gain: RangeView | None
    formula: str
    basis: str


class PathFactsView(View):
    """What the advice was computed from; null is what is not known."""

    path: str
    rate_bps: float | None
    rtt_seconds: float | None
    rtt_deviation_seconds: float | None
    loss_ratio: float | None
    mtu: int | None
    reached_bps: float | None
    reached_streams: int | None

    @classmethod
    def of(cls, path: PathFacts) -> Self:
        """The facts as they are answered."""
        reached = path.reached
        return cls(
            path=path.name,
            rate_bps=path.rate,
            rtt_seconds=_mean(path.rtt),
            rtt_deviation_seconds=None if path.rtt is None else path.rtt.deviation,
            loss_ratio=_mean(path.loss),
            mtu=path.mtu,
            reached_bps=None if reached is None else reached.rate.mean,
            reached_streams=None if reached is None else reached.streams,
        )


def _mean(value: Uncertain | None) -> float | None:
    return None if value is None else value.mean


class AdviceView(View):
    """Everything there is to say about one path between two hosts."""

    path: PathFactsView
    target_bps: float | None
    streams: int | None
    buffer_bytes: int | None
    window_bytes: float | None
    mtu: int | None
    congestion_control: str | None
    items: list[ItemView]
    unknown: list[GapView]
    hosts: list[HostAdviceView]
    both_applied: bool
    prediction: PredictionView | None

    @classmethod
    def of(cls, advice: Advice, hosts: Sequence[HostAdviceView]) -> Self:
        """The advice as it is answered."""
        prediction = advice.prediction
        return cls(
            path=PathFactsView.of(advice.path),
            target_bps=advice.target,
            streams=advice.streams,
            buffer_bytes=advice.buffer,
            window_bytes=advice.window,
            mtu=advice.mtu,
            congestion_control=advice.control,
            items=[ItemView.of(item) for item in advice.items],
            unknown=[GapView.of(gap) for gap in advice.gaps],
            hosts=list(hosts),
            both_applied=all(host.verdict == "applied" for host in hosts),
            prediction=None
            if prediction is None
            else PredictionView(
                before_bps=RangeView.of(prediction.before),
                after_bps=RangeView.of(prediction.after),
                gain=RangeView.of(prediction.gain),
                formula=prediction.formula,
                basis=prediction.basis,
            ),
        )


def overridden(base: PathFacts, body: PathBody) -> PathFacts:
    """A path's facts with what a question says instead.

    :raises ValueError: for a value that no path has.
    """
    rtt = base.rtt if body.rtt is None else Uncertain(body.rtt, body.rtt_deviation)
    reached = base.reached if body.reached is None else Reached(Uncertain(body.reached), body.reached_streams)
    return PathFacts(
        name=base.name,
        rate=base.rate if body.rate is None else body.rate,
        rtt=rtt,
        loss=base.loss if body.loss is None else Uncertain(body.loss),
        mtu=base.mtu if body.mtu is None else body.mtu,
        reached=reached,
        shallow=base.shallow if body.shallow_queues is None else body.shallow_queues,
    )
