#!/usr/bin/env python3
"""Take the pictures of the documentation again: ``sudo .venv/bin/python scripts/take_pictures.py``.

Runs ``adon demo --stay``, walks through its dashboard in Chromium, and replaces the files in docs/images.
Takes about 12 minutes and needs the packages of the tests (``make setup-test``).  All pictures stay in
reports/walks.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from playwright.sync_api import sync_playwright

from mininet_topos.showcase import STAYS
from tests.terminal import Command
from tests.walks.people import walk_all
from tests.walks.walking import CHROMIUM

ROOT = Path(__file__).resolve().parent.parent
IMAGES, TAKEN = ROOT / "docs/images", ROOT / "reports/walks"
LONGEST_S = 1200


def main() -> None:
    """Run the demo, take all pictures, and replace those that the documentation shows."""
    TAKEN.mkdir(parents=True, exist_ok=True)
    argv = [str(ROOT / ".venv/bin/adon"), "demo", "--stay", "--report", str(TAKEN / "report")]
    demo = Command(argv, TAKEN / "demo.log")
    demo.says(STAYS, LONGEST_S)
    try:
        ((url, folder),) = re.findall(r"dashboard: (\S+); tokens per role: (\S+)/adon/", demo.text)
        walk_all(url, Path(folder), TAKEN)
        take_chart(TAKEN / "report/figure-18/report.html", IMAGES / "figure18.png")
    finally:
        demo.types("exit\n")
        demo.process.wait(60)
    for picture in (IMAGES / "tutorial").glob("*.png"):
        user, _, name = picture.name.partition("-")
        shutil.copyfile(TAKEN / user / name, picture)


def take_chart(report: Path, picture: Path) -> None:
    """Take the first chart of the report of an experiment."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1120, "height": 800})
        page.goto(report.as_uri())
        page.locator(".plotly-graph-div").first.screenshot(path=str(picture))
        browser.close()


if __name__ == "__main__":
    main()
