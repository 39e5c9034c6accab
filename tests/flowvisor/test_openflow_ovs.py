"""Our messages against Open vSwitch itself: a private instance with its dummy data path.

No root, no interface, no port: both daemons run in a folder of the test, speak over Unix sockets, and are
ended by their own process handles.  Packets are traced with ``ofproto/trace``.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from os_ken.ofproto import ofproto_parser
from os_ken.ofproto import ofproto_v1_3 as ofp
from os_ken.ofproto import ofproto_v1_3_parser as parser
from os_ken.ofproto.ofproto_protocol import ProtocolDesc

from adon.flowvisor import openflow
from adon.flowvisor.path import FiveTuple
from adon.flowvisor.reconcile import difference, phases
from adon.flowvisor.rule import Change, Op, ReportedRule, Rule, Slot, rule_text
from adon.flowvisor.rules import Steered, flow_rules, learn_rules
from tests.flowvisor.network import AL2S, MU, PATHS, ROUTED, SOURCE, TARGET

pytestmark = pytest.mark.integration

SCHEMA = Path("/usr/share/openvswitch/vswitch.ovsschema")
PATIENCE_S = 20.0


class Client:
    """A controller of one connection: just enough of OpenFlow to ask and be answered."""

    def __init__(self, connection: socket.socket) -> None:
        self.datapath = ProtocolDesc(version=ofp.OFP_VERSION)
        self._connection = connection
        self._xid = 0
        self.tell(parser.OFPHello(self.datapath))
        assert isinstance(self.receive(), parser.OFPHello)

    def tell(self, message: Any) -> None:
        self._xid += 1
        message.set_xid(self._xid)
        message.serialize()
        self._connection.sendall(message.buf)

    def receive(self) -> Any:
        header = self._exactly(ofp.OFP_HEADER_SIZE)
        version, kind, length, xid = ofproto_parser.header(header)
        rest = self._exactly(length - ofp.OFP_HEADER_SIZE)
        return ofproto_parser.msg(self.datapath, version, kind, length, xid, header + rest)

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            part = self._connection.recv(size - len(data))
            assert part, "the switch hung up"
            data += part
        return data

    def barrier(self) -> list[Any]:
        """Everything the switch says before it answers a barrier."""
        self.tell(parser.OFPBarrierRequest(self.datapath))
        said = []
        while not isinstance(message := self.receive(), parser.OFPBarrierReply):
            said.append(message)
        return said

    def apply(self, changes: Iterable[Change]) -> list[Any]:
        for change in changes:
            self.tell(openflow.flow_mod(self.datapath, change))
        return self.barrier()

    def report(self) -> tuple[list[ReportedRule], set[Slot]]:
        self.tell(openflow.stats_request(self.datapath))
        reply = self.receive()
        assert isinstance(reply, parser.OFPFlowStatsReply)
        found = [openflow.reported(MU, stat) for stat in reply.body]
        return (
            [item for item in found if isinstance(item, ReportedRule)],
            {item for item in found if not isinstance(item, ReportedRule)},
        )


class PrivateSwitch:
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
    def client(self) -> Iterator[Client]:
        path = self.folder / "br0.mgmt"
        wait_for(path)
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(PATIENCE_S)
            connection.connect(str(path))
            yield Client(connection)


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not path.exists():
        assert time.monotonic() < deadline, f"{path.name} did not appear"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def switch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateSwitch]:
    for tool in ("ovsdb-server", "ovsdb-tool", "ovs-vswitchd", "ovs-vsctl", "ovs-ofctl", "ovs-appctl"):
        assert shutil.which(tool), f"{tool} is not installed: install openvswitch-switch"
    private = PrivateSwitch(tmp_path_factory.mktemp("ovs"))
    database, control = private.folder / "conf.db", f"unix:{private.folder}/db.sock"
    private.run("ovsdb-tool", "create", str(database), str(SCHEMA))
    with ExitStack() as stack:
        server = ("ovsdb-server", str(database), f"--remote=p{control}")
        stack.enter_context(private.daemon(*server, f"--unixctl={private.folder}/db.ctl", ready="db.sock"))
        private.run("ovs-vsctl", f"--db={control}", "--no-wait", "init")
        daemon = ("ovs-vswitchd", control, "--enable-dummy", "--disable-system")
        stack.enter_context(private.daemon(*daemon, f"--unixctl={private.folder}/vs.ctl", ready="vs.ctl"))
        port = "-- add-port br0 p{0} -- set Interface p{0} type=dummy ofport_request={0}"
        ports = [word for number in range(1, 5) for word in port.format(number).split()]
        bridge = "add-br br0 -- set Bridge br0 datapath_type=dummy fail_mode=secure protocols=OpenFlow13"
        private.run("ovs-vsctl", f"--db={control}", *bridge.split(), *ports)
        yield private


@pytest.fixture
def client(switch: PrivateSwitch) -> Iterator[Client]:
    with switch.client() as connected:
        connected.tell(
            parser.OFPFlowMod(
                connected.datapath,
                command=ofp.OFPFC_DELETE,
                out_port=ofp.OFPP_ANY,
                out_group=ofp.OFPG_ANY,
                match=parser.OFPMatch(),
            )
        )
        assert connected.barrier() == []
        yield connected


def rules(path: Any) -> list[Rule]:
    tuples = (FiveTuple(6, 5001), FiveTuple(17, 5002, 4000))
    flow = flow_rules(Steered(17, SOURCE, TARGET, path, PATHS), tuples, 500, 60)
    return [
        rule for rule in (*flow, *learn_rules(Steered(18, SOURCE, TARGET, path, PATHS), 6)) if rule.dpid == MU
    ]


def everything(plan: Iterable[Any]) -> list[Change]:
    return [change for phase in plan for batch in phase.batches.values() for change in batch]


def test_install_move_and_remove_leave_the_switch_as_desired(client: Client) -> None:
    foreign = parser.OFPFlowMod(client.datapath, cookie=5, priority=7, match=parser.OFPMatch(in_port=9))
    client.tell(foreign)
    for desired in (rules(AL2S), rules(ROUTED), []):
        reported, others = client.report()
        assert len(others) == 1
        changes = everything(phases(difference(desired, reported, foreign=frozenset(others))))
        assert client.apply(changes) == []
        reported, others = client.report()
        assert {item.rule for item in reported} == set(desired)
        assert len(others) == 1


def test_a_delete_with_another_owners_cookie_does_nothing(client: Client) -> None:
    first = rules(AL2S)[0]
    client.apply([Change(Op.ADD, first)])
    stranger = Rule(first.dpid, first.priority, first.match, first.actions, first.cookie + 1)
    assert client.apply([Change(Op.DELETE, stranger)]) == []
    assert [item.rule for item in client.report()[0]] == [first]


def test_the_switch_tells_that_an_ingress_rule_was_removed(client: Client) -> None:
    ingress = next(rule for rule in rules(AL2S) if rule.idle_timeout)
    # On its management socket Open vSwitch volunteers nothing until this is set.
    client.tell(parser.OFPSetConfig(client.datapath, ofp.OFPC_FRAG_NORMAL, 128))
    client.apply([Change(Op.ADD, ingress)])
    client.tell(openflow.flow_mod(client.datapath, Change(Op.DELETE, ingress)))
    message = client.receive()
    assert isinstance(message, parser.OFPFlowRemoved)
    assert openflow.removed_reason(message) == "delete"
    found = openflow.removed_rule(MU, message)
    assert found is not None
    assert (found.slot, found.cookie) == (ingress.slot, ingress.cookie)


def test_rules_read_as_ovs_ofctl_prints_them(switch: PrivateSwitch, client: Client) -> None:
    wanted = rules(AL2S)
    client.apply([Change(Op.ADD, rule) for rule in wanted])
    target = f"unix:{switch.folder}/br0.mgmt"
    printed = switch.run("ovs-ofctl", "-O", "OpenFlow13", "--no-stats", "--no-names", "dump-flows", target)
    lines = {" ".join(line.replace("send_flow_rem ", "").split()) for line in printed.splitlines()}
    assert {rule_text(rule).replace(", table=0,", ",").replace(", ", " ") for rule in wanted} == {
        line.replace("table=0, ", "").replace(", ", " ") for line in lines if "cookie=0xad" in line
    }


def test_a_refused_rule_is_an_error_with_a_name(client: Client) -> None:
    ports_without_protocol = rules(AL2S)[0]
    message = openflow.flow_mod(client.datapath, Change(Op.ADD, ports_without_protocol))
    message.table_id = 255
    client.tell(message)
    (error,) = client.barrier()
    assert openflow.error_text(error).startswith("OFPET_FLOW_MOD_FAILED(5) OFPFMFC_BAD_TABLE_ID")


def test_a_packet_leaves_by_the_path_addressed_to_the_far_dtn(switch: PrivateSwitch, client: Client) -> None:
    client.apply([Change(Op.ADD, rule) for rule in rules(AL2S)])
    packet = (
        f"in_port=1,tcp,dl_src={SOURCE.mac},dl_dst={SOURCE.gateway_mac},nw_src={SOURCE.address},"
        f"nw_dst={TARGET.address},nw_ttl=64,tp_src=40000,tp_dst=5001"
    )
    trace = switch.run("ovs-appctl", "-t", f"{switch.folder}/vs.ctl", "ofproto/trace", "br0", packet)
    final = next(line for line in trace.splitlines() if line.startswith("Datapath actions"))
    assert f"dst={TARGET.mac}" in final
    assert "push_vlan(vid=100" in final


def test_ports_are_known_by_name_and_number(client: Client) -> None:
    client.tell(parser.OFPPortDescStatsRequest(client.datapath))
    found = openflow.ports(client.receive().body)
    assert {name: port.number for name, port in found.items()} == {f"p{n}": n for n in range(1, 5)}
