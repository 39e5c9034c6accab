"""One test by probe agents: the agent of the path's first place is asked to probe its other place."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from apps.evaluation.places import Place
from measurement.evaluation.blueprint import Test
from measurement.evaluation.document import Probing
from measurement.evaluation.probing import probe_of, value_of_finding
from measurement.evaluation.run import Sample
from measurement.probes.agent_client import AgentClient
from measurement.probes.findings import ProbeError, ProbeReport
from measurement.probes.probe_types import ProbeOrder

GRACE_S = 20.0
"""So much longer than its test an agent's answer may take."""


@dataclass(frozen=True, slots=True)
class AgentBench:
    """What all tests of a run share.

    :param key: that the agents know us by.
    :param duration: of a test, in seconds.
    """

    probing: Probing
    places: Mapping[str, Place]
    key: bytes = field(repr=False)
    duration: float

    def make(self, test: Test) -> Sample:
        """Make a test; what goes wrong is its result.  Not to be called where an event loop runs."""
        at = time.time()
        try:
            report = asyncio.run(self._asked(test))
            value = value_of_finding(report.findings[0])
        except ProbeError as error:
            return self._failed(test, at, f"{error.why.value}: {error}")
        except TimeoutError:
            return self._failed(test, at, f"no answer of the agent of {test.path.one}")
        except ValueError as error:
            return self._failed(test, at, str(error))
        return Sample(test.number, *test.path, at, value, iteration=test.iteration)

    async def _asked(self, test: Test) -> ProbeReport:
        order = ProbeOrder(self.places[test.path.other].instance, (probe_of(self.probing, self.duration),))
        async with (
            asyncio.timeout(self.duration + GRACE_S),
            await AgentClient.connect(self.places[test.path.one].instance, self.key) as agent,
        ):
            return await agent.probe(order)

    @staticmethod
    def _failed(test: Test, at: float, why: str) -> Sample:
        return Sample(test.number, *test.path, at, None, " ".join(why.split()), test.iteration)
