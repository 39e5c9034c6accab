"""Every page of the dashboard, in the order of the navigation."""

from __future__ import annotations

from apps.dashboard import home
from apps.dashboard.compute import jobs, reservations, sites
from apps.dashboard.instances import evaluation_page, health_page, placement_page
from apps.dashboard.network.pages import NETWORK
from apps.dashboard.operation import account, audit, parts, rules, switches, users
from apps.dashboard.page import Page
from apps.dashboard.policy.pages import PAGES as POLICY
from apps.dashboard.transfers import flow, flows, new

PAGES: tuple[Page, ...] = (
    home.PAGE,
    new.PAGE,
    flows.PAGE,
    flow.PAGE,
    sites.PAGE,
    sites.ONE_PAGE,
    jobs.PAGE,
    reservations.PAGE,
    *POLICY,
    parts.PAGE,
    switches.PAGE,
    rules.PAGE,
    users.ALL_PAGE,
    users.ONE_PAGE,
    audit.PAGE,
    account.PAGE,
    *NETWORK,
    health_page.PAGE,
    placement_page.PAGE,
    evaluation_page.PAGE,
)
