"""Transfers that ADON moves, over the API; the process that moves them is played."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from adon.broker.flow import FlowState
from adon.config.transfers import Transfers
from adon.errors import Conflict
from adon.transfers.machine import Phase, Transfer
from apps.movers.book import Book, read
from apps.rest.services import NAME
from tests.apps.test_rest import fields
from tests.apps.web import NOW

MOVED = {"tool": "rclone", "source": "data:run/", "destination": "osu:in/"}
KNOWN = Transfer(1, "adon/f-1/1", "mu-dtn", phase=Phase.RETRYING, tries=2, bytes=7, next_at=NOW, error="full")


class Movers:
    connected = True

    def __init__(self) -> None:
        self.asked: list[object] = []
        self.refuses = False

    def call(self, kind, payload, timeout=10.0):
        self.asked.append((kind, payload))
        if self.refuses:
            raise Conflict("state", "it waits for no retry")
        return {}


@pytest.fixture
def movers(world):
    played, folder = Movers(), world.archive.parent
    known = lambda flow: read(folder, flow)  # noqa: E731
    world.app.extensions[NAME] = replace(world.app.extensions[NAME], movers=played, transfers=known)
    return played


def test_a_transfer_that_is_not_taken_up_yet_waits(world, movers):
    name = world.submit(transfer=MOVED)
    answer = world.ask("GET", f"/flows/{name}/transfer", "researcher")
    assert (answer.status_code, answer.json["state"], answer.json["source"]) == (200, "waiting", "data:run/")
    assert world.ask("GET", f"/flows/{name}").json["request"]["transfer"]["tool"] == "rclone"


def test_what_the_process_knows_is_shown(world, movers):
    name = world.submit(transfer=MOVED)
    book = Book(world.archive.parent)
    book.save(KNOWN)
    book.close()
    shown = world.ask("GET", f"/flows/{name}/transfer", "researcher").json
    found = {field: shown[field] for field in ("at", "state", "tries", "bytes", "error", "attached")}
    assert found == {
        "at": "mu-dtn",
        "state": "retrying",
        "tries": 2,
        "bytes": 7,
        "error": "full",
        "attached": False,
    }


def test_a_flow_whose_data_somebody_else_moves_has_no_transfer(world, movers):
    name = world.submit()
    assert world.ask("GET", f"/flows/{name}/transfer").status_code == 404
    assert world.ask("POST", f"/flows/{name}/transfer/retry", json={}).status_code == 404


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"tool": "scp"}, "transfer.tool"),
        ({"source": "data:../etc/"}, "transfer.source"),
        ({"attach": 3}, "transfer"),
        ({"options": {"files": 0}}, "transfer.options.files"),
        ({"command": "rm"}, "transfer.command"),
    ],
)
def test_a_wrong_transfer_is_refused_with_its_field(world, change, field):
    wish = {"source": "mu-dtn", "destination": "osu-dtn", "size": "1 GB", "template": "soykb"}
    answer = world.ask("POST", "/flows", "researcher", json={**wish, "transfer": {**MOVED, **change}})
    assert answer.status_code == 422
    assert any(one.startswith(field) for one in fields(answer)), answer.json


def test_a_transfer_under_way_is_tried_again_at_once(world, movers):
    name = world.submit(transfer=MOVED)
    answer = world.ask("POST", f"/flows/{name}/transfer/retry", "researcher", json={})
    assert (answer.status_code, answer.json["id"]) == (202, name)
    assert movers.asked == [("transfer.retry", {"flow": 1})]
    movers.refuses = True
    assert world.ask("POST", f"/flows/{name}/transfer/retry", "researcher", json={}).status_code == 409


def test_one_that_failed_goes_on_as_a_new_flow(world, movers):
    name = world.submit(transfer=MOVED, deadline="2099-01-01T00:00:00Z")
    world.fill(name)
    world.controller.end(1, FlowState.FAILED)
    answer = world.ask("POST", f"/flows/{name}/transfer/retry", "researcher", json={})
    assert (answer.status_code, answer.json["id"]) == (202, "f-2")
    assert answer.headers["Location"].endswith("/flows/f-2")
    assert answer.json["request"]["transfer"]["source"] == "data:run/"
    assert "deadline" not in answer.json["request"]
    assert not movers.asked


def test_one_that_finished_is_not_repeated(world, movers):
    name = world.submit(transfer=MOVED)
    world.fill(name)
    world.controller.end(1, FlowState.FINISHED)
    assert world.ask("POST", f"/flows/{name}/transfer/retry", "researcher", json={}).status_code == 409


def test_a_book_of_the_version_before_is_taken_over(tmp_path):
    Book(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / "transfers.db")) as old:
        old.executescript("DROP TABLE letters; PRAGMA user_version = 1;")
        document = {"flow": 1, "key": "k", "at": "mu-dtn", "phase": "running", "job": 4, "mark": "k/1"}
        old.execute("INSERT INTO transfers VALUES (1, 1, ?)", (json.dumps(document),))
        old.commit()
    book = Book(tmp_path)
    assert [(one.job, one.phase, one.told) for one in book.open_ones()] == [(4, Phase.RUNNING, ())]
    assert book.boxes() == []
    book.close()


def test_the_tools_are_those_that_one_may_use(world):
    remotes = {"data": {"at": "mu-dtn", "fs": "/data"}}
    tool = {"url": "http://127.0.0.1:9", "password_file": "secret-file", "remotes": remotes}
    section = {"rclone": {"mu-dtn": tool, "osu-dtn": {**tool, "groups": ["others"]}}}
    services = world.app.extensions[NAME]
    transfers = Transfers.model_validate(section)
    configuration = services.configuration.model_copy(update={"transfers": transfers})
    world.app.extensions[NAME] = replace(services, configuration=configuration)
    answer = world.ask("GET", "/transfer-tools", "researcher")
    assert answer.json["items"] == [
        {
            "id": "rclone/mu-dtn",
            "tool": "rclone",
            "name": "mu-dtn",
            "attach": True,
            "places": [{"name": "data", "host": "mu-dtn"}],
        }
    ]
    assert "secret-file" not in answer.text
