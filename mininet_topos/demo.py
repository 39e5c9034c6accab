"""``adon demo``: figure 18 of the thesis and an alarm that moves a flow, on one network and with one ADON.

It runs two built-in experiments and explains each step while it happens.  Inside the namespaces it is the
program ``python -m mininet_topos.demo OPTIONS``, with the fields of :class:`Demo` as JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from adon.errors import AdonError, Unavailable
from mininet_topos import showcase
from mininet_topos.experiments.loading import ExperimentFile
from mininet_topos.experiments.plan import plan_trials
from mininet_topos.experiments.report import judge_run, write_index, write_report
from mininet_topos.experiments.results import end_run, write_trial
from mininet_topos.experiments.runner import Progress, begin_run, carry_out, load_checked
from mininet_topos.experiments.verdicts import Outcome, Verdict
from mininet_topos.isolation import Platform, choose_platform, folder_inside, run_isolated
from mininet_topos.measurement_points import start_points
from mininet_topos.testbed import TOPOLOGY, Testbed, build_testbed
from mininet_topos.topologies.campus_topo import CampusTopo

FIGURE_18, ALARM = EXPERIMENTS = ("figure-18", "alarm-reroute")
SCALE = 200
CHECKS_FILE = "checks.json"
EXIT_DIFFERS, EXIT_INTERRUPTED = 1, 130
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


@dataclass
class Narrator:
    """Prints the lines of a trial, each after its explanation."""

    print_line: Progress = field(default_factory=Progress)

    def __call__(self, line: str) -> None:
        """Print a line of a trial."""
        for beginning, text in EXPLANATIONS.items():
            if line.startswith(beginning):
                self.explain(text)
        self.print_line(f"  {line}")

    def explain(self, text: str) -> None:
        """Print a line after an empty one."""
        sys.stdout.write("\n")
        self.print_line(text)


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
    folder = report.absolute()
    chosen = {"name": choice.platform.value, "reason": choice.reason}
    options = {"report": str(folder), "stay": stay, "seed": seed, "platform": chosen}
    argv = [sys.executable, "-m", "mininet_topos.demo", json.dumps(options)]
    return run_isolated(argv, choice.platform, shared=folder)


def load_part(name: str, seed: int | None) -> tuple[ExperimentFile, CampusTopo]:
    """Return an experiment of the demo: one repetition, at the scale of the demo's network."""
    chosen = {} if seed is None else {"seed": seed}
    return load_checked(name, {"scale": SCALE, "sizes": SCALE, "repetitions": 1, **chosen})


@dataclass
class Demo:
    """The demo inside the namespaces.

    :param platform: name of the platform and reason for it.
    """

    report: str
    stay: bool
    seed: int | None
    platform: Mapping[str, str]
    narrator: Narrator = field(default_factory=Narrator)

    def play(self) -> bool:
        """Carry out both experiments and return whether all checks hold.

        :raises AdonError: if something does not start.
        """
        inside, explain = folder_inside(), self.narrator.explain
        read, topo = load_part(FIGURE_18, self.seed)
        # Before the hosts exist: each has a copy of this process's mounts.
        metrics = showcase.write_metrics(inside / "metrics")
        explain("Building the network: two campuses with a layer-2 path (al2s) and a routed path (internet).")
        with build_testbed(topo, inside) as testbed, start_points(testbed, metrics) as points:
            (inside / TOPOLOGY).write_text("demo")
            explain(f"The network runs: {testbed.emulation}. All rates are divided by {topo.scale:g}.")
            verdicts = [verdict for name in EXPERIMENTS for verdict in self._run_part(name, testbed, points)]
            holds = self._print_verdicts(verdicts)
            if self.stay:
                print_line = self.narrator.print_line
                showcase.keep_running(testbed, points, read.experiment.configuration, print_line)
        return holds

    def _run_part(self, name: str, testbed: Testbed, points: Path) -> Sequence[Verdict]:
        """Run an experiment on the data of the previous one; write its report and return its verdicts."""
        folder = Path(self.report) / name
        read, topo = load_part(name, self.seed)
        (trial,) = plan_trials(read.experiment, topo)
        _remove_run(folder)
        begin_run(folder, read, topo, {**self.platform, "emulation": testbed.emulation})
        self.narrator.explain(f"{read.experiment.title}. {' '.join(read.experiment.about.split())}")
        record, tables = carry_out(trial, testbed, points, self.narrator, folder=testbed.folder / "adon")
        write_trial(folder, record, tables)
        end_run(folder, record.partial)
        write_report(folder)
        if record.partial:
            self.narrator.explain(f"This experiment is partial: {record.partial}")
        return select_verdicts(judge_run(folder).verdicts)

    def _print_verdicts(self, verdicts: Sequence[Verdict]) -> bool:
        """Print and write the verdicts; return whether all hold."""
        text = json.dumps([asdict(verdict) for verdict in verdicts], indent=1)
        (Path(self.report) / CHECKS_FILE).write_text(f"{text}\n")
        self.narrator.explain("What must follow:")
        held = [verdict for verdict in verdicts if verdict.outcome is Outcome.HELD]
        for verdict in verdicts:
            words = "held  " if verdict in held else f"FAILED ({verdict.found} {verdict.doubt})"
            self.narrator.print_line(f"{words}  {verdict.claim}")
        index = write_index(Path(self.report))
        self.narrator.explain(f"{len(held)} of {len(verdicts)} checks held. Report: {index}")
        return len(held) == len(verdicts)


def select_verdicts(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Return the verdicts of the demo; the report has comparisons with a paper, which need repetitions."""
    return [verdict for verdict in verdicts if not verdict.paper]


def _remove_run(folder: Path) -> None:
    """Remove the files of the previous run; the folder of a report belongs to the user."""
    for file in folder.glob("*"):
        file.unlink()
    if folder.exists():
        folder.rmdir()


def main(argv: Sequence[str]) -> int:
    """Run the demo inside; exit status 1 if a check does not hold, 130 after Ctrl-C."""
    try:
        return 0 if Demo(**json.loads(argv[0])).play() else EXIT_DIFFERS
    except KeyboardInterrupt:
        sys.stdout.write("interrupted: everything that was built is removed\n")
        return EXIT_INTERRUPTED
    except AdonError as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_DIFFERS


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
