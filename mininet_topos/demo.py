"""``adon demo``: figure 18 of the thesis and an alarm that moves a flow, on one network and with one ADON.

It runs two built-in experiments and explains each step while it happens.  Inside the namespaces it is the
program ``python -m mininet_topos.demo ORDER``, with the arguments of :func:`play_demo` as JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from adon.errors import Unavailable
from mininet_topos import showcase
from mininet_topos.experiments.loading import ExperimentFile
from mininet_topos.experiments.plan import Trial, plan_trials
from mininet_topos.experiments.report import REPORT_FILE, judge_run, write_index, write_report
from mininet_topos.experiments.results import end_run, write_trial
from mininet_topos.experiments.runner import (
    begin_run,
    carry_out,
    load_checked,
    print_line,
    run_order,
    run_program,
)
from mininet_topos.experiments.verdicts import Outcome, Verdict
from mininet_topos.isolation import Platform, choose_platform, folder_inside
from mininet_topos.measurement_points import start_points
from mininet_topos.testbed import TOPOLOGY, Testbed, build_testbed
from mininet_topos.topologies.campus_topo import CampusTopo

FIGURE_18, ALARM = EXPERIMENTS = ("figure-18", "alarm-reroute")
SCALE = 200
CHECKS_FILE = "checks.json"
EXIT_DIFFERS = 1
NO_GUEST = (
    "platform: the demo does not run in a guest, which adds milliseconds to each packet; "
    "run it as root with --platform host"
)
EXPLANATIONS = {
    "soykb-1 requests": "t1: SoyKB asks for 700 Mbps in one TCP stream. Only layer 2 (al2s) is that fast.",
    "soykb-1 ends": "t2: The transfer is complete. The next flow waits until both paths are tested again.",
    "neuroblastoma requests": "t3: Neuroblastoma asks for 5 Gbps in twelve streams. Layer 2 is free again.",
    "neuroblastoma sends": "Its twelve streams now fill layer 2. The next test there shows it.",
    "soykb-2 requests": "t4: SoyKB asks for 600 Mbps. One more stream on layer 2 gets less; layer 3 has 650.",
    "soykb-2 ends": "t5: The transfer is complete. Only the result was sent: the site at home computed it.",
    "soykb-3 requests": "t6: SoyKB asks for 700 Mbps. Neither path has it now, so the flow must wait.",
    "neuroblastoma ends": "t7: Neuroblastoma is complete. The next test finds layer 2 free.",
    "soykb-3 is admitted": "t8: The queued flow leaves the queue by itself.",
    "soykb-3 ends": "t9: The transfer is complete. Figure 18 of the thesis ends here.",
    "steering requests": "t10: A flow that steers a simulation needs a round trip of at most 5 ms.",
    "others begins": "t11: Fourteen TCP streams that ADON did not admit fill the queue of layer 2.",
    "steering is moved": "t12: The third high round trip raised an alarm. ADON acts on it at once.",
    "steering ends": "t13: The transfer is complete. It lost nothing while it was moved.",
}
"""What a line of a trial means, by its beginning."""


def narrate(line: str) -> None:
    """Print a line of a trial after its explanation."""
    for beginning, text in EXPLANATIONS.items():
        if line.startswith(beginning):
            explain(text)
    print_line(f"  {line}")


def explain(text: str) -> None:
    """Print a line after an empty one."""
    sys.stdout.write("\n")
    print_line(text)


def run_demo(report: Path, *, stay: bool, seed: int | None, platform: str | None = None) -> int:
    """Run the demo isolated; return the exit status: 0, 1 if a check does not hold, 130 after Ctrl-C.

    :param report: folder of the reports.
    :param stay: keep everything until the user leaves Mininet's prompt.
    :param seed: of the ports; None for the experiments' own.
    :raises Unavailable: if this machine cannot run a testbed, or a guest only.
    :raises InvalidInput: if an experiment has a problem.
    """
    for name in EXPERIMENTS:
        load_part(name, seed)
    choice = choose_platform(platform, needs_netem=False)
    if choice.platform is Platform.GUEST:
        raise Unavailable(NO_GUEST, code="missing-requirement")
    report.mkdir(parents=True, exist_ok=True)
    order = {"report": str(report.absolute()), "stay": stay, "seed": seed}
    return run_program("mininet_topos.demo", order, choice, report.absolute())


def load_part(name: str, seed: int | None) -> tuple[ExperimentFile, CampusTopo]:
    """Return an experiment of the demo: one repetition, at the scale of the demo's network."""
    chosen = {} if seed is None else {"seed": seed}
    return load_checked(name, {"scale": SCALE, "sizes": SCALE, "repetitions": 1, **chosen})


def play_demo(report: str, *, stay: bool, seed: int | None, platform: Mapping[str, str]) -> int:
    """Carry out both experiments inside; return the exit status: 1 if a check does not hold.

    :param platform: name of the platform and reason for it.
    :raises AdonError: if something does not start.
    """
    inside = folder_inside()
    verdicts: list[Verdict] = []
    parts = [load_part(name, seed) for name in EXPERIMENTS]
    first, topo = parts[0]
    # Before the hosts exist: each has a copy of this process's mounts.
    metrics = showcase.write_metrics(inside / "metrics")
    explain("Building the network: two campuses with a layer-2 path (al2s) and a routed path (internet).")
    with build_testbed(topo, inside) as testbed, start_points(testbed, metrics) as points:
        (inside / TOPOLOGY).write_text("demo")
        explain(f"The network runs: {testbed.emulation}. All rates are divided by {topo.scale:g}.")
        for read, its in parts:
            folder = Path(report) / read.experiment.experiment
            (folder / REPORT_FILE).unlink(missing_ok=True)
            begin_run(folder, read, its, {**platform, "emulation": testbed.emulation})
            explain(f"{read.experiment.title}. {' '.join(read.experiment.about.split())}")
            (trial,) = plan_trials(read.experiment, its)
            _run_trial(trial, testbed, points, folder)
            verdicts += select_verdicts(judge_run(folder).verdicts)
        status = _print_verdicts(verdicts, Path(report))
        if stay:
            showcase.keep_running(testbed, points, first.experiment.configuration)
    return status


def _run_trial(trial: Trial, testbed: Testbed, points: Path, folder: Path) -> None:
    """Carry out a trial on the data of the previous one, and write the report of its run."""
    record, tables = carry_out(trial, testbed, points, narrate, folder=testbed.folder / "adon")
    write_trial(folder, record, tables)
    end_run(folder, record.partial)
    write_report(folder)
    if record.partial:
        explain(f"This experiment is partial: {record.partial}")


def _print_verdicts(verdicts: Sequence[Verdict], report: Path) -> int:
    """Print and write the verdicts; return the exit status."""
    text = json.dumps([asdict(verdict) for verdict in verdicts], indent=1)
    (report / CHECKS_FILE).write_text(f"{text}\n")
    explain("What must follow:")
    held = [verdict for verdict in verdicts if verdict.outcome is Outcome.HELD]
    for verdict in verdicts:
        words = "held  " if verdict in held else f"FAILED ({verdict.found} {verdict.doubt})"
        print_line(f"{words}  {verdict.claim}")
    explain(f"{len(held)} of {len(verdicts)} checks held. Report: {write_index(report)}")
    return 0 if len(held) == len(verdicts) else EXIT_DIFFERS


def select_verdicts(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Return the verdicts of the demo; the report has comparisons with a paper, which need repetitions."""
    return [verdict for verdict in verdicts if not verdict.paper]


if __name__ == "__main__":
    sys.exit(run_order(play_demo))
