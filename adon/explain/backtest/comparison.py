"""Two runs of the same past, flow by flow: what the other version of a template would have changed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from adon.broker.flow import Flow, FlowState
from adon.config import Configuration
from adon.explain.backtest.past import Past, stays_of
from adon.explain.backtest.replay import Replay
from adon.explain.backtest.run import Run
from adon.flowvisor.topology.overlay import OverlayPaths
from adon.templates_catalog.catalog import Catalog
from adon.templates_catalog.model import Template


@dataclass(frozen=True, slots=True)
class Compared:
    """One request.

    :param then: the flow as it really was.
    :param present, proposed: what became of it with the version of today, and with the one that is tried.
    """

    then: Flow
    present: Run
    proposed: Run

    @property
    def moved(self) -> bool:
        """Whether its ways differ: other paths, or the same ones in another order."""
        return ways(self.present) != ways(self.proposed)

    @property
    def saved(self) -> float | None:
        """Seconds that the proposed version saves, below zero: that it costs.

        From the request to the end of the transfer; None where one of the two did not finish.
        """
        if self.present.took is None or self.proposed.took is None:
            return None
        return self.present.took - self.proposed.took

    @property
    def happened(self) -> float | None:
        """Seconds that it really took, from the request to its end; None if it did not finish."""
        if self.then.state is not FlowState.FINISHED or self.then.ended_at is None:
            return None
        return self.then.ended_at - self.then.submitted_at


@dataclass(frozen=True, slots=True)
class Backtest:
    """The whole comparison.

    :param present, proposed: the versions (``soykb@3``).
    """

    since: float
    until: float
    present: str
    proposed: str
    flows: tuple[Compared, ...]

    @property
    def moved(self) -> int:
        """How many requests would have gone another way."""
        return sum(one.moved for one in self.flows)

    @property
    def saved(self) -> float:
        """Seconds saved in all, of the requests that finished in both runs."""
        return math.fsum(one.saved for one in self.flows if one.saved is not None)

    def violations(self, runs: Sequence[Run]) -> tuple[int, float]:
        """How often QSpecs were violated, and for how many seconds in all."""
        spans = [span for run in runs for span in run.violations(self.until)]
        return len(spans), math.fsum(end - since for since, end in spans)

    @property
    def off(self) -> float | None:
        """How far the model is from what happened: the median of |replayed - real| / real, today's version.

        Of the requests that finished in both; None where there is none.
        """
        errors = sorted(
            abs(one.present.took - one.happened) / one.happened
            for one in self.flows
            if one.present.took is not None and one.happened is not None and one.happened > 0
        )
        if not errors:
            return None
        middle = len(errors) // 2
        return errors[middle] if len(errors) % 2 else (errors[middle - 1] + errors[middle]) / 2


def ways(run: Run) -> tuple[str, ...]:
    """The paths of a run, in order."""
    return tuple(stay.path for stay in run.stays)


def ways_then(flow: Flow, until: float) -> tuple[str, ...]:
    """The paths that a flow really had."""
    return tuple(stay.path for stay in stays_of(flow, until))


def backtest(
    configuration: Configuration,
    catalog: Catalog,
    past: Past,
    template: Template,
    circuits: OverlayPaths | None = None,
) -> Backtest:
    """Play the past twice: with the version of today, and with another one of the same template.

    :raises NotFound: if the catalog has no template of this name to compare with.
    """
    present = catalog.get(template.name)
    proposed = template.model_copy(update={"version": present.version + 1})
    extended = Catalog.of((*_all(catalog), proposed))
    runs = [
        Replay(configuration, extended, past, one.reference, circuits).run() for one in (present, proposed)
    ]
    compared = (Compared(then, *pair) for then, *pair in zip(past.requests, *runs, strict=True))
    return Backtest(past.since, past.until, present.reference, proposed.reference, tuple(compared))


def _all(catalog: Catalog) -> list[Template]:
    return [one for latest in catalog.latest for one in catalog.versions(latest.name)]
