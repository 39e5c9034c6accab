"""Replacement of the plan of tests when needs of templates or time slots of points change."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping

from adon.config import Configuration
from adon.errors import InvalidInput
from adon.measurement_plan import NO_NEEDS, NO_SLOTS, MeasurementPlan, Slots, plan_measurements
from measurement.model import Metric
from measurement.psconfig.expand import Expansion
from measurement.psconfig.mesh import Need

LOG = logging.getLogger(__name__)


class Planner:
    """Makes plans, one after the other.  Any thread may call it; a plan may take seconds.

    :param publish: receives every plan, in the order in which they are made.
    """

    def __init__(
        self, configuration: Configuration, template: Expansion, publish: Callable[[MeasurementPlan], None]
    ) -> None:
        self._configuration = configuration
        self._template = template
        self._publish = publish
        self._needs: Mapping[Metric, Need] = NO_NEEDS
        self._slots = NO_SLOTS
        self._lock = threading.Lock()

    def replan(self, *, needs: Mapping[Metric, Need] | None = None, slots: Slots | None = None) -> None:
        """Publish the plan that meets what templates need, with the time slots that points reported.

        An argument that is left out is that of the last plan.  Where the tests do not fit, the plan stays, a
        warning is logged, and the arguments are forgotten.
        """
        with self._lock:
            needs = self._needs if needs is None else needs
            slots = self._slots if slots is None else slots
            try:
                found = plan_measurements(self._configuration, needs, self._template, slots)
            except InvalidInput as error:
                LOG.warning('event=not_planned cause="%s"', error)
                return
            self._needs, self._slots = needs, slots
            self._publish(found)
