"""A whole network in a guest: one boot for all; needs no root, and no namespaces of this machine."""

from __future__ import annotations

import os
import re
import ssl
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from adon.errors import InvalidInput, NotFound
from measurement.errors import PointError
from measurement.pscheduler.client import PSchedulerClient
from measurement.pscheduler.transport import Credentials
from mininet_topos import networks
from mininet_topos import old_platforms as platforms
from mininet_topos.old_isolation import default_folder, run_folder
from mininet_topos.old_platforms import Platform, state
from mininet_topos.old_platforms.bed import Bed, PointContact
from mininet_topos.shaping import Change
from mininet_topos.waiting import wait_until
from tests.support.refusals import refused

pytestmark = pytest.mark.integration
PATIENCE = 90.0


@pytest.fixture(scope="module")
def bed() -> Iterator[Bed]:
    choice = platforms.choose("guest", needs_delay=True)
    with (
        run_folder(default_folder(f"test-{uuid.uuid4().hex[:8]}")) as folder,
        platforms.begun(choice.platform, networks.named("mu_osu"), folder) as underway,
    ):
        there = underway.bed
        assert underway.sealed
        building = threading.Thread(target=underway.await_built)
        building.start()
        assert wait_until(lambda: answers(there), PATIENCE)
        # Whoever reaches a point finds a network that forwards; by itself a point answers seconds earlier.
        assert wait_until(lambda: state.is_built(folder.path), 1.5)
        building.join()
        memory = _memory(there.pid)
        yield there
        pid = there.pid
    assert not Path(f"/proc/{pid}").exists()
    assert memory
    assert not any(each.exists() for each in memory)


def answers(bed: Bed) -> bool:
    try:
        with closing(asked(bed.point("mu-dtn"), bed)) as api:
            return api.api() > 0
    except PointError:
        return False


def _memory(pid: int) -> list[Path]:
    """Where the guest's kernel has its files."""
    environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return [Path(os.fsdecode(one[5:])) for one in environment if one.startswith(b"HOME=")]


def said(bed: Bed, *argv: str, host: str | None = "mu-dtn") -> str:
    return subprocess.check_output(
        bed.inside(argv, host), stdin=subprocess.DEVNULL, text=True, timeout=PATIENCE
    )


def shortest(bed: Bed) -> float:
    """Round trip between the campuses, milliseconds; of several, since others use the machine."""
    pinged = said(bed, "ping", "-n", "-i", "0.2", "-c", "5", "10.2.0.10")
    return min(map(float, re.findall(r"time=([\d.]+) ms", pinged)))


def test_it_says_what_it_is(bed: Bed) -> None:
    assert bed.platform is Platform.GUEST
    assert "netem" in bed.emulation
    assert "kernel datapath" in bed.emulation
    assert platforms.running(bed.folder) == bed


def test_programs_in_its_hosts(bed: Bed) -> None:
    assert "10.1.0.10/24" in said(bed, "ip", "-br", "-4", "address")
    assert "10.2.0.10/24" in said(bed, "ip", "-br", "-4", "address", host="osu-dtn")
    assert "172.31.0.1/24" in said(bed, "ip", "-br", "-4", "address", host=None)
    assert said(bed, "sh", "-c", "ulimit -n") == "4096\n"  # as who serves all connections has it
    echoed = subprocess.run(
        bed.inside(["cat"], "osu-dtn"), input=b"x" * 300_000, capture_output=True, timeout=PATIENCE
    )
    assert (echoed.returncode, len(echoed.stdout)) == (0, 300_000)
    with refused("unknown-name", "host"):
        bed.inside(["true"], "moon")


def test_files_of_the_run_folder_are_the_same_on_both_sides(bed: Bed) -> None:
    (bed.folder / "hither").write_text("host")
    assert said(bed, "cat", str(bed.folder / "hither")) == "host"
    said(bed, "sh", "-c", f"echo guest >{bed.folder}/thither")
    assert (bed.folder / "thither").read_text() == "guest\n"


def test_switches_have_their_rules(bed: Bed) -> None:
    assert "priority=0 actions=NORMAL" in bed.dump_flows("mu-edge")
    bed.reconnect()
    assert "priority=0 actions=NORMAL" in bed.dump_flows("mu-edge")


def test_links_have_their_delay_and_can_get_another(bed: Bed) -> None:
    assert shortest(bed) >= 20.0  # layer 3: 10 ms each way
    bed.set_link("routed", Change(delay=0.03))
    bed.set_link("routed", Change(rate=3e6))  # and the delay stays
    assert shortest(bed) >= 60.0
    bed.set_link("routed", Change(delay=0.01))
    with refused("unknown-name", "link"):
        bed.set_link("moon", Change(up=False))
    with pytest.raises(InvalidInput, match="loss"):
        bed.set_link("routed", Change(loss=1.5))


def test_links_lose_their_share_and_no_more_when_told_so(bed: Bed) -> None:
    """One in ten, each way: of 400 round trips 76, give or take six standard deviations of 7.8."""
    bed.set_link("routed", Change(loss=0.1))
    assert 29 <= lost(bed, 400) <= 123
    bed.set_link("routed", Change(loss=0.0))
    assert lost(bed, 50) == 0


def lost(bed: Bed, count: int) -> int:
    """Of so many round trips between the campuses; one more than a queue holds is never under way."""
    told = subprocess.run(
        bed.inside(["ping", "-n", "-q", "-i", "0.01", "-c", str(count), "10.2.0.10"], "mu-dtn"),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    ).stdout
    found = re.search(r"(\d+) packets transmitted, (\d+) received", told)
    assert found is not None
    return int(found[1]) - int(found[2])


def test_a_link_that_fails_comes_back(bed: Bed) -> None:
    once = ["ping", "-n", "-c", "1", "-W", "1", "10.2.0.10"]
    bed.set_link("routed", Change(up=False))
    assert subprocess.run(bed.inside(once, "mu-dtn"), stdout=subprocess.DEVNULL).returncode != 0
    bed.set_link("routed", Change(up=True))
    assert wait_until(
        lambda: subprocess.run(bed.inside(once, "mu-dtn"), stdout=subprocess.DEVNULL).returncode == 0,
        PATIENCE,
    )


def asked(point: PointContact, bed: Bed) -> PSchedulerClient:
    """A point, as the collector asks it."""
    trusted = str(point.certificate)
    shown = Credentials(bed.controller.read_text().strip())
    return PSchedulerClient(point.url, trusted, pause=time.sleep, credentials=shown)


def test_points_are_asked_from_here_and_certificates_are_checked(bed: Bed) -> None:
    mu, osu = bed.point("mu-dtn"), bed.point("osu-dtn")
    for point in (mu, osu):
        with closing(asked(point, bed)) as api:
            assert api.api() > 0
    port = int(mu.url.split(":")[2].split("/")[0])
    assert ssl.get_server_certificate(("127.0.0.1", port)) == mu.certificate.read_text()
    mistaken = replace(mu, certificate=osu.certificate)
    with closing(asked(mistaken, bed)) as api, pytest.raises(PointError, match="certificate"):
        api.api()
    with pytest.raises(NotFound, match="mu-rtr"):
        bed.point("mu-rtr")


def test_its_clock_is_ours(bed: Bed) -> None:
    """It lies between what ours says before and after, but for what setting it cannot tell."""
    before = time.time()
    there = float(said(bed, "date", "+%s.%N"))
    assert before - 0.02 <= there <= time.time() + 0.02
