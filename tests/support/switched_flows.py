"""Flows through a controller process and real switches."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from adon.store.store import Store
from apps.link import LinkClient
from tests.apps.edge import BRIDGES, TEMPLATE, Controller, Switches, both_edges, end, eventually, measured

FLOW_COOKIE = "0xad1"
MEASUREMENT_COOKIE = "0xad01"


def await_switches(controller: Controller, switches: Switches, times: int = 2) -> None:
    """Wait until all switches are connected and have their measurement rules."""
    eventually(lambda: controller.said("code=switch-connected") == times, "the switches did not connect")
    eventually(lambda: len(rules_with(switches, MEASUREMENT_COOKIE)) == 8, "no measurement rules")


def rules_with(switches: Switches, cookie: str) -> list[str]:
    """Return the rules of both edges whose cookie begins like this."""
    return [line for bridge in BRIDGES for line in switches.rules(bridge) if f"cookie={cookie}" in line]


@contextmanager
def run_edges(
    folder: Path, change: Callable[[dict[str, Any]], object] | None = None, **policy: object
) -> Iterator[tuple[Controller, Switches]]:
    """Run a controller before both edges; its configuration is changed in place before it starts."""
    controller = Controller(folder, **policy)
    if change is not None:
        document = yaml.safe_load(controller.config.read_text())
        change(document)
        controller.config.write_text(yaml.safe_dump(document, sort_keys=False))
    with both_edges(folder, controller.port) as switches:
        controller.start()
        try:
            eventually(lambda: controller.said("code=switch-connected") == 2, "the switches did not connect")
            yield controller, switches
        finally:
            controller.stop()


def submit_flow(link: LinkClient, **wish: Any) -> int:
    """Submit a flow of the test template; return its number."""
    return int(request_flow(link, **wish)["number"])


def request_flow(link: LinkClient, *groups: str, **wish: Any) -> dict[str, Any]:
    """Submit a flow of the test template as a member of these groups; return the flow."""
    body = {
        "source": "mu-dtn",
        "destination": "osu-dtn",
        "size": "10 MB",
        "template": "test-bulk",
        "ports": [5001],
    }
    asked = {"request": {**body, **wish}, "requester": "ann", "groups": list(groups)}
    return dict(link.call("flow.submit", asked))


def prepare(link: LinkClient, template: Mapping[str, Any] = TEMPLATE) -> None:
    """Add a template, by default the test's, and report fast al2s and slow internet."""
    link.call("template.add", {"template": template, "author": "eve"})
    link.send("measurement", measured("al2s", 50))
    link.send("measurement", measured("internet", 5))


def stored_flow(controller: Controller, number: int) -> Any:
    """Return a flow as the database has it."""
    with Store.open(controller.url, read_only=True) as store:
        return store.flow(number)


def await_state(controller: Controller, number: int, state: str) -> Any:
    """Wait until a flow has this state; return the flow."""
    eventually(lambda: stored_flow(controller, number).state == state, f"the flow did not become {state}")
    return stored_flow(controller, number)


def ingress_rule(switches: Switches) -> str:
    """Return the one ingress rule at mu."""
    (line,) = [line for line in switches.rules("mu-edge") if "cookie=0xad10" in line]
    return line


def durations(lines: list[str]) -> list[float]:
    """Return how long each rule has been installed, in seconds."""
    return sorted(float(re.findall(r"duration=([0-9.]+)s", line)[0]) for line in lines)


@contextmanager
def record_messages(switches: Switches, bridge: str, into: Path) -> Iterator[None]:
    """Write down every OpenFlow message between a bridge and its controllers (``ovs-ofctl snoop``)."""
    with into.open("wb") as output:
        process = subprocess.Popen(
            [
                "setpriv",
                "--pdeathsig",
                "KILL",
                "ovs-ofctl",
                "snoop",
                f"unix:{switches.folder}/{bridge}.snoop",
            ],
            env=switches.environment,
            stdout=output,
            stderr=output,
        )
        try:
            yield
        finally:
            end(process)
