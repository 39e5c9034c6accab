"""What a custom metric is: a name, a period, and values whenever it is asked.

A value's series is told apart by its metric and by what on the host it is of (:func:`on_host`): a mounted
disk, an interface, a workflow, a batch system; of the host as a whole it is
:func:`measurement.model.host_key`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from measurement.model import Observation, PathKey, host_key

PERIOD = 5.0
"""Seconds between two samples, [ADON] 4.2."""


class CustomMetric(Protocol):
    """Something on this host that can be sampled.  One thread at a time calls it."""

    @property
    def name(self) -> str:
        """Unique on this host."""

    @property
    def period(self) -> float:
        """Seconds from one sample to the next."""

    def sample(self, now: float) -> list[Observation]:
        """Its values at ``now``, seconds since the epoch; it may take as long as its own timeout.

        :raises MetricFailed: when there is no value now.
        """

    def is_final(self, observations: Sequence[Observation]) -> bool:
        """True when, after these values, there will be no others: the workflow is done or failed."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What every value of one sample has in common.

    :param host: the host's name, as it is to be known elsewhere.
    :param metric: the metric's name in the configuration.
    :param at: when the sample was taken, seconds since the epoch.
    :param tool: the program that said so.
    """

    host: str
    metric: str
    at: float
    tool: str

    def value(
        self,
        name: str,
        value: float,
        unit: str = "",
        *,
        of: str = "",
        extra: Mapping[str, object] | None = None,
    ) -> Observation:
        """One value of this sample.

        :param name: the metric of the series, dotted.
        :param of: what on the host it is of (:func:`on_host`); "" for the host itself.
        :param extra: what else belongs to it, as JSON.
        :raises ValueError: for a value that is no finite number, or a name that is none.
        """
        parameters = {**({"unit": unit} if unit else {}), **(extra or {})}
        source = f"custom:{self.host}/{self.metric}"
        return Observation(on_host(self.host, of), name, float(value), self.at, source, self.tool, parameters)


class Endless:
    """The half of a :class:`CustomMetric` that is the same for all without an end."""

    __slots__ = ()

    def is_final(self, observations: Sequence[Observation]) -> bool:
        """Never."""
        del observations
        return False


def on_host(host: str, what: str = "") -> PathKey:
    """The key of something on a host: ``/scratch``, ``eth0``, a workflow; without it, of the host."""
    return PathKey("", host, what) if what else host_key(host)
