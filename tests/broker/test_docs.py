"""docs/broker.md and docs/architecture.md say what the code does."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from adon.broker.counters import Evidence
from adon.broker.effects import Effect
from adon.broker.events import Event
from adon.broker.flow import STEPS, FlowState, Quality

ROOT = Path(__file__).parents[2]
BROKER = (ROOT / "docs" / "broker.md").read_text()
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text()


def picture() -> str:
    """The life of a flow, drawn from its table."""
    lines = ["```mermaid", "stateDiagram-v2", "    [*] --> requested"]
    for state in FlowState:
        lines += [f"    {state} --> {step}" for step in FlowState if step in STEPS[state]]
    lines += [f"    {state} --> [*]" for state in FlowState if state.final]
    return "\n".join([*lines, "```"])


def test_the_picture_is_the_table() -> None:
    assert picture() in BROKER, f"docs/broker.md should hold:\n{picture()}"


def test_every_event_and_effect_is_explained() -> None:
    kinds = [kind for base in (Event, Effect) for kind in base.__subclasses__()]
    ours = [kind.__name__ for kind in kinds if kind.__module__.startswith("adon.")]
    assert [name for name in ours if f"`{name}`" not in BROKER] == []


@pytest.mark.parametrize("word", [str(word) for words in (Quality, Evidence) for word in words])
def test_every_word_a_user_may_read_is_explained(word: str) -> None:
    assert f"`{word}`" in BROKER


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
    ("adon/broker", ("adon.simulation",)),
    (
        "adon/experiments",
        (
            "adon.broker",
            "adon.store",
            "adon.access",
            "adon.flowvisor",
            "pyarrow",
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


@pytest.mark.parametrize("package", sorted({package for package, _ in FORBIDDEN} - {"adon"}))
def test_the_architecture_says_it(package: str) -> None:
    table = ARCHITECTURE.split("## Who may know what\n")[1].split("\n## ")[0]
    assert f"`{package}`" in " ".join(line.split("|")[1] for line in table.splitlines() if "|" in line)


@pytest.mark.parametrize("module", sorted(path.stem for path in (ROOT / "adon" / "broker").glob("[a-z]*.py")))
def test_every_module_of_the_broker_has_its_place(module: str) -> None:
    assert f"`{module}.py`" in BROKER
