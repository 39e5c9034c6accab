"""Documents of transfer advice."""

from __future__ import annotations

import math
from collections.abc import Sequence

from adon.api.advice import (
    AdviceView,
    GapView,
    HostAdviceView,
    ItemView,
    PathBody,
    PathFactsView,
    PredictionView,
    RangeView,
    SettingView,
)
from adon.broker.tuning.advice import Advice, HostAdvice
from adon.broker.tuning.checking import Check, Finding
from adon.broker.tuning.facts import PathFacts, Reached
from adon.broker.tuning.item import Gap, Item
from adon.broker.tuning.prediction import Range
from adon.broker.uncertain import Uncertain


def to_item_view(item: Item) -> ItemView:
    """The item as it is answered."""
    return ItemView(**{name: getattr(item, name) for name in ItemView.model_fields})


def to_gap_view(gap: Gap) -> GapView:
    """The gap as it is answered."""
    return GapView(what=gap.what, without=gap.without, measure=gap.measure)


def to_setting_view(finding: Finding) -> SettingView:
    """The finding as it is answered."""
    setting = finding.setting
    same = {name: getattr(setting, name) for name in ("kind", "key", "value", "compare", "reason")}
    return SettingView(**same, present=finding.present, verdict=finding.verdict.value)


def to_host_advice_view(host: HostAdvice, check: Check) -> HostAdviceView:
    """One end as it is answered."""
    return HostAdviceView(
        host=host.host,
        role=host.role,
        verdict=check.verdict.value,
        settings=[to_setting_view(finding) for finding in check.findings],
        remarks=list(check.remarks),
        source=check.source,
        observed_at=check.observed_at,
    )


def to_range_view(found: Range | None) -> RangeView | None:
    """The range as it is answered."""
    if found is None:
        return None
    return RangeView(**{name: _finite(getattr(found, name)) for name in RangeView.model_fields})


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


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
    prediction = advice.prediction
    return AdviceView(
        path=to_path_facts_view(advice.path),
        target_bps=advice.target,
        streams=advice.streams,
        buffer_bytes=advice.buffer,
        window_bytes=advice.window,
        mtu=advice.mtu,
        congestion_control=advice.control,
        items=[to_item_view(item) for item in advice.items],
        unknown=[to_gap_view(gap) for gap in advice.gaps],
        hosts=list(hosts),
        both_applied=all(host.verdict == "applied" for host in hosts),
        prediction=None
        if prediction is None
        else PredictionView(
            before_bps=to_range_view(prediction.before),
            after_bps=to_range_view(prediction.after),
            gain=to_range_view(prediction.gain),
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
