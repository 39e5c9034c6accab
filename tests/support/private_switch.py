"""An Open vSwitch of its own in a folder, and a controller of one connection."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from os_ken.ofproto import ofproto_parser
from os_ken.ofproto import ofproto_v1_3 as ofp
from os_ken.ofproto.ofproto_protocol import ProtocolDesc

from adon.flowvisor.openflow import decode, encode
from adon.flowvisor.openflow.messages import envelope
from adon.flowvisor.openflow.wire import V13, message, with_xid
from adon.flowvisor.rules.rule import Change, Entry, ReportedRule, Slot
from tests.flowvisor.network import MU

PATIENCE_S = 180.0


def parse(datapath: Any, version: int, kind: int, xid: int, data: bytes) -> Any:
    """Return a message as an object of os-ken; None if os-ken cannot parse it."""
    found = envelope(datapath, version, kind, xid, data)
    return found or ofproto_parser.msg(datapath, version, kind, len(data), xid, data)


class OpenFlowClient:
    """A controller of one connection: just enough of OpenFlow to ask and be answered."""

    def __init__(self, connection: socket.socket, version: int) -> None:
        self.version = version
        self.datapath = ProtocolDesc(version=version)
        self._connection = connection
        self._xid = 0
        self.tell(message(version, ofp.OFPT_HELLO, b""))
        assert self.receive().msg_type == ofp.OFPT_HELLO

    def tell(self, packed: bytes) -> None:
        self._xid += 1
        self._connection.sendall(with_xid(packed, self._xid))

    def send(self, packed: bytes) -> None:
        """Bytes that have their transaction ids."""
        self._connection.sendall(packed)

    def receive(self) -> Any:
        header = self._exactly(ofp.OFP_HEADER_SIZE)
        version, kind, length, xid = ofproto_parser.header(header)
        rest = self._exactly(length - ofp.OFP_HEADER_SIZE)
        return parse(self.datapath, version, kind, xid, header + rest)

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            part = self._connection.recv(size - len(data))
            assert part, "the switch hung up"
            data += part
        return data

    def barrier(self) -> list[Any]:
        """Everything the switch says before it answers a barrier."""
        self.tell(encode.encode_barrier(self.version))
        said = []
        while (message := self.receive()).msg_type != ofp.OFPT_BARRIER_REPLY:
            said.append(message)
        return said

    def apply(self, changes: Iterable[Change]) -> list[Any]:
        for change in changes:
            self.tell(encode.encode_change(change, self.version))
        return self.barrier()

    def ask(self, request: bytes) -> list[bytes]:
        """The parts of the answer to a multipart request."""
        self.tell(request)
        parts = [self.receive().buf]
        while parts[-1][11] & ofp.OFPMPF_REPLY_MORE:
            parts.append(self.receive().buf)
        return parts

    def report(self) -> tuple[list[ReportedRule], set[Slot]]:
        rules: list[ReportedRule] = []
        foreign: set[Slot] = set()
        for data in self.ask(encode.encode_request("rules", self.version)):
            part = decode.read_part(MU, data)
            rules += part.rules
            foreign |= part.foreign
        return rules, foreign

    def equipment(self) -> set[Entry]:
        requests = (
            encode.encode_request("groups", self.version),
            encode.encode_request("meters", self.version),
        )
        parts = [decode.read_part(MU, data) for request in requests for data in self.ask(request)]
        return {entry for part in parts for entry in part.equipment}

    def everything(self) -> set[Entry]:
        return {item.rule for item in self.report()[0]} | self.equipment()

    def clear(self) -> None:
        """Remove all rules, groups and meters, whoever made them."""
        parser, protocol = self.datapath.ofproto_parser, self.datapath.ofproto
        wipe = parser.OFPFlowMod(
            self.datapath,
            command=protocol.OFPFC_DELETE,
            table_id=protocol.OFPTT_ALL,
            out_port=protocol.OFPP_ANY,
            out_group=protocol.OFPG_ANY,
        )
        groups = parser.OFPGroupMod(self.datapath, protocol.OFPGC_DELETE, group_id=protocol.OFPG_ALL)
        meters = parser.OFPMeterMod(self.datapath, protocol.OFPMC_DELETE, meter_id=protocol.OFPM_ALL)
        for each in (wipe, groups, meters):
            each.serialize()
            self.tell(bytes(each.buf))
        assert self.barrier() == []


class PrivateSwitch:
    """An Open vSwitch whose files are all in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "OVS_RUNDIR": str(folder), "OVS_LOGDIR": str(folder)}

    def run(self, *command: str) -> str:
        done = subprocess.run(
            command, env=self.environment, check=True, capture_output=True, text=True, timeout=PATIENCE_S
        )
        return done.stdout

    @contextmanager
    def daemon(self, *command: str, ready: str) -> Iterator[None]:
        with (self.folder / f"{command[0]}.out").open("w") as output:
            process = subprocess.Popen(command, env=self.environment, stdout=output, stderr=output)
        try:
            wait_for(self.folder / ready)
            yield
        finally:
            process.terminate()
            process.wait(PATIENCE_S)

    @contextmanager
    def client(self, version: int = V13) -> Iterator[OpenFlowClient]:
        path = self.folder / "br0.mgmt"
        wait_for(path)
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(PATIENCE_S)
            connection.connect(str(path))
            yield OpenFlowClient(connection, version)


def wait_for(path: Path) -> None:
    """Wait until a file is there."""
    deadline = time.monotonic() + PATIENCE_S
    while not path.exists():
        assert time.monotonic() < deadline, f"{path.name} did not appear"
        time.sleep(0.02)
