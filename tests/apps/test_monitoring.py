"""The Grafana dashboard and the alert rules: every query against a real Prometheus, a real PostgreSQL."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import requests
import sqlalchemy
import typer.main
import yaml
from typer.testing import CliRunner

from adon.config import load
from adon.store.lease import CONTROLLER
from apps.cli.main import app
from apps.configuration_reload import Reloading
from apps.deploy.grafana import PATHS, dashboard
from apps.deploy.kept import text
from apps.link import SUPERVISOR, LinkClient, LinkServer, Peer
from apps.rest.services import NAME
from measurement.archive import Archive, Retention
from tests import postgresql
from tests.apps.edge import NETWORK, eventually
from tests.apps.identity.processes import running
from tests.ports import free_port
from tests.support.factories import make_features
from tests.support.stage import MU_EDGE
from tests.support.web_world import NOW, World, empty_database, measurements

SILENT = {"adon_of_errors_total", "adon_measurement_age_seconds"}
"""Of these there may be no sample where nothing went wrong, or nothing was measured."""


def queries(*, sql: bool) -> dict[str, str]:
    """The dashboard's queries by panel and legend."""
    return {
        f"{panel['title']}: {target.get('legendFormat', '')}": target["rawSql" if sql else "expr"]
        for panel in dashboard()["panels"]
        for target in panel.get("targets", [])
        if ("rawSql" in target) is sql
    }


def alerts() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load(text("alerts.yaml", Path("/opt/adon")))["groups"]
    return list(group["rules"])


def metrics_of(query: str) -> set[str]:
    return set(re.findall(r"\badon_[a-z0-9_]+", query))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The web side with a supervisor and a lease, so that it tells all that it ever does."""
    folder = tmp_path_factory.mktemp("world")
    (folder / "empty").mkdir()
    made = World(folder, empty_database(folder / "empty"))
    assert made.controller is not None
    made.report_sites()
    made.stage.switches[MU_EDGE].features = make_features()
    made.stage.disconnect(MU_EDGE)
    made.stage.connect(MU_EDGE)
    made.stage.reserve(compute="osu-hpc", worker_nodes=1)
    made.controller.store.take_lease(CONTROLLER, "edge-1", 0.0)
    (folder / "network.yaml").write_text(NETWORK.read_text())
    reloading = Reloading(folder / "network.yaml", folder, load(NETWORK), lambda: NOW)

    def answer(peer: Peer, kind: str, told: dict[str, Any]) -> None:
        if kind == "standing":
            peer.answer(told["command"], reloading.standing())

    with closing(LinkServer(folder / SUPERVISOR, answer)):
        link = LinkClient(folder / SUPERVISOR, "web")
        with closing(link):
            eventually(lambda: link.connected)
            made.app.extensions[NAME] = replace(made.app.extensions[NAME], supervisor=link)
            yield made
    made.close()


@pytest.fixture(scope="module")
def told(world: World) -> set[str]:
    """The names of all metrics, also those without a sample."""
    lines = world.ask("GET", "/metrics").text.splitlines()
    families = [line.split()[2:4] for line in lines if line.startswith("# TYPE ")]
    parts = [f"{name}{end}" for name, kind in families if kind == "histogram" for end in PARTS]
    return {name for name, _ in families} | set(parts)


PARTS = ("_bucket", "_sum", "_count")


def test_every_metric_that_is_asked_for_is_told(told: set[str]) -> None:
    asked = [*queries(sql=False).values(), *(rule["expr"] for rule in alerts())]
    wanted = {name for query in asked for name in metrics_of(query)}
    assert len(wanted) > 25
    assert wanted - told == set()


def test_every_command_that_an_alert_names_is_one() -> None:
    group = typer.main.get_command(app)
    for rule in alerts():
        for words in re.findall(r"\badon ([a-z-]+(?: [a-z-]+)?)", rule["annotations"]["action"]):
            found: Any = group
            for word in words.split():
                if hasattr(found, "commands"):
                    assert word in found.commands, words
                    found = found.commands[word]


def test_panels_overlap_nowhere_and_have_their_own_ids() -> None:
    panels = dashboard()["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        at = panel["gridPos"]
        squares = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert max(x for x, _ in squares) < 24
        assert not squares & taken, panel["title"]
        taken |= squares
    assert json.loads(CliRunner().invoke(app, ["deploy", "grafana"]).stdout) == dashboard()


# -- Prometheus ----------------------------------------------------------------------------------------------


def promtool(*words: str, folder: Path) -> None:
    assert shutil.which("promtool"), "Prometheus is not there: run scripts/setup.sh test"
    done = subprocess.run(["promtool", *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.integration
def test_which_alerts_fire_and_which_do_not(tmp_path: Path) -> None:
    (tmp_path / "alerts.yaml").write_text(text("alerts.yaml", tmp_path))
    shutil.copy(Path(__file__).with_name("alerts_test.yaml"), tmp_path)
    promtool("test", "rules", "alerts_test.yaml", folder=tmp_path)


@pytest.fixture(scope="module")
def prometheus(world: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Prometheus that has read ADON's metrics twice; its address."""
    folder, port = tmp_path_factory.mktemp("prometheus"), free_port()
    (folder / "token").write_text(world.token("prometheus", "operator"))
    (folder / "alerts.yaml").write_text(text("alerts.yaml", folder))
    with world.served() as address:
        read = yaml.safe_load(text("prometheus.yaml", folder))
        (job,) = read["scrape_configs"]
        # What a site fills in, and a shorter time between two looks.
        job |= {"scheme": "http", "scrape_interval": "1s"}
        job["authorization"]["credentials_file"] = str(folder / "token")
        job["static_configs"] = [{"targets": [address.removeprefix("http://")]}]
        read["rule_files"] = [str(folder / "alerts.yaml")]
        (folder / "prometheus.yml").write_text(yaml.safe_dump(read))
        promtool("check", "config", "prometheus.yml", folder=folder)
        here = f"127.0.0.1:{port}"
        command = ["prometheus", "--config.file=prometheus.yml", f"--web.listen-address={here}"]
        command = ["env", "-C", str(folder), *command, "--storage.tsdb.path=data"]
        with running(command, folder / "out", lambda: bool(looks(here) >= 2)):
            yield f"http://{here}"


class NotYet(Exception):
    """Prometheus is still starting."""


def looks(address: str) -> int:
    """How often Prometheus has read ADON's metrics."""
    try:
        found = asked(f"http://{address}", 'count_over_time(up{job="adon"}[1h]) and (up{job="adon"} == 1)')
    except (requests.RequestException, NotYet):
        return 0
    return int(found[0]["value"][1]) if found else 0


def asked(prometheus: str, query: str) -> list[Any]:
    with requests.Session() as session:
        session.trust_env = False
        answer = session.get(f"{prometheus}/api/v1/query", params={"query": query}, timeout=60)
    if answer.status_code == 503:
        raise NotYet
    assert answer.status_code == 200, f"{query}: {answer.text}"
    return list(answer.json()["data"]["result"])


@pytest.mark.integration
def test_every_panel_has_something_to_show(prometheus: str) -> None:
    def empty() -> set[str]:
        return {
            panel
            for panel, query in queries(sql=False).items()
            if not metrics_of(query) & SILENT and not asked(prometheus, query)
        }

    # No link is there, and both failures that were timed are over.  A failed scrape leaves gaps for a while.
    eventually(lambda: empty() == {"Links, by state: {{state}}"}, "a panel has nothing to show")


@pytest.mark.integration
def test_the_rules_are_evaluated_without_a_fault(prometheus: str) -> None:
    with requests.Session() as session:
        session.trust_env = False
        (group,) = session.get(f"{prometheus}/api/v1/rules", timeout=60).json()["data"]["groups"]
    assert {rule["name"] for rule in group["rules"]} == {rule["alert"] for rule in alerts()}
    assert [rule["lastError"] for rule in group["rules"] if rule.get("lastError")] == []


# -- the archive ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def archive() -> Iterator[sqlalchemy.Connection]:
    """An archive in PostgreSQL, as Grafana's data source sees it: a role that may only read."""
    folder = Path(tempfile.mkdtemp(prefix="adon-grafana-"))
    folder.chmod(0o755)
    try:
        with postgresql.running(folder, ["fsync=off"]) as url:
            with closing(Archive(url)) as opened:
                opened.append(measurements())
                opened.maintain(NOW + 600, Retention())
            engine = sqlalchemy.create_engine(url)
            with engine.begin() as owner:
                owner.exec_driver_sql("CREATE ROLE grafana LOGIN")
                owner.exec_driver_sql("GRANT SELECT ON series, rollup TO grafana")
            with engine.connect() as connection:
                connection.exec_driver_sql("SET ROLE grafana")
                yield connection
            engine.dispose()
    finally:
        shutil.rmtree(folder)


@pytest.mark.integration
def test_the_panels_of_the_archive_read_what_was_measured(archive: sqlalchemy.Connection) -> None:
    paths = [row[0] for row in archive.exec_driver_sql(PATHS)]
    assert paths == ["al2s", "internet"]
    macros = {
        "${path:sqlstring}": ",".join(f"'{path}'" for path in paths),
        "$__unixEpochFrom()": str(NOW - 3600),
        "$__unixEpochTo()": str(NOW + 60),
    }
    found = {}
    for panel, query in queries(sql=True).items():
        for macro, value in macros.items():
            query = query.replace(macro, value)
        found[panel] = {row.metric: row.value for row in archive.exec_driver_sql(query)}
    assert found["Throughput: "] == pytest.approx({"al2s mu→osu": 58e6, "internet mu→osu": 6.5e6})
    assert found["Round trip: "] == pytest.approx({"al2s mu→osu": 0.033, "internet mu→osu": 0.041})
    assert found["Loss: "] == {}
