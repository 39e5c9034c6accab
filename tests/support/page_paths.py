"""Addresses of the pages of the dashboard."""

from __future__ import annotations

from adon.studies.model import StudyKind
from measurement.model import to_json
from tests.studies.documents import an_evaluation, id_of
from tests.support.web_world import DECISION

RUN = id_of(StudyKind.EVALUATION, to_json(an_evaluation()))
PATHS = (
    "/",
    "/new",
    "/flows",
    "/flows/f-1",
    "/sites",
    "/sites/osu-hpc",
    "/jobs",
    "/reservations",
    "/templates",
    "/templates/new",
    "/templates/soykb",
    "/templates/soykb/edit",
    "/decisions",
    f"/decisions/{DECISION}",
    "/queue",
    "/policy",
    "/outcomes",
    "/advice",
    "/advice?flow=f-1",
    "/health",
    "/rules",
    "/rules?owner=f-1",
    "/users",
    "/users/researcher",
    "/audit",
    "/account",
    "/network",
    "/mesh",
    "/series",
    "/paths/al2s",
    "/schedule",
    "/alarms",
    "/alarms/4726b12a-d9d1-593d-9279-08b62b15d5b0",
    "/workflows",
    "/maintenance?failure=path-down&name=al2s",
    "/instances?source=a1&destination=b1&k=3",
    "/placements",
    f"/evaluations?study={RUN}",
)
"""As a new page comes, its address, in a line of its own."""
