"""Whatever the API can do, ``adon`` can: each operation of the description, and the command that asks for it.

The commands are run against the real web process; what they ask for is seen there.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from flask import request

from adon import yamlfile
from adon.templates_catalog.model import Template
from apps.rest.examples import EXAMPLES
from tests.apps.commands import assert_json, command_of
from tests.client.operations import METHODS, PREFIX, description, operations
from tests.support.fake_collector import FELL
from tests.support.web_world import SOYKB

OPERATIONS = operations(description())
WINDOW = ("--from", "2099-11-21T02:00:00Z", "--until", "2099-11-21T04:00:00Z")

COMMANDS: dict[str, tuple[str, ...]] = {
    "GET /alarms": ("alarm", "list"),
    "GET /alarms/{id}": ("alarm", "show", FELL.id),
    "POST /alarms/{id}/acknowledge": ("alarm", "ack", FELL.id),
    "GET /controllers": ("controllers",),
    "GET /decisions": ("decision", "list"),
    "GET /decisions/{id}": ("decision", "show", "d-1"),
    "GET /decisions/{id}/why-not": ("decision", "why-not", "d-1"),
    "GET /users": ("user", "list"),
    "POST /users": ("user", "add", "newcomer", "researcher"),
    "GET /users/me": ("whoami",),
    "GET /users/{name}": ("user", "show", "researcher"),
    "PATCH /users/{name}": ("user", "disable", "auditor"),
    "GET /roles": ("role", "list"),
    "GET /tokens": ("token", "list"),
    "POST /tokens": ("token", "create", "--label", "mine"),
    "GET /tokens/{id}": ("token", "show", "t-0"),
    "DELETE /tokens/{id}": ("token", "revoke", "t-0"),
    "GET /sessions": ("session", "list"),
    "DELETE /sessions": ("session", "end-others"),
    "GET /sessions/{id}": ("session", "show", "s-0"),
    "DELETE /sessions/{id}": ("session", "end", "s-0"),
    "GET /audit": ("audit", "list"),
    "GET /events": ("events", "--seconds", "0.05"),
    "GET /executions": ("measure", "runs"),
    "GET /flows": ("flow", "list"),
    "POST /flows": ("flow", "submit", "--from", "mu-dtn", "--to", "osu-dtn", "--size", "1 GB"),
    "POST /flow-previews": (
        *("flow", "submit", "--from", "mu-dtn", "--to", "osu-dtn", "--size", "1 GB", "--preview"),
    ),
    "GET /flows/{id}": ("flow", "show", "f-1"),
    "DELETE /flows/{id}": ("flow", "cancel", "f-1"),
    "GET /flows/{id}/advice": ("advice", "show", "f-1"),
    "GET /flows/{id}/decisions": ("decision", "show", "f-1"),
    "GET /flows/{id}/history": ("flow", "show", "f-1"),
    "GET /flows/{id}/outcome": ("flow", "outcome", "f-1"),
    "POST /flows/{id}/reports": ("flow", "report", "f-1", "progress", "--bytes", "1 GB"),
    "GET /flows/{id}/waiting": ("flow", "why", "f-1"),
    "GET /forecasts/calibration": ("forecast", "calibration"),
    "GET /health": ("status", "--parts"),
    "GET /healthz": ("status",),
    "GET /readyz": ("status",),
    "GET /hosts": ("host", "list"),
    "GET /jobs": ("job", "list"),
    "POST /jobs": ("job", "submit", "osu-hpc", "align"),
    "GET /jobs/{id}": ("job", "show", "j-1"),
    "DELETE /jobs/{id}": ("job", "cancel", "j-1"),
    "GET /maintenance": ("maintenance", "list"),
    "POST /maintenance": ("maintenance", "add", "path", "al2s", *WINDOW),
    "GET /maintenance/{id}": ("maintenance", "show", "m-1"),
    "DELETE /maintenance/{id}": ("maintenance", "cancel", "m-1"),
    "GET /measurements": ("measure", "list"),
    "POST /measurements": ("measure", "run", "al2s", "mu", "osu", "--no-wait"),
    "GET /measurements/boxes": ("measure", "boxes"),
    "GET /measurements/mesh": ("measure", "mesh"),
    "GET /measurements/series": ("measure", "series"),
    "GET /measurements/plot": ("measure", "history", "al2s", "mu", "osu"),
    "GET /metrics": ("metrics",),
    "GET /network": ("switch", "list"),
    "GET /openapi.json": ("openapi",),
    "GET /outcomes": ("outcome", "list"),
    "GET /overlaps": ("measure", "overlaps"),
    "GET /paths": ("path", "list"),
    "GET /points": ("measure", "points"),
    "GET /policy": ("policy", "show"),
    "GET /queue": ("queue",),
    "GET /reservations": ("reserve", "list"),
    "POST /reservations": ("reserve", "compute", "osu-hpc", "--nodes", "1", "--until", "2 h"),
    "GET /reservations/{id}": ("reserve", "show", "r-1"),
    "DELETE /reservations/{id}": ("reserve", "release", "r-1"),
    "GET /resources": ("reserve", "free"),
    "GET /rules": ("rules", "show"),
    "GET /rules/diff": ("rules", "diff"),
    "GET /rules/explain": ("rules", "explain", "f-1"),
    "GET /rules/sent": ("rules", "sent"),
    "POST /rules/sync": ("rules", "sync"),
    "GET /schedule": ("measure", "schedule"),
    "GET /schedule/gantt": ("measure", "schedule", "--page", "{folder}/plan.html"),
    "GET /sites": ("site", "list"),
    "GET /sites/{name}": ("site", "show", "osu-hpc"),
    "GET /slices": ("slice", "list"),
    "GET /studies": ("study", "list"),
    "POST /studies": ("study", "submit", "placement", "{placement}"),
    "GET /studies/{id}": ("study", "show", "{study}"),
    "DELETE /studies/{id}": ("study", "delete", "{study}"),
    "GET /subscriptions": ("alarm", "subscriptions"),
    "POST /subscriptions": ("alarm", "subscribe", "ann@example.org"),
    "GET /subscriptions/{id}": ("alarm", "subscription", "{subscription}"),
    "DELETE /subscriptions/{id}": ("alarm", "unsubscribe", "{subscription}"),
    "GET /template-backtests": ("backtest", "list"),
    "POST /template-backtests": ("backtest", "start", "{template}", "--since", "7 d"),
    "GET /template-backtests/{id}": ("backtest", "show", "b-000000000000"),
    "DELETE /template-backtests/{id}": ("backtest", "cancel", "b-000000000000"),
    "POST /template-checks": ("template", "check", "{template}"),
    "GET /templates": ("template", "list"),
    "POST /templates": ("template", "add", "{template}"),
    "GET /templates/{name}": ("template", "show", "soykb"),
    "GET /templates/{name}/diff": ("template", "diff", "soykb"),
    "GET /templates/{name}/versions": ("template", "versions", "soykb"),
    "GET /templates/{name}/versions/{version}": ("template", "show", "soykb@1"),
    "GET /version": ("version",),
    "GET /what-if": ("what-if", "--all"),
    "GET /workflows": ("workflow", "list"),
    "POST /advice": ("advice", "show", "--rate", "10 Gbps", "--rtt", "33 ms"),
}
"""Each operation, and a command that asks for it."""


def test_the_table_is_of_the_operations_that_there_are():
    assert set(COMMANDS) == set(OPERATIONS), "a new operation needs a command"


@pytest.fixture
def asked(world):
    """The operations that the web process was asked for."""
    found: list[str] = []

    @world.app.before_request
    def record() -> None:
        if request.url_rule is not None:
            path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", request.url_rule.rule)
            found.append(f"{request.method} {path.removeprefix(PREFIX)}")

    return found


@pytest.fixture
def filled(world, asked, adon, tmp_path):
    """The world with one of everything; what stands in the table for what is made here."""
    world.submit(as_="admin")
    template = tmp_path / "soykb.yaml"
    template.write_text(yamlfile.dump(Template.model_validate(SOYKB)).replace("version: 1\n", ""))
    body = {"channel": "mail", "target": "ann@example.org", "filter": {"least": "warning"}}
    made = world.ask("POST", "/subscriptions", json=body)
    assert made.status_code == 201, made.text
    placement = tmp_path / "placement.json"
    placement.write_text(json.dumps(EXAMPLES["add_study"]["document"]))
    study = world.ask("POST", "/studies", json=EXAMPLES["add_study"])
    assert study.status_code == 201, study.text
    asked.clear()
    return {
        "{folder}": str(tmp_path),
        "{template}": str(template),
        "{subscription}": made.json["id"],
        "{placement}": str(placement),
        "{study}": study.json["id"],
    }


def test_each_command_asks_for_its_operation_and_speaks_json(filled, asked, adon):
    """All in one world: making one takes longer than the commands."""
    for operation, words in COMMANDS.items():
        arguments = list(words)
        for name, value in filled.items():
            arguments = [word.replace(name, value) for word in arguments]
        asked.clear()
        found = adon(*arguments, "--json")
        assert operation in asked, f"adon {' '.join(words)} asked for {asked}: {found.output}"
        assert_json(found, lines=words[0] == "events")


def test_the_manual_has_the_table():
    text = (Path(__file__).parents[2] / "docs" / "cli.md").read_text()
    told = dict(re.findall(rf"^\| `((?:{'|'.join(METHODS).upper()}) [^`]+)` \| (.+) \|$", text, re.MULTILINE))
    assert set(told) == set(OPERATIONS)
    for operation, words in COMMANDS.items():
        name = " ".join(words)
        command = command_of(name)
        assert told[operation].startswith(f"`adon {command}"), operation
