"""Import rules between packages."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def imports(package: str) -> set[str]:
    """The top-level packages and ADON parts that a package's modules import."""
    found: set[str] = set()
    for module in (ROOT / package).rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module is not None:
                found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


ALLOWED = {"apps/collector": "adon.store.access."}
"""Who subscribed is looked up in the users' database, read only; the state is not the collector's."""

FORBIDDEN = [
    ("measurement", ("adon", "apps", "mininet_topos")),
    ("adon", ("apps", "mininet_topos", "flask", "cheroot")),
    ("adon/templates_catalog", ("adon.flowvisor", "adon.broker", "adon.store", "adon.access")),
    ("adon/flowvisor", ("adon.broker", "adon.store", "adon.access", "sqlalchemy")),
    ("adon/broker", ("adon.store", "adon.access", "os_ken", "sqlalchemy", "requests", "time", "random")),
    ("adon/broker", ("socket", "threading", "logging")),
    (
        "adon/simulation",
        ("adon.store", "adon.access", "os_ken", "sqlalchemy", "requests", "time", "threading"),
    ),
    ("adon/explain", ("adon.store", "adon.access", "os_ken", "sqlalchemy", "requests", "time", "random")),
    ("adon/explain", ("adon.simulation", "socket", "threading", "logging")),
    ("adon/broker", ("adon.explain", "adon.simulation")),
    (
        "adon/experiments",
        (
            "adon.broker",
            "adon.store",
            "adon.access",
            "adon.flowvisor",
            "plotly",
            "time",
            "socket",
        ),
    ),
    ("apps/experiments", ("apps.dashboard", "apps.evaluation", "apps.health", "apps.rest", "apps.cli")),
    ("adon/access", ("adon.broker", "adon.flowvisor", "sqlalchemy", "os_ken")),
    (
        "apps/figures",
        ("adon", "dash", "apps.dashboard", "apps.health", "apps.evaluation", "apps.rest", "apps.cli"),
    ),
    ("apps/dashboard", ("apps.health", "apps.evaluation")),
    ("apps/health", ("apps.dashboard", "apps.evaluation")),
    ("apps/evaluation", ("apps.dashboard", "apps.health")),
    ("apps/rest", ("adon.broker.broker", "os_ken", "mininet_topos")),
    ("apps/collector", ("adon.broker", "adon.store", "os_ken", "mininet_topos")),
]
"""By package what it must not import."""


@pytest.mark.parametrize(("package", "forbidden"), FORBIDDEN)
def test_nobody_knows_more_than_the_architecture_allows(package: str, forbidden: tuple[str, ...]) -> None:
    wrong = {
        name
        for name in imports(package)
        for top in forbidden
        if (name == top or name.startswith(f"{top}.")) and not name.startswith(ALLOWED.get(package, "-"))
    }
    assert not wrong
