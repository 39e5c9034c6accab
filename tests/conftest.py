"""Fixtures that several packages' tests share."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer.testing
from hypothesis import settings

from tests.depth import DEPTH

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parent.parent
TESTBED_TOOLS = ("unshare", "setpriv", "mnexec", "ovs-vswitchd", "ovsdb-server", "tc", "ethtool", "iperf3")


# A slow machine is no defect (timing belongs in benchmarks/).  Where CI is set every run tries the same
# cases, so that a red run is about the change it ran for; everywhere else they are new each time.
settings.register_profile(
    "adon",
    max_examples=25 * DEPTH,
    stateful_step_count=25,
    deadline=None,
    derandomize="CI" in os.environ,
)
settings.load_profile("adon")

# A shell starts a background job with SIGINT ignored, and every process that a test starts would inherit it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def why_no_testbed() -> str:
    """What this machine lacks to run tests marked ``testbed``; empty if nothing."""
    if os.geteuid() != 0:
        return "tests marked 'testbed' need root (network namespaces); leave them out with -m 'not testbed'"
    missing = [tool for tool in TESTBED_TOOLS if shutil.which(tool) is None]
    return f"tests marked 'testbed' need {', '.join(missing)}: run scripts/setup.sh" if missing else ""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep Python's collector of cycles from what stays: all modules, and some ten thousand tests.

    Going through them again and again is a third of the time that collecting the tests takes, and a tenth of
    what running them does.  From then on it goes through what tests make, and seldom through what is old.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        young, middle, _ = gc.get_threshold()
        gc.set_threshold(young, middle, 100)
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Quick tests first: a broken rule should show before a minute is spent on networks.

    Where ``ADON_SLOW_TESTS`` names a file, the number of slow tests is written there, before ``-m`` selects.
    """
    if count := os.environ.get("ADON_SLOW_TESTS"):
        slow = sum(item.get_closest_marker("slow") is not None for item in items)
        Path(count).write_text(str(slow))
    items.sort(
        key=lambda item: [item.get_closest_marker(kind) is not None for kind in ("testbed", "integration")]
    )


@pytest.fixture(autouse=True)
def _testbed_is_possible(request: pytest.FixtureRequest) -> None:
    """Fail such a test, in words, where it cannot run: a silent skip would pass for a success."""
    if request.node.get_closest_marker("testbed") is not None and (reason := why_no_testbed()):
        pytest.fail(reason, pytrace=False)


@pytest.fixture(scope="session", autouse=True)
def _commands_are_made_once() -> Iterator[None]:
    """Typer makes all commands anew at each ``CliRunner().invoke``: most of what such a test would take."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.testing, "_get_command", cache(typer.testing._get_command))
        yield


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Debian's Chromium; not for longer than a module: no other test may use asyncio meanwhile."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=60_000)  # a busy machine draws late
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        yield browser
        browser.close()


if __name__ == "__main__":  # scripts/test.sh asks before it starts the tests
    reason = why_no_testbed()
    sys.stdout.write(reason)
    sys.exit(1 if reason else 0)
