"""The pages of the network, in the order of the navigation."""

from __future__ import annotations

from apps.dashboard.network import (
    alarm_page,
    alarms_page,
    map_page,
    mesh_page,
    path_page,
    schedule_page,
    series_page,
    what_if_page,
    workflows_page,
)
from apps.dashboard.page import Page

NETWORK: tuple[Page, ...] = (
    map_page.PAGE,
    mesh_page.PAGE,
    series_page.PAGE,
    path_page.PAGE,
    schedule_page.PAGE,
    alarms_page.PAGE,
    alarm_page.PAGE,
    workflows_page.PAGE,
    what_if_page.PAGE,
)
