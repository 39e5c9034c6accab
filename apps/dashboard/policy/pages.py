"""The pages of this area; of two that fit an address the first one is shown."""

from __future__ import annotations

from apps.dashboard.page import Page
from apps.dashboard.policy import (
    advice,
    catalog,
    decision,
    decisions,
    editor,
    forecasts,
    in_force,
    outcomes,
    queue,
    template,
)

PAGES: tuple[Page, ...] = (
    catalog.PAGE,
    editor.NEW,
    editor.EDIT,
    template.PAGE,
    decisions.PAGE,
    decision.PAGE,
    queue.PAGE,
    in_force.PAGE,
    outcomes.PAGE,
    forecasts.PAGE,
    advice.PAGE,
)
