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
    """Known or assumed values of a path; absent values are those of the flow, or unknown."""

    rate: Rate | None = Field(default=None, description="capacity of the path, such as 10 Gbps")
    rtt: Duration | None = None
    rtt_deviation: Duration = 0.0
    loss: Ratio | None = None
    mtu: int | None = Field(default=None, ge=576, le=65_535)
    reached: Rate | None = Field(default=None, description="result of a throughput test")
    reached_streams: int = Field(default=1, ge=1, le=1000)
    shallow_queues: bool | None = Field(default=None, description="whether a queue holds less than one BDP")


class HostBody(_Body):
    """End host, with the output of its own commands."""

    name: HostName | None = None
    text: str = Field(
        default="",
        max_length=900_000,
        description="output of sysctl -a, ip -d link, tc qdisc, ethtool, ss -tin, /proc/meminfo",
    )
    interface: InterfaceName | None = None
    memory: Size | None = None
    rate: Rate | None = Field(default=None, description="bit rate of its interface")
    mtu: int | None = Field(default=None, ge=576, le=65_535)


class AdviceBody(_Body):
    """Question about a flow with changed values, or about values alone."""

    flow: str | None = Field(default=None, max_length=20, description="flow for absent values, such as f-17")
    path: PathBody = PathBody()
    sender: HostBody = HostBody()
    receiver: HostBody = HostBody()
    streams: int | None = Field(default=None, ge=1, le=1000, description="number of open streams")


class ItemView(View):
    """Item of advice."""

    name: str
    value: str
    reason: str
    formula: str
    confidence: Literal["high", "medium", "low"]


class GapView(View):
    """Unknown value, the effect of its absence, and how to measure it."""

    what: str
    without: str
    measure: str


class SettingView(View):
    """Recommended and present value of a setting of a host."""

    kind: Literal["sysctl", "interface"]
    key: str
    value: str
    compare: Literal["at least", "equal"]
    reason: str
    present: str | None
    verdict: Literal["applied", "differs", "unknown"]


class HostAdviceView(View):
    """Recommended settings of one host, and whether they are applied."""

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
    """Expected value with its lower and upper limit; null for a value that is not finite."""

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
    """Inputs of the advice; null if unknown."""

    path: str
    rate_bps: float | None
    rtt_seconds: float | None
    rtt_deviation_seconds: float | None
    loss_ratio: float | None
    mtu: int | None
    reached_bps: float | None
    reached_streams: int | None


class AdviceView(View):
    """Advice for one path between two hosts."""

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

    path: str | None = Field(default=None, max_length=100, description="path instead of the flow's path")
