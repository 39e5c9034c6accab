"""The database goes away in the middle of a decision: real controllers, Open vSwitch, SQLite, PostgreSQL.

Nothing is told to a switch that was not saved; the controller ends and says why; whoever asked is told that
it did not work (503), and finds nothing half-written when the database is back.
"""

from __future__ import annotations

import importlib.util
import os
import resource
import shutil
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from adon.access.identity import create_token
from adon.config import load
from adon.errors import EXIT_DATABASE, Unavailable
from adon.store.access.access import Access, access_url
from adon.store.access.access_tables import ACCESS
from adon.store.schema import make_database
from adon.store.store import Store
from apps.link import LinkClient
from apps.rest.services import open_services
from apps.rest.web_app import create_app
from tests import postgresql as server
from tests.apps.edge import Controller, Member, Switches, both_edges, eventually, measured
from tests.support.switched_flows import (
    FLOW_COOKIE,
    await_state,
    await_switches,
    prepare,
    rules_with,
    submit_flow,
)

pytestmark = pytest.mark.integration

WISH: dict[str, Any] = {
    "source": "mu-dtn",
    "destination": "osu-dtn",
    "size": "10 MB",
    "template": "test-bulk",
    "ports": [5002],
}


def no_more_room(controller: Controller) -> None:
    """As a full disk: the process may write no further into any file than its log is long, and a bit.

    Its log may grow by as much; SQLite's write-ahead log is longer already.
    """
    assert controller.process is not None
    most = controller.log.stat().st_size + 16_384
    assert (controller.folder / "state.db-wal").stat().st_size > most
    resource.prlimit(controller.process.pid, resource.RLIMIT_FSIZE, (most, most))


def ended(controller: Controller) -> int:
    assert controller.process is not None
    return controller.process.wait(60)


def test_a_full_disk_ends_the_controller_before_a_switch_hears_of_the_flow(
    controller: Controller, switches: Switches
) -> None:
    token, saved = create_token("ann", time.time())
    url = access_url(controller.folder, controller.url)
    make_database(url, ACCESS)
    with Access.open(url) as access:
        access.users.ensure("ann", ["admin"], time.time())
        access.tokens.save(saved)
    with controller.client() as link:
        prepare(link)
        number = submit_flow(link)
        await_state(controller, number, "active")
    rules = rules_with(switches, FLOW_COOKIE)
    with open_services(load(controller.config), controller.folder, controller.url) as services:
        asked: Any = create_app(services).test_client()
        headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": "k-1"}
        eventually(lambda: services.controller.connected, "the web side is not connected")
        no_more_room(controller)
        answer = asked.post("/api/v1/flows", json=WISH, headers=headers)
        assert (answer.status_code, answer.mimetype) == (503, "application/problem+json")
        assert ended(controller) == EXIT_DATABASE
        assert controller.said("event=store.failed") == 1
        assert controller.said("event=bug") == 0
        assert sorted(cookies(rules_with(switches, FLOW_COOKIE))) == sorted(cookies(rules))
        shown = asked.get("/api/v1/flows", headers={"Authorization": f"Bearer {token}"}).json
        assert [one["id"] for one in shown["items"]] == [f"f-{number}"], "nothing is half-written"

        controller.start()
        eventually(lambda: controller.said("code=switch-connected") == 4, "the switches did not come back")
        eventually(lambda: services.controller.connected, "the web side is not connected again")
        with (
            controller.client() as link
        ):  # open until they have been heard: a socket that is closed may lose them
            know(link)
            again = asked.post("/api/v1/flows", json=WISH, headers=headers)
            assert (again.status_code, again.json["id"]) == (202, f"f-{number + 1}")
            await_state(controller, number + 1, "active")
        assert len(rules_with(switches, FLOW_COOKIE)) == 2 * len(rules)


def know(link: LinkClient) -> None:
    """A restart knows no measurements until they are sent again."""
    link.send("measurement", measured("al2s", 50))
    link.send("measurement", measured("internet", 5))


def cookies(lines: list[str]) -> list[str]:
    return [line.partition(",")[0] for line in lines]


@pytest.mark.slow
def test_a_postgresql_that_is_killed_ends_the_controller_which_goes_on_when_it_is_back(
    tmp_path: Path,
) -> None:
    if importlib.util.find_spec("psycopg") is None or not server.installed():
        pytest.skip("no PostgreSQL server, or no driver, is installed")
    folder = Path(tempfile.mkdtemp(prefix="adon-pg-"))
    try:
        with server.running(folder) as url:
            make_database(url)
            member = Member(tmp_path, "a", url)
            member.configure(ha=None)
            with both_edges(tmp_path, member.port) as switches:
                try:
                    number = killed_meanwhile(member, switches, folder)
                    with server.again(folder):
                        goes_on(member, switches, number)
                finally:
                    member.stop()
    finally:
        shutil.rmtree(folder)


def killed_meanwhile(member: Member, switches: Switches, folder: Path) -> int:
    """A flow runs; the database is killed, and another flow is asked for."""
    member.start()
    await_switches(member, switches)
    with member.client() as link:
        prepare(link)
        number = submit_flow(link)
        await_state(member, number, "active")
        rules = rules_with(switches, FLOW_COOKIE)
        os.kill(server.pid(folder), signal.SIGQUIT)  # at once, without a checkpoint
        eventually(lambda: not server.alive(folder), "the database is still there")
        with pytest.raises(Unavailable):
            submit_flow(link, ports=[5002])
    assert member.ended() == EXIT_DATABASE
    assert member.said("event=store.failed") == 1
    assert sorted(cookies(rules_with(switches, FLOW_COOKIE))) == sorted(cookies(rules))
    return number


def goes_on(member: Member, switches: Switches, number: int) -> None:
    with Store.open(member.url, read_only=True) as store:
        assert [flow.number for flow in store.flows()] == [number]
    member.start()
    eventually(lambda: member.said("code=switch-connected") == 4, "the switches did not come back")
    with member.client() as link:
        know(link)
        assert submit_flow(link, ports=[5002]) == number + 1
        await_state(member, number + 1, "active")
        link.call("flow.cancel", {"flow": number, "requester": "ann"})
        link.call("flow.cancel", {"flow": number + 1, "requester": "ann"})
    eventually(lambda: not rules_with(switches, FLOW_COOKIE), "rules are left")
