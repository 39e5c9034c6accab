"""``ovs-appctl ofproto/trace`` as a value: which tables a packet passes in Open vSwitch, and how it leaves.

The switch is asked through ``appctl``, a function that does what ``ovs-appctl`` does with some words
(:class:`Control`: without a process for each question).  How the packet
looks where it leaves is read from the data path's actions, which Open vSwitch works out from its rules: none
of our own reading of a rule is in it.  Of these actions only those are known that our rules lead to.
"""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from adon.flowvisor.rules.match import ETH_TYPE_IPV4
from tests.support.datapath import CONTROLLER, NORMAL, Packet, Passage

AppCtl = Callable[..., str]

PROTOCOLS = {6: "tcp", 17: "udp", 132: "sctp"}
PORT_LINE = re.compile(r"\s+(?P<name>\S.*) (?P<number>\d+)/(?P<datapath>\d+): \(")
STEP_LINE = re.compile(
    r"\s*(?P<table>\d+)\. (?:No match\.|(?:.*, )?priority (?P<priority>\d+)(?:, cookie .*)?)"
)


class Control:
    """A daemon's control socket: JSON-RPC, as ``ovs-appctl`` speaks it (RFC 7047, 4).

    :param path: the daemon's ``--unixctl``.
    """

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(20.0)
        self._socket.connect(str(path))

    def __call__(self, command: str, *words: str) -> str:
        """What the command answers.

        :raises AssertionError: if it is an error.
        """
        self._socket.sendall(json.dumps({"id": 0, "method": command, "params": words}).encode())
        received = b""
        while True:
            received += self._socket.recv(65536)
            try:
                answer = json.loads(received)
            except ValueError:
                continue  # the rest is on its way
            assert answer["error"] is None, f"{command} {words}: {answer['error']}"
            return str(answer["result"])

    def close(self) -> None:
        self._socket.close()


@dataclass(frozen=True, slots=True)
class Told:
    """What Open vSwitch says about one packet.

    :param steps: pairs of a table and the priority of the rule that took the packet there; None: no rule did.
    :param meters: how many meters it passed.
    """

    steps: tuple[tuple[int, int | None], ...]
    outputs: tuple[tuple[int, Packet], ...]
    meters: int = 0


def ours(passage: Passage) -> Told:
    """The same of what :mod:`tests.support.datapath` says."""
    steps = tuple((step.table, None if step.rule is None else step.rule.priority) for step in passage.steps)
    meters = sum(step.rule is not None and step.rule.meter is not None for step in passage.steps)
    return Told(steps, passage.outputs, meters)


def asked(in_port: int, packet: Packet) -> str:
    """The packet as ``ofproto/trace`` takes it."""
    version = 4 if packet.eth_type == ETH_TYPE_IPV4 else 6
    prefix, protocol = "nw" if version == 4 else "ipv6", PROTOCOLS[packet.ip_proto]
    words = [
        f"in_port={in_port}",
        *([] if packet.vlan is None else [f"dl_vlan={packet.vlan}"]),
        protocol if version == 4 else f"{protocol}6",
        f"dl_src={packet.eth_src}",
        f"dl_dst={packet.eth_dst}",
        f"{prefix}_src={packet.ip_src}",
        f"{prefix}_dst={packet.ip_dst}",
        f"nw_tos={packet.dscp << 2}",
        "nw_ttl=64",
        f"{PROTOCOLS[packet.ip_proto]}_src={packet.tp_src}",
        f"{PROTOCOLS[packet.ip_proto]}_dst={packet.tp_dst}",
    ]
    return ",".join(words)


def numbers(appctl: AppCtl, bridge: str) -> dict[int, int]:
    """The data path's number of every port of a bridge, and its OpenFlow number."""
    found: dict[int, int] = {}
    here = ""
    for line in appctl("dpif/show").splitlines():
        if line.startswith("  ") and not line.startswith("    "):
            here = line.strip().removesuffix(":")
        elif here == bridge and (port := PORT_LINE.match(line)):
            found[int(port["datapath"])] = int(port["number"])
    return found


def traced(
    appctl: AppCtl, bridge: str, in_port: int, packet: Packet, ports: Mapping[int, int] | None = None
) -> Told:
    """Ask Open vSwitch where a packet goes that enters a bridge by an OpenFlow port.

    :param ports: what :func:`numbers` said, for who asks often.
    """
    said = appctl("ofproto/trace", bridge, asked(in_port, packet))
    known = numbers(appctl, bridge) if ports is None else ports
    steps = tuple(_steps(said))
    (final,) = (line for line in said.splitlines() if line.startswith("Datapath actions: "))
    actions = list(split(final.removeprefix("Datapath actions: ")))
    if "NORMAL" in {line.strip() for line in said.splitlines()}:
        return Told(steps, ((NORMAL, packet),))
    meters = sum(action.startswith("meter(") for action in actions)
    return Told(steps, tuple(_outputs(actions, packet, known)), meters)


def _steps(said: str) -> Iterator[tuple[int, int | None]]:
    for line in said.splitlines():
        if step := STEP_LINE.fullmatch(line):
            yield int(step["table"]), None if step["priority"] is None else int(step["priority"])


def split(actions: str) -> Iterator[str]:
    """The parts between the commas that are in no parentheses."""
    depth, part = 0, ""
    for letter in actions:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            yield part
            part = ""
        else:
            part += letter
    yield part


def _outputs(actions: list[str], packet: Packet, ports: Mapping[int, int]) -> Iterator[tuple[int, Packet]]:
    for action in actions:
        if action.isdigit():
            yield ports[int(action)], packet
        elif action.startswith("userspace(") and "controller(" in action:
            yield CONTROLLER, packet
        elif action.startswith("clone("):
            yield from _outputs(list(split(action[6:-1])), packet, ports)
        else:
            packet = rewritten(packet, action)


def rewritten(packet: Packet, action: str) -> Packet:
    """The packet after one action of the data path that may change its headers.

    :raises AssertionError: for an action that is not known here.
    """
    if action == "drop" or action.startswith(("meter(", "set(skb_priority(")):
        return packet
    if action == "pop_vlan":
        assert packet.vlan is not None, "no tag to take off"
        return replace(packet, vlan=None)
    if tag := re.fullmatch(r"push_vlan\(vid=(\d+),pcp=0\)", action):
        assert packet.vlan is None, "a second tag"
        return replace(packet, vlan=int(tag[1]))
    if dscp := re.fullmatch(r"set\(ipv[46]\((?:tos|tclass)=(0x[0-9a-f]+|0)(?:/0xfc)?\)\)", action):
        return replace(packet, dscp=int(dscp[1], 16) >> 2)
    if eth := re.fullmatch(r"set\(eth\((.*)\)\)", action):
        fields = dict(part.split("=", 1) for part in eth[1].split(","))
        source, destination = fields.get("src", packet.eth_src), fields.get("dst", packet.eth_dst)
        return replace(packet, eth_src=source, eth_dst=destination)
    raise AssertionError(f"Open vSwitch does what none of our rules asks for: {action}")
