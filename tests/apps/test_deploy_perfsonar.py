"""What a perfSONAR site needs, printed by ``adon deploy perfsonar`` and used by an archiver."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml
from typer.testing import CliRunner

from adon.config import load
from adon.errors import InvalidInput, NotFound
from apps.cli.main import app
from apps.collector.ways_in import ways_in
from apps.deploy.perfsonar import site_files
from measurement.archive import Archive
from tests.apps.collecting import run_collector, succeed
from tests.apps.edge import NETWORK, eventually
from tests.measurement.sources.messages import message
from tests.ports import free_port
from tests.support.refusals import refused

COLLECTOR = "192.0.2.80"
SECRET = "token-of-mu"  # noqa: S105 - of this test


def configured(folder: Path, **more: Any) -> Path:
    document = yaml.safe_load(NETWORK.read_text())
    document["access"] = {"public_url": "https://adon.example.edu"}
    document["measurements"] |= {"ingest": {"trust": "points.toml"}, "publish_psconfig": True} | more
    file = folder / "network.yaml"
    file.write_text(yaml.safe_dump(document, sort_keys=False))
    return file


def printed(file: Path) -> Any:
    command = ["deploy", "perfsonar", "mu", "--config", str(file), "--collector", COLLECTOR]
    return CliRunner().invoke(app, command)


def ping(kind: str = "rtt", result: dict[str, Any] | None = None) -> dict[str, Any]:
    spec = {"source": "10.1.0.11", "dest": "10.2.0.11", "count": 3}
    return message(kind, result, spec=spec, ended=float(int(time.time())) - 1, participants=["10.1.0.11"])


def test_site_gets_its_values_from_the_configuration(tmp_path: Path) -> None:
    tls = {"host": "0.0.0.0", "port": 8444, "certificate": "c.pem", "key": "k.pem", "trust": "points.toml"}
    found = site_files(load(configured(tmp_path, ingest=tls)), "mu", COLLECTOR)
    data = found["archive"]["data"]
    assert (found["archive"]["archiver"], data["schema"], data["op"]) == ("http", 3, "put")
    assert (data["_url"], data["verify-ssl"]) == ("https://adon.example.edu:8444/results", True)
    assert data["_headers"]["Authorization"] == "Bearer TOKEN"
    assert all(step["attempts"] > 0 for step in data["retry-policy"])
    (identifier,) = found["limits"]["identifiers"]
    assert identifier["data"] == {
        "cidrs": ["10.2.0.10/32", "10.2.0.11/32", "10.2.0.12/32", "192.0.2.80/32"]  # osu's host and addresses
    }
    (application,), (limit,) = found["limits"]["applications"], found["limits"]["limits"]
    assert application["classifier"] == found["limits"]["classifiers"][0]["name"]
    assert application["apply"] == [{"require": "all", "limits": [limit["name"]]}]
    assert found["subscribe"] == 'psconfig remote add "https://adon.example.edu/api/v1/psconfig/mu-osu"'


def test_command_prints_the_parts(tmp_path: Path) -> None:
    found = printed(configured(tmp_path))
    assert (found.exit_code, found.stderr) == (0, "")
    assert set(json.loads(found.stdout)) == {"archive", "limits", "subscribe"}


@pytest.mark.parametrize(
    ("change", "site", "collector", "wrong"),
    [
        ({"ingest": None}, "mu", COLLECTOR, "measurements.ingest"),
        ({"publish_psconfig": False}, "mu", COLLECTOR, "measurements.publish_psconfig"),
        ({}, "mu", "collector.example.edu", "--collector"),
        ({}, "elsewhere", COLLECTOR, None),
    ],
)
def test_missing_values_are_named(
    tmp_path: Path, change: dict[str, Any], site: str, collector: str, wrong: str | None
) -> None:
    configuration = load(configured(tmp_path, **change))
    with refused(NotFound) if wrong is None else refused(InvalidInput, wrong):
        site_files(configuration, site, collector)


def test_public_address_is_needed(tmp_path: Path) -> None:
    file = configured(tmp_path)
    file.write_text(file.read_text().replace("access:\n  public_url: https://adon.example.edu\n", ""))
    with refused(InvalidInput, "access.public_url"):
        site_files(load(file), "mu", COLLECTOR)


def archive(data: dict[str, Any], document: dict[str, Any]) -> tuple[int, int]:
    """Send a document as pScheduler's archiver does; how often it was sent, and the last status.

    Every status but 2xx is repeated as often as the steps of the policy say, and never without a policy.
    """
    sent, left = 0, sum(step["attempts"] for step in data["retry-policy"])
    while True:
        answer = requests.request(
            data["op"], data["_url"], json=document, headers=data["_headers"], timeout=60
        )
        sent += 1
        if answer.ok or sent > left:
            return sent, answer.status_code


def test_archiver_with_the_printed_definition_is_archived_and_gives_up(tmp_path: Path) -> None:
    digest = hashlib.sha256(SECRET.encode()).hexdigest()
    (tmp_path / "points.toml").write_text(
        f'[[known]]\nname = "mu"\ntoken_sha256 = "{digest}"\nmay = ["archive"]\n'
    )
    file = configured(tmp_path, ingest={"port": free_port(), "trust": "points.toml"})
    definition = json.loads(printed(file).stdout)["archive"]["data"]
    headers = {**definition["_headers"], "Authorization": f"Bearer {SECRET}"}
    known = {**definition, "_headers": headers}
    with run_collector(tmp_path / "m.db", succeed) as collector:
        eventually(lambda: collector.collector.leads)
        with ways_in(load(file), tmp_path, collector.inbox):
            assert archive(known, ping()) == (1, 200)
            assert archive(known, ping("http", {"succeeded": True})) == (1, 200)  # a test not read here
            assert archive(definition, ping()) == (17, 401)
            assert archive(known, {**ping(), "id": "seventeen"}) == (17, 422)
            assert archive({**known, "retry-policy": []}, {**ping(), "test": None}) == (1, 422)
    with Archive(tmp_path / "m.db", readonly=True) as archived:
        assert len([one for one in archived.query() if "tasks/1111" in one.source]) == 2
