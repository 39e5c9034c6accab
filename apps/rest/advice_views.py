"""Documents of transfer advice."""

from __future__ import annotations

from collections.abc import Sequence

from adon.api.advice import (
    AdviceView,
    HostAdviceView,
    PathBody,
    PathFactsView,
    SettingView,
)
from adon.tcp_advice.advice import Advice
from adon.tcp_advice.facts import PathFacts, TestedRate
from adon.tcp_advice.host_check import Check
from adon.uncertain import Uncertain


def to_host_advice_view(check: Check) -> HostAdviceView:
    """One end as it is answered."""
    settings = [
        SettingView.of(one.setting, present=one.present, verdict=one.verdict) for one in check.findings
    ]
    return HostAdviceView.of(check, settings=settings)


def to_path_facts_view(path: PathFacts) -> PathFactsView:
    """The facts as they are answered."""
    reached = path.reached
    return PathFactsView(
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


def to_advice_view(advice: Advice, hosts: Sequence[HostAdviceView]) -> AdviceView:
    """The advice as it is answered."""
    return AdviceView.of(
        advice,
        path=to_path_facts_view(advice.path),
        congestion_control=advice.control,
        unknown=advice.gaps,
        hosts=hosts,
        both_applied=all(host.verdict == "applied" for host in hosts),
    )


def overridden(base: PathFacts, body: PathBody) -> PathFacts:
    """A path's facts with what a question says instead.

    :raises ValueError: for a value that no path has.
    """
    rtt = base.rtt if body.rtt is None else Uncertain(body.rtt, body.rtt_deviation)
    reached = (
        base.reached if body.reached is None else TestedRate(Uncertain(body.reached), body.reached_streams)
    )
    return PathFacts(
        name=base.name,
        rate=base.rate if body.rate is None else body.rate,
        rtt=rtt,
        loss=base.loss if body.loss is None else Uncertain(body.loss),
        mtu=base.mtu if body.mtu is None else body.mtu,
        reached=reached,
        shallow=base.shallow if body.shallow_queues is None else body.shallow_queues,
    )
