"""``adon demo``: figure 18 on the testbed, with its report; exit status 1 if anything was not as expected."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from rich.console import Console

from adon.errors import AdonError
from mininet_topos.demo import baseline, report
from mininet_topos.demo.play import Play
from mininet_topos.demo.record import Check, Record
from mininet_topos.demo.scenario import seeded
from mininet_topos.demo.stage import adon_on, carry, environment, testbed_up, unique_name
from mininet_topos.isolation import default_folder, require_isolation, run_folder
from mininet_topos.mu_osu import CAMPUSES

DEFAULT_REPORT = Path("reports/demo")
DEFAULT_SEED = 18
DEFAULT_SCALE = 100.0

Tell = Callable[[str], None]


def run(
    folder: Path = DEFAULT_REPORT,
    *,
    compare: bool = False,
    seed: int = DEFAULT_SEED,
    scale: float = DEFAULT_SCALE,
) -> int:
    """Run the demo and write its report into ``folder``; the exit status.

    :param compare: run the same transfers also on layer 2 always and on layer 3 always.
    :raises Unavailable: if the machine cannot run a testbed.
    """
    require_isolation()
    console = Console(highlight=False, soft_wrap=True, file=sys.stdout)
    record = Record(time.time(), seed, scale)

    def tell(line: str) -> None:
        console.print(f"[dim]{time.time() - record.began_at:6.1f} s[/dim]  {line}", markup=True)

    try:
        _play(record, tell)
        if compare:
            _compare(record, tell)
    except AdonError as error:
        record.checks.append(Check("the demo runs to its end", False, str(error)))
        tell(f"[red]{error}[/red]")
    page = report.write(record, folder)
    _summary(console, record, page)
    return 0 if record.passed else 1


def _play(record: Record, tell: Tell) -> None:
    with run_folder(default_folder(unique_name())) as folder:
        tell("building the testbed: two campuses, a layer-2 overlay, routers, measurement points")
        with testbed_up(folder, record.scale) as bed:
            tell(f"the testbed is up ({bed.emulation}); starting ADON")
            record.environment = environment(bed, record.scale)
            with adon_on(bed, record.scale) as world:
                tell(f"ADON is up; its page is at {world.url}, its rules:")
                tell(f"  OVS_RUNDIR={bed.folder / 'ovs'} ovs-ofctl -O OpenFlow13 dump-flows mu-edge")
                Play(
                    api=world.client,
                    carry=partial(carry, bed),
                    rules=lambda: {campus.edge: bed.dump_flows(campus.edge) for campus in CAMPUSES},
                    tell=tell,
                    record=record,
                    requests=seeded(record.seed),
                ).run()


def _compare(record: Record, tell: Tell) -> None:
    for path in baseline.PATHS:
        with run_folder(default_folder(unique_name())) as folder:
            tell(f"the same transfers, always on {path}")
            with testbed_up(folder, record.scale) as bed:
                record.baselines[f"always {path}"] = baseline.run(
                    bed, path, record, partial(carry, bed), tell
                )


def _summary(console: Console, record: Record, page: Path) -> None:
    for check in record.checks:
        mark = "[green]held[/green]" if check.held else "[red]FAILED[/red]"
        found = "" if check.held else f" (found: {check.found})"
        console.print(f"  {mark}  {check.text}{found}")
    for way, times, total in report.totals(record) if record.baselines else ():
        each = ", ".join(f"{flow} {seconds:.1f} s" for flow, seconds in times.items())
        console.print(f"  {way}: {each}; together {total:.1f} s")
    console.print(f"  report: {page}")
