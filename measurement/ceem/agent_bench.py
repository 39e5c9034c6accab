"""Tests by probe agents: the agent of the first place probes the second place."""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field

from measurement.ceem.blueprint import PlannedTest
from measurement.ceem.runner import Place
from measurement.ceem.template import AgentTest
from measurement.probes.agent_client import AgentClient
from measurement.probes.findings import (
    Finding,
    ProbeError,
    ProbeFailure,
    ProbeReport,
    RoundTrips,
    TrainResult,
    TransferResult,
)
from measurement.probes.probe_types import ProbeOrder

GRACE_S = 20.0
"""Seconds that the answer of an agent may exceed its test."""


@dataclass(frozen=True, slots=True)
class AgentBench:
    """Tests of a run by probe agents.

    :param key: shared key of the agents.
    :param duration: seconds of a test.
    """

    method: AgentTest
    places: Mapping[str, Place]
    key: bytes = field(repr=False)
    duration: float

    def measure(self, test: PlannedTest) -> float:
        """Return the value of a test.  Must not be called in an event loop."""
        try:
            report = asyncio.run(self._probe(test))
        except ProbeError as error:
            raise ValueError(f"{error.code}: {error}") from error
        except TimeoutError:
            raise ValueError(f"the agent of {test.path.one} does not answer") from None
        return read_finding(report.findings[0])

    async def _probe(self, test: PlannedTest) -> ProbeReport:
        order = ProbeOrder(self.places[test.path.other].instance, (self.method.probe(self.duration),))
        async with (
            asyncio.timeout(self.duration + GRACE_S),
            await AgentClient.connect(self.places[test.path.one].instance, self.key) as agent,
        ):
            return await agent.probe(order)


def read_finding(finding: Finding) -> float:
    """Return the value of a finding: a mean rate in bits/s or a mean time in seconds.

    :raises ValueError: if it has no value.
    """
    match finding:
        case ProbeFailure(why=why, text=text):
            raise ValueError(f"{why.value}: {text}")
        case TrainResult(rate=None, why=why):
            raise ValueError(f"the train has no rate: {why}")
        case TrainResult(rate=float(rate)):
            return rate
        case TransferResult(rates=values) | RoundTrips(answered=values) if values:
            return statistics.fmean(values)
    raise ValueError("no probe was answered")
