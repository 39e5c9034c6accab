"""Whatever the API can do, ``adon`` can: each operation of the description, and the command that asks for it.

The commands are run against the real web process; what they ask for is seen there.
"""

from __future__ import annotations

import json
import re

import pytest
from flask import request

from adon import yamlfile
from adon.api.routes import ROUTES
from adon.templates_catalog.model import Template
from apps.cli.command_table import command_of_route
from apps.rest.examples import EXAMPLES
from tests.apps.commands import assert_json, commands
from tests.client.operations import PREFIX, description, operations
from tests.support.cli_commands import COMMANDS
from tests.support.web_world import SOYKB

OPERATIONS = operations(description())


def test_the_table_is_of_the_operations_that_there_are():
    assert set(COMMANDS) == set(OPERATIONS), "a new operation needs a command"


def test_each_route_has_a_command_of_the_parser():
    found = command_of_route()
    assert set(found) == set(ROUTES)
    assert set(found.values()) <= set(commands())


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
