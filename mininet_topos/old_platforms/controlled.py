"""ADON's configuration file for a running test network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mininet_topos.networks.configuration import DEFAULT_SCHEDULE, Schedule, configuration
from mininet_topos.old_platforms.bed import Bed


def configuration_of(
    bed: Bed, *, schedule: Schedule = DEFAULT_SCHEDULE, extra: Mapping[str, Any] | None = None
) -> str:
    """The YAML text, with the points and the controller's port as this platform has them.

    :param extra: further top-level sections (``compute``, ``policy``), as they are.
    """
    points = {site.measuring.host: bed.point(site.measuring.host) for site in bed.network.sites}
    return configuration(
        bed.network, points, bed.controller, schedule=schedule, openflow_port=bed.openflow_port, extra=extra
    )
