"""``adon demo``: figure 18 of the thesis and an alarm that moves a flow, on one network and with one ADON.

It runs two of the built-in experiments and explains each step while it happens.  Inside it runs as a program:
``python -m mininet_topos.demo FOLDER``.
"""

from __future__ import annotations

import argparse
import json
import re
import socket
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from adon.client import Client
from adon.errors import AdonError
from mininet_topos import showcase
from mininet_topos.adon_configuration import configuration_text
from mininet_topos.adon_server import prepare_server
from mininet_topos.experiments.loading import ExperimentFile
from mininet_topos.experiments.plan import plan_trials
from mininet_topos.experiments.report import write_index, write_report
from mininet_topos.experiments.results import (
    Completion,
    FlowState,
    Tables,
    start_run,
    write_info,
    write_trial,
)
from mininet_topos.experiments.runner import carry_out, describe_run, document_of, load_checked
from mininet_topos.experiments.timeline import Turn, find_flows, find_turns
from mininet_topos.experiments.trial_setup import thaw
from mininet_topos.experiments.verdicts import OVERLAP
from mininet_topos.isolation import Platform, choose_platform, folder_inside, run_isolated
from mininet_topos.measurement_points import Points, start_points
from mininet_topos.nodes import CLI
from mininet_topos.testbed import TOPOLOGY, Testbed, build_testbed
from mininet_topos.topologies.campus_topo import CampusTopo

EXPERIMENTS = ("figure-18", "alarm-reroute")
SCALE = 200
CHECKS_FILE = "checks.json"
EXIT_DIFFERS, EXIT_INTERRUPTED = 1, 130
STAYS = "The network, ADON and its dashboard stay until you leave this prompt with exit or Ctrl-D."
PATIENCE, RTT_BOUND = 10, 0.005
"""Missed tests after which steering would move without an alarm, and its bound in seconds."""
TURNS = {
    "figure-18": (
        ("t1", "soykb-1", 0, Turn("admit", "al2s", "osu-hpc")),
        ("t3", "neuroblastoma", 0, Turn("admit", "al2s", None)),
        ("t4", "soykb-2", 0, Turn("admit", "internet", "mu-hpc")),
        ("t6", "soykb-3", 0, Turn("queue", None, None)),
        ("t8", "soykb-3", 1, Turn("admit", "al2s", "osu-hpc")),
    ),
    "alarm-reroute": (
        ("t10", "steering", 0, Turn("admit", "al2s", None)),
        ("t12", "steering", 1, Turn("move", "internet", None)),
    ),
}
"""Step, flow, number of the flow's decision, and the decision that must follow."""
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


@dataclass(frozen=True, slots=True)
class Check:
    """Something that must follow, and what was found."""

    text: str
    held: bool
    found: str


@dataclass
class Narrator:
    """Prints what happens with the seconds since the start, and ADON's reason for each decision."""

    client: Client | None = None
    began: float = field(default_factory=time.monotonic)

    def __call__(self, line: str) -> None:
        """Print a line of a trial, after its explanation."""
        for beginning, text in EXPLANATIONS.items():
            if line.startswith(beginning):
                self.say("")
                self.say(text)
        self.say(f"  {line}")
        decided = re.match(r"(\S+) is (admitted|moved|queued)", line)
        if decided is not None and (reason := self._reason(decided[1])):
            self.say(f"  ADON: {reason}")

    def say(self, text: str) -> None:
        """Print a line."""
        stamp = f"{time.monotonic() - self.began:6.1f} s  " if text else ""
        sys.stdout.write(f"{stamp}{text}\n")
        sys.stdout.flush()

    def _reason(self, flow: str) -> str:
        if self.client is None:
            return ""
        try:
            found = next((one.id for one in self.client.flows() if one.label == flow), None)
            decisions = [] if found is None else self.client.decisions(found)
        except AdonError:  # a reason is worth no trial
            return ""
        changes = [one for one in decisions if one.outcome != "stay"]
        return str(max(changes, key=lambda one: one.at).reason) if changes else ""


def run_demo(report: Path, *, stay: bool, seed: int | None, platform: str | None = None) -> int:
    """Run the demo isolated; return the exit status: 0, 1 if a check does not hold, 130 after Ctrl-C.

    :param report: folder of the reports.
    :param stay: keep everything until the user leaves Mininet's prompt.
    :param seed: of the ports; None for the experiments' own.
    :raises Unavailable: if this machine cannot run a testbed.
    :raises InvalidInput: if an experiment has a problem.
    """
    for name in EXPERIMENTS:
        _load(name, seed)
    choice = choose_platform(platform, needs_netem=False)
    report.mkdir(parents=True, exist_ok=True)
    folder = report.absolute()
    argv = [sys.executable, "-m", "mininet_topos.demo", str(folder), "--platform", choice.platform.value]
    argv += ["--reason", choice.reason, *(["--stay"] if stay else [])]
    argv += [] if seed is None else ["--seed", str(seed)]
    web = None if choice.platform is Platform.GUEST else socket.create_server(("127.0.0.1", 0), backlog=128)
    with nullcontext() if web is None else web:
        return run_isolated(argv, choice.platform, shared=folder, web=web)


def play(report: Path, platform: Mapping[str, str], seed: int | None, *, stay: bool) -> list[Check]:
    """Carry out both experiments in this process's namespaces and return the checks.

    :raises AdonError: if something does not start.
    """
    tell, inside = Narrator(), folder_inside()
    _, topo = _load(EXPERIMENTS[0], seed)
    # Before the hosts exist: each has a copy of this process's mounts.
    metrics = showcase.write_metrics(inside / "metrics")
    tell.say("Building the network: two campuses with a layer-2 path (al2s) and a routed path (internet).")
    with build_testbed(topo, inside) as testbed, start_points(testbed, metrics) as points:
        (inside / TOPOLOGY).write_text("demo")
        tell.say(f"The network runs: {testbed.emulation}. All rates are divided by {topo.scale:g}.")
        tables = {
            name: _carry_out(name, report / name, testbed, points, platform, seed, tell)
            for name in EXPERIMENTS
        }
        return _read_back(report, testbed, points, tables, tell, stay=stay)


def _load(name: str, seed: int | None) -> tuple[ExperimentFile, CampusTopo]:
    """Read an experiment with one repetition, at the scale of the demo's network."""
    changes: dict[str, Any] = {"scale": SCALE, "sizes": SCALE, "repetitions": 1}
    if name == "figure-18":
        # Its loads would be part of the round trip's usual level, which the detector learns afterwards.
        changes["measuring"] = {"rtt": None}
    if seed is not None:
        changes["seed"] = seed
    return load_checked(name, changes)


def _carry_out(
    name: str,
    folder: Path,
    testbed: Testbed,
    points: Points,
    platform: Mapping[str, str],
    seed: int | None,
    tell: Narrator,
) -> Tables:
    """Carry out the only trial of an experiment, with the ADON of the trial before, and write its report."""
    read, topo = _load(name, seed)
    (trial,) = plan_trials(read.experiment, topo)
    info = describe_run(read, topo, {**platform, "emulation": testbed.emulation})
    _remove_run(folder)
    start_run(folder, document_of(read, is_changed=True), info)
    tell.say("")
    tell.say(f"{read.experiment.title}. {' '.join(read.experiment.about.split())}")

    def introduce(client: Client) -> None:
        tell.client = client

    record, tables = carry_out(
        trial, testbed, points, read.experiment, tell, folder=testbed.folder / "adon", ready=introduce
    )
    tell.client = None
    info = write_trial(folder, info, record, tables)
    write_info(
        folder, replace(info, ended_at=time.time(), completion=record.completion, reason=record.reason)
    )
    write_report(folder)
    if record.completion is Completion.PARTIAL:
        tell.say(f"This experiment is partial: {record.reason}")
    return tables


def _remove_run(folder: Path) -> None:
    """Remove the files of the run before; the folder of a report belongs to the user."""
    for file in folder.glob("*"):
        file.unlink()
    if folder.exists():
        folder.rmdir()


def _read_back(
    report: Path,
    testbed: Testbed,
    points: Points,
    tables: Mapping[str, Tables],
    tell: Narrator,
    *,
    stay: bool,
) -> list[Check]:
    """Start ADON once more on its data and check the whole story; with ``stay`` keep it."""
    read, _ = _load(EXPERIMENTS[0], None)
    extra = thaw(read.experiment.configuration)
    agents = testbed.folder / "agents"
    with ExitStack() as stack:
        if stay:
            extra = {**extra, **stack.enter_context(showcase.start_agents(testbed, agents))}
        text = configuration_text(testbed.topo, contacts=points.contacts, token=points.token, extra=extra)
        server = stack.enter_context(prepare_server(testbed, text, testbed.folder / "adon"))
        tell.say("")
        tell.say("Starting ADON once more: it continues with the flows, decisions and tests it stored.")
        server.start()
        client = server.wait_ready()
        checks = [*check_figure_18(tables["figure-18"]), *check_alarm(tables["alarm-reroute"], client)]
        (report / CHECKS_FILE).write_text(json.dumps([asdict(one) for one in checks], indent=1) + "\n")
        index = write_index(report)
        for one in checks:
            tell.say(
                f"{'held  ' if one.held else 'FAILED'}  {one.text}" + ("" if one.held else f": {one.found}")
            )
        tell.say(f"{sum(one.held for one in checks)} of {len(checks)} checks held. Report: {index}")
        if stay:
            server.add_users()
            showcase.add_studies(testbed, server, agents, tell.say)
            tell.say(f"workflow {showcase.WORKFLOW}: recorded output of Pegasus, no workflow runs here")
            tell.say(f"custom metric {showcase.CUSTOM_METRIC}: TCP connections of each data transfer node")
            if server.dashboard is not None:
                tell.say(f"dashboard: {server.dashboard}; tokens per role: {server.folder}/*.token")
            tell.say(STAYS)
            CLI(testbed.net)
    return checks


def check_figure_18(tables: Tables) -> list[Check]:
    """Return the ten checks of figure 18: five decisions, four transfers, the plan of tests."""
    return [*_turn_checks("figure-18", tables), *_byte_checks(tables), _plan_check("figure 18", tables)]


def check_alarm(tables: Tables, client: Client) -> list[Check]:
    """Return the six checks of the alarm: two decisions, its cause, its time, the transfer, the plan."""
    cause = "t12: the move names the alarm about the round trip of al2s"
    named, found = _find_alarm(tables, client)
    missed = _count_misses(tables)
    sooner = f"t12: the alarm came before patience ({PATIENCE} misses) ended"
    return [
        *_turn_checks("alarm-reroute", tables),
        Check(cause, named, found),
        Check(sooner, 0 < missed < PATIENCE, f"{missed} misses before the move"),
        *_byte_checks(tables),
        _plan_check("the alarm", tables),
    ]


def _turn_checks(experiment: str, tables: Tables) -> Iterator[Check]:
    for step, flow, number, expected in TURNS[experiment]:
        turns = [str(turn) for _, turn in find_turns(tables, flow)]
        found = turns[number] if number < len(turns) else "no decision"
        yield Check(f"{step}: {flow}: {expected}", found == str(expected), found)


def _byte_checks(tables: Tables) -> Iterator[Check]:
    for row in tables.flows:
        held = row.state == FlowState.FINISHED and row.received == row.size
        found = f"{row.received} bytes, {row.state}" + (f" ({row.problem})" if row.problem else "")
        yield Check(f"{row.flow}: all {row.size} bytes counted at the receiver", held, found)


def _plan_check(name: str, tables: Tables) -> Check:
    overlaps = [row.about for row in tables.events if row.event == OVERLAP]
    tests = sum(row.value is not None for row in tables.measurements)
    found = "; ".join(overlaps) or f"{tests} results, none overlapped"
    return Check(f"{name}: no two conflicting tests overlapped", bool(tests) and not overlaps, found)


def _find_alarm(tables: Tables, client: Client) -> tuple[bool, str]:
    """Whether the move of steering names an alarm about the round trip of its path, and the reason."""
    rows = find_flows(tables, "steering")
    if not rows or not rows[0].flow_id:
        return False, "the flow is unknown to ADON"
    moves = [one for one in client.decisions(rows[0].flow_id) if one.outcome == "move"]
    if len(moves) != 1:
        return False, f"{len(moves)} moves"
    (move,) = moves
    if move.alarm is None:
        return False, move.reason
    alarm = client.alarm(move.alarm)
    series = alarm.series
    is_about = (series.path, series.source, series.metric) == ("al2s", "mu", "rtt")
    return is_about and alarm.bad and alarm.id in move.reason, move.reason


def _count_misses(tables: Tables) -> int:
    """Count the tests that missed the bound between the start of the load and the move."""
    load = next((row.at for row in tables.events if row.event == "others" and row.phase == "begins"), None)
    moved = next((at for at, turn in find_turns(tables, "steering") if turn.outcome == "move"), None)
    if load is None or moved is None:
        return 0
    return sum(
        (row.path, row.source, row.metric) == ("al2s", "mu", "rtt")
        and load <= row.at <= moved
        and (row.value is None or row.value > RTT_BOUND)
        for row in tables.measurements
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo inside; exit status 1 if a check does not hold, 130 after Ctrl-C."""
    parser = argparse.ArgumentParser(prog="demo")
    parser.add_argument("report", type=Path)
    parser.add_argument("--platform", default="")
    parser.add_argument("--reason", default="")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--stay", action="store_true")
    chosen = parser.parse_args(argv)
    platform = {"name": chosen.platform, "reason": chosen.reason}
    try:
        checks = play(chosen.report, platform, chosen.seed, stay=chosen.stay)
    except KeyboardInterrupt:
        sys.stdout.write("interrupted: everything that was built is removed\n")
        return EXIT_INTERRUPTED
    except AdonError as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_DIFFERS
    return 0 if all(one.held for one in checks) else EXIT_DIFFERS


if __name__ == "__main__":
    sys.exit(main())
