"""``adon demo``: figure 18 on the testbed, with its report; exit status 1 if anything was not as expected."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.text import Text

from adon.errors import AdonError
from adon.values import Role
from mininet_topos.demo import alarm, play, report
from mininet_topos.demo.record import Check, Record
from mininet_topos.demo.scenario import STEERING_PACE, seeded
from mininet_topos.demo.stage import (
    ROUND_TRIPS,
    World,
    adon_on,
    carry,
    contention,
    environment,
    remove_remains,
    require_machine,
    testbed_up,
    unique_name,
)
from mininet_topos.demo.telling import Carry, Telling
from mininet_topos.interruption import sigterm_interrupts
from mininet_topos.networks import named
from mininet_topos.old_isolation import default_folder, run_folder
from mininet_topos.old_platforms.bed import Bed
from mininet_topos.result_folder import require_folder
from mininet_topos.standing.people import NAMES, people

DEFAULT_REPORT = Path("reports/demo")
DEFAULT_SEED = 18
NETWORK = "mu_osu"
DEFAULT_SCALE = 100.0

STAYS = "it stays, with its network, until Ctrl-C"
INTERRUPTED = 130
"""128 and the number of SIGINT, as shells have it."""


@dataclass(frozen=True, slots=True)
class Voice:
    """Tells each line with the seconds since the run began; a line's brackets are no markup."""

    console: Console
    began_at: float

    def __call__(self, line: str, style: str = "") -> None:
        """Print one line."""
        seconds = f"{time.time() - self.began_at:6.1f} s"
        self.console.print(Text.assemble((seconds, "dim"), "  ", (line, style)))


def run(
    folder: Path = DEFAULT_REPORT,
    *,
    stay: bool = False,
    seed: int = DEFAULT_SEED,
    scale: float = DEFAULT_SCALE,
) -> int:
    """Run the demo and write its report into ``folder``.

    :param stay: when the story is told, keep it all up to be looked at until Ctrl-C or SIGTERM.
    :returns: the exit status: 0, 1 if anything was not as expected, 130 if it was interrupted.
    :raises Unavailable: if the machine cannot run a testbed.
    :raises InvalidInput: if the report cannot be written there.
    """
    require_machine()
    require_folder(folder, "report")
    remove_remains()
    record = Record(time.time(), seed, scale)
    console = Console(highlight=False, soft_wrap=True, file=sys.stdout)
    tell = Voice(console, record.began_at)
    try:
        with sigterm_interrupts():
            _story(record, tell, stay)
    except KeyboardInterrupt:
        tell("interrupted: everything that was built is removed, and there is no report", "red")
        return INTERRUPTED
    page = report.write(record, folder)
    _summary(console, record, page)
    return 0 if record.passed else 1


def _story(record: Record, tell: Voice, stay: bool) -> None:
    try:
        _play(record, tell, stay)
    except AdonError as error:
        record.checks.append(Check("the demo runs to its end", False, str(error)))
        tell(str(error), "red")


def _play(record: Record, tell: Voice, stay: bool) -> None:
    with run_folder(default_folder(unique_name())) as folder:
        tell("building the testbed: two campuses, a layer-2 overlay, routers, measurement points")
        with testbed_up(folder, named(NETWORK, record.scale)) as bed:
            tell(f"the testbed is up ({bed.emulation}); starting ADON")
            record.environment = environment(bed)
            with adon_on(bed) as world:
                _introduce(world, tell)
                story = _telling(world, partial(carry, bed), tell, record)
                play.run(story, lambda: {site.edge: bed.dump_flows(site.edge) for site in bed.network.sites})
            tell("the story goes on with another plan: ADON measures the round trip every 4 s")
            with adon_on(bed, ROUND_TRIPS, "adon-2") as world:
                _introduce(world, tell)
                record.sequel = Record(record.began_at, record.seed, record.scale)
                paced = partial(carry, bed, rate=STEERING_PACE)
                alarm.run(_telling(world, paced, tell, record.sequel), partial(contention, bed))
            if stay:
                _stay(bed, tell)


def _introduce(world: World, tell: Voice) -> None:
    tell(f"ADON is up: its dashboard is at {world.url}, its rules are shown by")
    tell(f"  OVS_RUNDIR={world.bed.folder / 'ovs'} ovs-ofctl -O OpenFlow13 dump-flows mu-edge")
    tell("  to sign in there, or to set ADON_TOKEN from: a token for each role in")
    tell(f"  {', '.join(f'{role}.token' for role in (*NAMES.values(), Role.ADMIN))} of {world.folder}")


def _telling(world: World, carrying: Carry, tell: Voice, record: Record) -> Telling:
    known = people(world.client, world.url, world.folder)
    engineer, researcher = known[Role.PERFORMANCE_ENGINEER], known[Role.RESEARCHER]
    return Telling(engineer, researcher, carrying, tell, record, seeded(record.seed), world.tasks)


def _stay(bed: Bed, tell: Voice) -> None:
    """The first ADON once more, with all that it stored, until whoever looks has seen enough."""
    tell("ADON is started again, with what it knew after figure 18")
    with adon_on(bed) as world:
        _introduce(world, tell)
        tell(STAYS, "green")
        with suppress(KeyboardInterrupt):
            threading.Event().wait()


def _summary(console: Console, record: Record, page: Path) -> None:
    for check in record.every_check:
        mark = ("held", "green") if check.held else ("FAILED", "red")
        found = "" if check.held else f" (found: {check.found})"
        console.print(Text.assemble("  ", mark, f"  {check.text}{found}"))
    console.print(Text(f"  report: {page}"))
