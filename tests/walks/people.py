"""All walks against the ADON of a demo that stays: ``python -m tests.walks.people URL RUN_FOLDER PICTURES``.

Also how the pictures of the tutorials are made: ``docs/tutorial-*.md`` show some of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

from adon.client import Client
from adon.values import Role
from mininet_topos.demo import stage
from mininet_topos.old_platforms.host import HostBed
from mininet_topos.standing.people import NAMES
from tests.walks import auditor, engineer, operator, researcher
from tests.walks.walking import CHROMIUM, PATIENCE, Walker, walker

WALKS: dict[Role, Callable[[Walker], None]] = {
    Role.PERFORMANCE_ENGINEER: engineer.walk,
    Role.OPERATOR: operator.walk,
    Role.AUDITOR: auditor.walk,
}


def walk_all(url: str, run: Path, pictures: Path) -> None:
    """Walk as everybody, one after the other: the auditor last, who reads what the others did.

    :param run: the demo's run folder.
    """
    expect.set_options(timeout=PATIENCE)
    tokens = {role: (run / "adon" / f"{name}.token").read_text().strip() for role, name in NAMES.items()}
    mine = Client.at(url, tokens[Role.RESEARCHER])
    carry = _carrying(mine, HostBed.read(run))
    walks = {Role.RESEARCHER: lambda walker: researcher.walk(walker, carry), **WALKS}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            for role, walk in walks.items():
                with walker(browser, url, tokens[role], pictures / NAMES[role]) as somebody:
                    walk(somebody)
        finally:
            browser.close()


def _carrying(client: Client, bed: HostBed) -> researcher.Carry:
    def carry(flow: str) -> None:
        size = client.flow(flow).transfer_size_bytes
        client.report(flow, "started", 0, "")
        moved = stage.carry(bed, size, 1, int(researcher.PORT))
        client.report(flow, "finished", moved.received, "")

    return carry


if __name__ == "__main__":
    walk_all(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
