"""Transfer advice: TCP settings of both hosts and the expected throughput."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict, Field, StringConstraints

from adon.api.base import Body, Query, Time, View
from adon.units import Duration, Rate, Ratio, Size

HostName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9.:_-]{0,252}$")]
InterfaceName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$")]


class _Body(Body):
    model_config = ConfigDict(allow_inf_nan=False)


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


class GapView(View):
    """Something that is not known, what is left open by it, how to find out."""

    what: str
    without: str
    measure: str


class SettingView(View):
    """One value a host should have, and has."""

    kind: Literal["sysctl", "interface"]
    key: str
    value: str
    compare: Literal["at least", "equal"]
    reason: str
    present: str | None
    verdict: Literal["applied", "differs", "unknown"]


class HostAdviceView(View):
    """One end: what it should have, and whether it has it."""

    host: str
    role: Literal["sender", "receiver"]
    verdict: Literal["applied", "differs", "unknown"]
    settings: list[SettingView]
    remarks: list[str]
    source: str = Field(description="source of the present values; empty if unknown")
    observed_at: Time | None


def _omit_infinity(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


_Finite = Annotated[float | None, BeforeValidator(_omit_infinity)]


class RangeView(View):
    """A low end, what is expected, a high end; null where it is not a finite number."""

    low: _Finite
    expected: _Finite
    high: _Finite


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


class AdviceQuery(Query):
    """Path that the advice is for."""

    path: str | None = Field(default=None, max_length=100, description="another path than that of the flow")
