"""Seeded histories for transcripts: steps are drawn, played, and written down.

A history keeps to what a rebuilt core must reproduce: default policy, no clock steps, every path is measured
before its first flow, every admitted flow sends packets, no priority above the template's.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from tests.support.transcript import Line, Player, StageCore

DIRECTIONS = ({"from": "mu", "to": "osu"}, {"from": "osu", "to": "mu"})
PEOPLE = ("ann", "ben", "cho")
RATES = {"al2s": 9000, "metro": 4600, "spare": 8800, "internet": 1500}
"""Mbit/s of a test on a path in good condition."""
CONDITIONS = {  # share of the rate, loss, round trip, one-way delay, jitter
    "good": (1.0, 0.0, 0.020, 0.010, 0.0002),
    "busy": (0.45, 0.0, 0.024, 0.012, 0.0003),
    "crowded": (0.06, 0.0005, 0.040, 0.021, 0.0008),
    "lossy": (0.5, 0.02, 0.022, 0.011, 0.0004),
    "far": (0.9, 0.0, 0.180, 0.090, 0.0015),
}
TEMPLATES = ("soykb", "soykb", "neuroblastoma", "eldercare", "rivvir", "geni-classroom")
MBPS = {"soykb": 700, "neuroblastoma": 3000, "eldercare": 100, "rivvir": 10, "geni-classroom": 1}
Step = Callable[["Author"], None]


class Author:
    """Draws the steps of one history; ``lines`` is its transcript.

    :param name: of the history; it is the seed.
    :param steps: how often each step is drawn, in addition to the usual ones.
    """

    def __init__(self, name: str, network: str, steps: Mapping[Step, int]) -> None:
        self.chance, self.core = random.Random(name), StageCore(network)
        self.pick = self.chance.choice
        self.player = Player(self.core)
        self.steps = {Author.submit: 4, Author.finish: 4, Author.carry: 2, **steps}
        self.lines: list[Line] = [{"history": name, "network": network}]
        self.read = self.core.stage.configuration
        self.paths, self.edges = list(self.read.paths), list(self.read.switches)
        self.condition = dict.fromkeys(self.paths, "good")
        self.measured_at = 0.0
        self.requests: dict[str, tuple[str, Mapping[str, Any]]] = {}
        self.opened: list[tuple[str, dict[str, Any]]] = []
        self.numbers = Counter[str]()

    def write(self) -> list[Line]:
        """Draw the whole history; return its lines."""
        for edge in self.edges:
            self.do("switch_up", switch=edge)
        self.measure_all()
        for _ in range(self.chance.randint(14, 22)):
            (step,) = self.chance.choices(list(self.steps), list(self.steps.values()))
            step(self)
            self.carry()
        while self.opened:
            self.close()
            self.carry()
        self.measure_all()
        self.carry()
        self.do("look")
        return self.lines

    def do(self, verb: str, **fields: Any) -> Line:
        line = self.player.play(verb, fields)
        self.lines.append(line)
        return line

    # -- usual steps ------------------------------------------------------------------------------------

    def measure(self, path: str) -> None:
        share, *values = CONDITIONS[self.condition[path]]
        about = {"streams": self.pick([1, 1, 4, 16])}
        about["mbps"] = round(RATES[path] * share * self.chance.uniform(0.9, 1.05))
        quality = dict(zip(("loss", "rtt", "delay", "jitter"), values, strict=True))
        for ends in DIRECTIONS:
            self.do("measure", path=path, **ends, **about, **quality)

    def show(self, path: str, condition: str) -> None:
        """Let a path have a condition, and tests show it."""
        self.condition[path] = condition
        self.measure(path)

    def measure_all(self) -> None:
        for path in self.paths:
            self.measure(path)
        self.measured_at = self.core.now()

    def carry(self, seconds: int = 0, quiet: str = "") -> None:
        """Let running flows send, and now and then measure all paths."""
        seconds = seconds or self.pick([5, 10, 10, 20])
        alive = self.in_state("active", "installing", "queued")
        self.do("carry", seconds=seconds, mbps={name: self.rate(name) for name in alive if name != quiet})
        if self.core.now() - self.measured_at >= 120:
            self.measure_all()

    def rate(self, name: str) -> float:
        path = self.player.flows[name][1]
        share = 1.0 if path is None else CONDITIONS[self.condition[path]][0]
        return round(MBPS[self.requests[name][1]["template"]] * share * self.chance.uniform(1.0, 1.6), 2)

    def in_state(self, *states: str) -> list[str]:
        return [name for name, (state, _) in self.player.flows.items() if state in states]

    def path(self) -> str:
        """Draw a path, rather one that flows are on."""
        return self.pick(
            [*self.paths, *(str(self.player.flows[name][1]) for name in self.in_state("active"))]
        )

    def submit(self, template: str = "", **more: Any) -> None:
        template, by = template or self.pick(TEMPLATES), self.pick(PEOPLE)
        usual = self.core.stage.catalog.get(template).priority
        ends = self.pick([*DIRECTIONS, DIRECTIONS[0]])
        request: dict[str, Any] = {"source": f"{ends['from']}-dtn", "destination": f"{ends['to']}-dtn"}
        request["size"] = f"{self.pick([1, 20, 100, 500])} GB"
        request |= {"template": template, "ports": [6000 + len(self.lines)]}
        if self.chance.random() < 0.3:
            request["priority"] = self.pick([100, 300, usual])
        if self.chance.random() < 0.3:
            least = MBPS[template] * self.pick([0.5, 1, 3])
            request["qspec"] = {"throughput": {"min": f"{least} Mbps"}}
        if self.chance.random() < 0.3:
            request["queue_patience"] = f"{self.pick([30, 120])} s"
        before = set(self.player.flows)
        self.do("submit", by=by, request={**request, **more})
        self.requests |= dict.fromkeys(set(self.player.flows) - before, (by, request))

    def finish(self) -> None:
        """A transfer reports, or sends nothing any more."""
        if running := self.in_state("active"):
            name = self.pick(running)
            status = self.pick(["progress", "finished", "finished", "failed", "silent"])
            if status == "silent":
                self.carry(60, quiet=name)
                self.carry(30, quiet=name)
            else:
                self.do("report", flow=name, status=status, size=self.pick([10**9, 2 * 10**10]))

    def cancel(self) -> None:
        if alive := self.in_state("active", "queued"):
            name = self.pick(alive)
            self.do("cancel", flow=name, by=self.requests[name][0])

    # -- what the scenarios are about -------------------------------------------------------------------

    def change(self) -> None:
        """A path's condition changes, and tests show it."""
        path = self.path()
        self.condition[path] = self.pick([*CONDITIONS, "good", "lossy"])
        for _ in range(self.pick([1, 3, 4])):
            self.carry(self.pick([15, 30]))
            self.measure(path)

    def alarm(self) -> None:
        """An alarm is raised; a test confirms it or not.  A flow that has just come has not dwelt yet."""
        self.submit()
        self.carry(5)
        path, name = self.path(), f"a-{len(self.lines)}"
        self.condition[path] = self.pick(["good", "crowded", "crowded", "lossy"])
        if self.chance.random() < 0.6:
            self.measure(path)
        about: dict[str, Any] = {**self.pick(DIRECTIONS), "critical": self.chance.random() < 0.6}
        about["metric"] = self.pick(["throughput", "throughput", "loss", "jitter"])
        about["kind"] = self.pick(["plateau", "threshold"])
        self.do("alarm", name=name, path=path, age=60, **about)
        self.opened.append(("alarm_over", {"name": name}))

    def close(self) -> None:
        """Something that was opened is over."""
        if self.opened:
            verb, fields = self.opened.pop(self.chance.randrange(len(self.opened)))
            self.do(verb, **fields)
            if verb == "alarm_over":
                self.condition = dict.fromkeys(self.paths, "good")
                self.measure_all()

    def port(self) -> None:
        site, path = self.pick(list(self.read.sites)), self.path()
        port = self.read.paths[path].ends[site].port
        self.open("port_down", "port_up", switch=self.read.sites[site].edge, port=port)

    def switch(self) -> None:
        switch = self.pick(self.edges)
        if self.chance.random() < 0.3:
            self.do("switch_emptied", switch=switch)
        else:
            self.open("switch_down", "switch_up", switch=switch)

    def refuse(self) -> None:
        self.open("refuse_rules", "accept_rules", switch=self.pick(self.edges))

    def open(self, verb: str, end: str, **fields: Any) -> None:
        if (end, fields) not in self.opened:
            self.do(verb, **fields)
            self.opened.append((end, fields))

    def reserve(self) -> None:
        """Somebody reserves nodes, or bandwidth of a path."""
        ends, by = self.pick(DIRECTIONS), self.pick(PEOPLE)
        about: dict[str, Any] = {"path": self.pick(self.paths), **ends}
        about["bandwidth"] = f"{self.pick([500, 1500])} Mbps"
        if self.read.compute and self.chance.random() < 0.6:
            site, nodes = self.pick([("mu-hpc", 4), ("mu-hpc", 8), ("osu-hpc", 12), ("osu-hpc", 16)])
            about = {"compute": site, "worker_nodes": nodes}
        line = self.do("reserve", by=by, lasts=self.pick([60, 300]), **about)
        self.numbers["reserve"] += "refused" not in line
        if self.chance.random() < 0.3 and "refused" not in line:
            self.do("release", by=by, number=self.numbers["reserve"])

    def delete_rule(self) -> None:
        if running := self.in_state("active"):
            about = {"back": self.chance.random() < 0.5, "reported": self.chance.random() < 0.5}
            self.do("delete_rule", flow=self.pick(running), **about)
            self.carry(self.pick([5, 70]))
            if self.chance.random() < 0.3:
                self.do("read_switches")
            self.do("look")

    def restart(self) -> None:
        """The controller restarts; it knows results of tests before the switches connect."""
        self.do("restart")
        self.measure_all()
        down = [fields["switch"] for verb, fields in self.opened if verb == "switch_up"]
        for edge in self.edges:
            if edge not in down:
                self.do("switch_up", switch=edge)
