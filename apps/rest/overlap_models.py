"""What the API answers about runs that met."""

from __future__ import annotations

from apps.rest.measuring_models import ExecutionView
from apps.rest.models import View


class OverlapView(View):
    """Two conflicting runs that ran at the same time."""

    first: ExecutionView
    second: ExecutionView


class OverlapList(View):
    """Overlaps, the newest first; at most 500."""

    items: list[OverlapView]
