"""A network of five sites and twenty switches on one private Open vSwitch, and its configuration.

Each site's edge hangs on two of fifteen core switches; these are a ring with six chords.  Wires are sockets
between dummy ports: frames go over them, and they can go down.  No switch forwards of itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.apps.edge import Controller, Switches, free_port
from tests.flowvisor.ovs_trace import Control, Told, numbers, traced

SITES, CORES = 5, 15
EDGES = tuple(f"edge-{site}" for site in range(SITES))
CORE = tuple(f"core-{core:02d}" for core in range(CORES))
BRIDGES = {name: f"{0xE00 + number:016x}" for number, name in enumerate((*EDGES, *CORE))}
DTN_PORT = 1


def dtn_port(site: int) -> str:
    return f"e{site}-dtn"


def _pairs() -> Iterator[tuple[str, str]]:
    for site in range(SITES):
        yield EDGES[site], CORE[3 * site]
        yield EDGES[site], CORE[3 * site + 1]
    for core in range(CORES):
        yield CORE[core], CORE[(core + 1) % CORES]
    for core in (0, 3, 5, 8, 10, 13):
        yield CORE[core], CORE[(core + 5) % CORES]


@dataclass(frozen=True, slots=True)
class End:
    """One end of a link."""

    switch: str
    port: str
    number: int


@dataclass(slots=True)
class Plan:
    """Which port is wired to which; the same every time."""

    links: dict[str, tuple[End, End]] = field(default_factory=dict)

    def peer(self, switch: str, number: int) -> End | None:
        """What is behind a port; None for a DTN."""
        for ends in self.links.values():
            for here, there in (ends, ends[::-1]):
                if (here.switch, here.number) == (switch, number):
                    return there
        return None


def short(switch: str) -> str:
    kind, _, number = switch.partition("-")
    return f"{kind[0]}{number}"


def plan() -> Plan:
    found, free = Plan(), dict.fromkeys(BRIDGES, DTN_PORT + 1)
    for one, other in _pairs():
        ends = []
        for here, there in ((one, other), (other, one)):
            ends.append(End(here, f"{short(here)}-{short(there)}", free[here]))
            free[here] += 1
        found.links[f"{short(one)}-{short(other)}"] = (ends[0], ends[1])
    return found


def configuration(form: str, **policy: object) -> dict[str, Any]:
    """The network as ADON is told of it.

    :param form: of the pipeline: ``single``, ``staged``, or ``mixed``: every other switch.
    """
    forms = dict.fromkeys(BRIDGES, form)
    if form == "mixed":
        forms = {name: ("single", "staged")[number % 2] for number, name in enumerate(BRIDGES)}
    sites = {
        f"site-{site}": {
            "edge": EDGES[site],
            "gateway_mac": f"02:00:00:00:{site:02x}:01",
            "hosts": {
                f"dtn-{site}": {
                    "address": f"10.{site + 1}.0.10",
                    "address6": f"2001:db8:{site + 1}::10",
                    "mac": f"02:00:00:00:{site:02x}:0a",
                    "port": dtn_port(site),
                }
            },
        }
        for site in range(SITES)
    }
    links = {
        name: {"ends": {end.switch: end.port for end in ends}, "capacity": "100 Mbps", "delay": "1 ms"}
        for name, ends in plan().links.items()
    }
    return {
        "network": "fabric",
        "controller": {"openflow_host": "127.0.0.1", "web_port": free_port()},
        "switches": {name: {"dpid": dpid, "pipeline": forms[name]} for name, dpid in BRIDGES.items()},
        "sites": sites,
        "links": links,
        "overlays": {"mesh": {"vlans": "100-299", "paths": 2}},
        "paths": {},
        "discovery": {"enabled": True, "hello": "2 s", "debounce": "100 ms"},
        "policy": {"counters_period": "1 s", "consistency_period": "1 s", "drain": "50 ms", **policy},
    }


def build(switches: Switches, controller: int) -> None:
    """Make the bridges and their wires; no rule is in them."""
    words: list[str] = []
    for name, dpid in BRIDGES.items():
        words += [
            "--",
            "add-br",
            name,
            "--",
            "set",
            "Bridge",
            name,
            "datapath_type=dummy",
            "fail_mode=secure",
        ]
        words += ["protocols=OpenFlow13", f"other-config:datapath-id={dpid}"]
    for site, edge in enumerate(EDGES):
        words += ["--", "add-port", edge, dtn_port(site)]
        words += ["--", "set", "Interface", dtn_port(site), "type=dummy", f"ofport_request={DTN_PORT}"]
    switches.vsctl(*words[1:])
    for one, other in plan().links.values():
        join_bridges(switches, (one.switch, one.port, one.number), (other.switch, other.port, other.number))
    for name in BRIDGES:
        switches.connect(name, controller)


class Fabric:
    """The running network, and the controller in front of it."""

    def __init__(self, folder: Path, form: str) -> None:
        self.plan = plan()
        self.switches = Switches(folder / "ovs")
        self.controller = Controller(folder)
        document = configuration(form)
        document["controller"]["openflow_port"] = self.controller.port
        self.controller.config.write_text(yaml.safe_dump(document))
        self.numbers: dict[str, dict[int, int]] = {}

    @contextmanager
    def running(self) -> Iterator[None]:
        """Switches and controller; both end with the context."""
        self.switches.folder.mkdir()
        with ExitStack() as stack:
            stack.enter_context(self.switches.running())
            build(self.switches, self.controller.port)
            self._control = Control(self.switches.folder / "vs.ctl")
            stack.callback(self._control.close)
            self.numbers = {name: numbers(self._control, name) for name in BRIDGES}
            stack.callback(self.controller.stop)
            self.controller.start()
            yield

    def ask(self, bridge: str, in_port: int, packet: Any) -> Told:
        """Open vSwitch's own trace of a packet through one switch."""
        return traced(self._control, bridge, in_port, packet, self.numbers[bridge])


def join_bridges(switches: Switches, *ends: tuple[str, str, int]) -> None:
    """Two dummy ports whose frames go through a socket to each other; unlike patch ports they can go down."""
    wire = f"unix:{switches.folder}/{ends[0][1]}.wire"
    for (bridge, port, number), way in zip(ends, (f"pstream=p{wire}", f"stream={wire}"), strict=True):
        words = ["add-port", bridge, port, "--", "set", "Interface", port, "type=dummy"]
        switches.vsctl(*words, f"options:{way}", f"ofport_request={number}")
