"""Every page of the dashboard, in the order of the navigation; the first that fits an address is shown."""

from __future__ import annotations

from apps.dashboard import home
from apps.dashboard.compute import jobs_page, reservations_page, sites_page
from apps.dashboard.instances import evaluation_page, health_page, placement_page
from apps.dashboard.network import (
    alarm_page,
    alarms_page,
    maintenance_page,
    map_page,
    mesh_page,
    path_page,
    schedule_page,
    series_page,
    workflows_page,
)
from apps.dashboard.operation import account, audit, parts, rules, users
from apps.dashboard.page import Page
from apps.dashboard.policy import (
    advice_page,
    catalog_page,
    decision_page,
    decisions_page,
    outcomes_page,
    queue_page,
    settings_page,
    template_editor,
    template_page,
)
from apps.dashboard.transfers import flow_page, flows_page, new_transfer_page

PAGES: tuple[Page, ...] = (
    home.PAGE,
    new_transfer_page.PAGE,
    flows_page.PAGE,
    flow_page.PAGE,
    sites_page.PAGE,
    sites_page.ONE_PAGE,
    jobs_page.PAGE,
    reservations_page.PAGE,
    catalog_page.PAGE,
    template_editor.NEW_PAGE,
    template_editor.EDIT_PAGE,
    template_page.PAGE,
    decisions_page.PAGE,
    decision_page.PAGE,
    queue_page.PAGE,
    settings_page.PAGE,
    outcomes_page.PAGE,
    advice_page.PAGE,
    parts.PAGE,
    rules.PAGE,
    users.ALL_PAGE,
    users.ONE_PAGE,
    audit.PAGE,
    account.PAGE,
    map_page.PAGE,
    mesh_page.PAGE,
    series_page.PAGE,
    path_page.PAGE,
    schedule_page.PAGE,
    alarms_page.PAGE,
    alarm_page.PAGE,
    workflows_page.PAGE,
    maintenance_page.PAGE,
    health_page.PAGE,
    placement_page.PAGE,
    evaluation_page.PAGE,
)
