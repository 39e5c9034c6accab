"""All walks against the ADON of a demo that stays: ``python -m tests.walks.people URL RUN_FOLDER PICTURES``.

Also how the pictures of the tutorials are made: ``docs/tutorial-*.md`` show some of them.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

from adon.client import Client
from mininet_topos.commands import wait_until
from tests.walks import auditor, engineer, operator, researcher
from tests.walks.walking import CHROMIUM, PATIENCE, Walker, walker

SOURCE, DESTINATION, ADDRESS = "mu-dtn", "osu-dtn", "10.2.0.10"
ACTIVE = {
    "template": "soykb",
    "source": SOURCE,
    "destination": DESTINATION,
    "size": "100 MB",
    "ports": [20191],
    "label": "season 7, run 3",
}


def start_in(host: str, *argv: str) -> subprocess.Popen[str]:
    """Start a program in a host of the demo's network."""
    enter = [sys.executable, "-m", "apps.cli.main", "testbed", "exec", host, "--topology", "demo", "--"]
    return subprocess.Popen([*enter, *argv], stdout=subprocess.PIPE, text=True)


def run_in(host: str, *argv: str) -> str:
    """Run a program in a host of the demo's network; what it prints."""
    process = start_in(host, *argv)
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0, argv
    return output


def walk_all(url: str, run: Path, pictures: Path) -> None:
    """Walk as everybody, one after the other: the auditor last, who reads what the others did.

    :param run: the demo's run folder.
    """
    expect.set_options(timeout=PATIENCE)
    users = ("researcher", "engineer", "operator", "auditor")
    tokens = {user: (run / "adon" / f"{user}.token").read_text().strip() for user in users}
    mine = Client.at(url, tokens["researcher"])

    def carry(flow: str) -> None:
        """Move the bytes between the data transfer nodes, as the researcher's tool does, and report."""
        size = mine.flow(flow).transfer_size_bytes
        server = start_in(DESTINATION, "iperf3", "-s", "-1", "-p", researcher.PORT)
        wait_until(lambda: f":{researcher.PORT} " in run_in(DESTINATION, "ss", "-Htln"), 30)
        mine.report(flow, "started", 0, "")
        run_in(SOURCE, "iperf3", "-c", ADDRESS, "-p", researcher.PORT, "-n", str(size))
        assert server.wait(30) == 0
        mine.report(flow, "finished", size, "")

    def operate(walker: Walker) -> None:
        """Walk with one active flow, which a simulated failure affects."""
        mine.submit(ACTIVE)
        operator.walk(walker)

    walks: dict[str, Callable[[Walker], None]] = {
        "researcher": lambda walker: researcher.walk(walker, carry),
        "engineer": engineer.walk,
        "operator": operate,
        "auditor": auditor.walk,
    }
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            for user, walk in walks.items():
                with walker(browser, url, tokens[user], pictures / user) as somebody:
                    walk(somebody)
        finally:
            browser.close()


if __name__ == "__main__":
    walk_all(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
