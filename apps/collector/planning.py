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

    Each method raises :class:`~adon.errors.InvalidInput` where the tests do not fit, and then forgets what
    it was given.

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

    def for_needs(self, needs: Mapping[Metric, Need]) -> Plan:
        """The plan that meets what templates need."""
        with self._lock:
            found = self._plan(needs, self._slots)
            self._needs = needs
        return found

    def for_slots(self, slots: Mapping[str, float]) -> Plan:
        """The plan with the time slots, by task, that points have reported."""
        with self._lock:
            found = self._plan(self._needs, slots)
            self._slots = slots
        return found

    def _plan(self, needs: Mapping[Metric, Need], slots: Mapping[str, float]) -> Plan:
        found = orders.plan(self._configuration, needs, self._template, slots)
        self._publish(found)
        return found
