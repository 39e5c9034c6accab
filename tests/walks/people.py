"""All walks against the ADON of a demo that stays: ``python -m tests.walks.people URL RUN_FOLDER PICTURES``.

Also how the pictures of the tutorials are made: ``docs/tutorial-*.md`` show some of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

from adon.client import Client
from tests.walks import auditor, engineer, operator, researcher
from tests.walks.walking import CHROMIUM, PATIENCE, Walker, walker


def walk_all(url: str, run: Path, pictures: Path) -> None:
    """Walk as everybody, one after the other: the auditor last, who reads what the others did.

    :param run: the demo's run folder.
    """
    expect.set_options(timeout=PATIENCE)
    users = ("researcher", "engineer", "operator", "auditor")
    tokens = {user: (run / "adon" / f"{user}.token").read_text().strip() for user in users}
    mine = Client.at(url, tokens["researcher"])

    def carry(flow: str) -> None:
        """Report a transfer as the researcher's tool does; the experiments move real bytes."""
        size = mine.flow(flow).transfer_size_bytes
        mine.report(flow, "started", 0, "")
        mine.report(flow, "finished", size, "")

    walks: dict[str, Callable[[Walker], None]] = {
        "researcher": lambda walker: researcher.walk(walker, carry),
        "engineer": engineer.walk,
        "operator": operator.walk,
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
