"""The present plan: made anew when templates need other tests, or points report other time slots."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from adon.config import Configuration
from apps.collector import orders
from apps.collector.orders import NO_NEEDS, NO_SLOTS, Plan
from measurement.model import Metric
from measurement.psconfig.expand import Expansion
from measurement.psconfig.mesh import Need


class Planner:
    """Makes plans.  Any thread may ask; a plan may take seconds.

    Where the tests do not fit, :class:`~adon.errors.InvalidInput` is raised, and what was given is forgotten.

    :param publish: is given every plan that was made.
    """

    def __init__(
        self, configuration: Configuration, template: Expansion, publish: Callable[[Plan], object]
    ) -> None:
        self._configuration = configuration
        self._template = template
        self._publish = publish
        self._needs: Mapping[Metric, Need] = NO_NEEDS
        self._slots: Mapping[str, float] = NO_SLOTS
        self._lock = threading.Lock()

    def plan(
        self, needs: Mapping[Metric, Need] | None = None, slots: Mapping[str, float] | None = None
    ) -> Plan:
        """The plan that meets what templates need, with the time slots, by task, that points have reported.

        What is left out is as it was the last time.
        """
        with self._lock:
            needs = self._needs if needs is None else needs
            slots = self._slots if slots is None else slots
            found = orders.plan(self._configuration, needs, self._template, slots)
            self._needs, self._slots = needs, slots
            self._publish(found)
        return found
