"""What fails in front of running traffic, one scene each, in namespaces of their own.

Every scene: one UDP flow (numbered packets) and one TCP flow (iperf3, limited) over ``al2s``; then something
fails.  It is over when the rules of both edges are what they were, and the active controller has both
connected and finds no difference.  Rules are compared as ``ovs-ofctl dump-flows`` shows them, about every
:data:`LOOK_S`: no finer is the time to that.

The switches and the controller share this machine's processors, which no campus would have: where a new
controller starts, packets would wait before Open vSwitch until there is no more room for them.  So the
switches' daemon and the packets' sender go first (nice -20), and the scene ``nothing happens`` shows what the
machine loses all the same.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from adon.errors import AdonError, Unavailable
from adon.store.upgrade import upgrade
from apps.link import LinkClient
from benchmarks import traffic
from benchmarks.failures_links import SETTLE_S, flowing, introduce, wish
from benchmarks.lab import EDGES, NETWORK, Lab, configuration
from tests import postgresql
from tests.apps import faucet
from tests.apps.edge import NETWORK as EXAMPLE
from tests.apps.edge import Controller, end, eventually, free_port
from tests.apps.test_availability import Member

RATE = 500
UDP_PORT, TCP_PORT = 5301, 5201
TCP = ("-b", "4M", "-l", "1400")
"""A small block each time: of the usual 128 KiB at once, a busy machine loses some before Open vSwitch."""
FIRST = ("nice", "-n", "-20")
LOOK_S = 0.03
CALM_S = 1.0
"""It is over when it has been right for so long."""
CUT_S = 30.0
DOWN_S = 2.0
"""How long a controller that was killed is away: what its supervisor waits, and then some."""
PATIENCE_S = 60.0
AS_CONFIGURED = {"counters_period": "5 s", "consistency_period": "60 s", "drain": "200 ms"}


class Scene:
    """The stage of one failure.

    :param controllers: one, or two of which one is active; they listen on ports of their own.
    :param lasting: what is to end with the lab.
    """

    def __init__(self, network: Lab, controllers: list[Controller], lasting: ExitStack) -> None:
        self.network = network
        self.controllers = controllers
        self.lasting = lasting
        self.cleanup = ExitStack()

    @property
    def first(self) -> Controller:
        """The one that is active at the beginning."""
        return self.controllers[0]

    def rules(self) -> list[set[str]]:
        """What is in the edges, without counters; an edge that does not answer has nothing."""
        found = []
        for edge in EDGES:
            try:
                found.append({_bare(rule) for rule in self.network.rules(edge)})
            except AdonError:
                found.append(set())
        return found

    def right(self) -> bool:
        """Whether a controller says that both edges are connected and as they should be."""
        for controller in self.controllers:
            if controller.alive:
                with suppress(AdonError), _asking(controller) as link:
                    edges = link.call("rules.diff", {}, timeout=0.5)["items"]
                    return all(edge["connected"] and not _different(edge) for edge in edges)
        return False

    def flow_mods(self) -> dict[str, int]:
        """How many each controller has sent, by its folder and process."""
        counted = {}
        for controller in self.controllers:
            if controller.alive and controller.process is not None:
                with suppress(AdonError), _asking(controller) as link:
                    name = f"{controller.folder.name}-{controller.process.pid}"
                    counted[name] = int(link.call("tally", {}, timeout=1.0)["flow_mods"])
        return counted


def _bare(rule: str) -> str:
    head, _, rest = rule.partition(" duration=")
    return head + rest.partition("n_bytes=")[2].partition(",")[2]


def _different(edge: Mapping[str, Any]) -> bool:
    return any(edge[kind] for kind in ("missing", "wrong", "extra", "blocked"))


@contextmanager
def _asking(controller: Controller) -> Iterator[LinkClient]:
    client = LinkClient(controller.folder / "controller.sock", "web")
    try:
        deadline = time.monotonic() + 0.5
        while not client.connected and time.monotonic() < deadline:
            time.sleep(0.005)
        yield client
    finally:
        client.close()


def nothing(scene: Scene) -> None:  # noqa: ARG001 - all scenes are called alike
    """As long a stretch of traffic as the other scenes have."""
    time.sleep(DOWN_S)


def controller_killed(scene: Scene) -> None:
    """Kill -9, and a new process from the same store."""
    scene.first.kill()
    time.sleep(DOWN_S)
    scene.first.start()


def switch_restarted(scene: Scene) -> None:
    """ovs-vswitchd is killed: no data path, no rules; its own start script puts NORMAL back, we the rest."""
    folder = scene.network.switch.folder
    os.kill(int((folder / "ovs-vswitchd.pid").read_text()), signal.SIGKILL)
    (folder / "ovs-vswitchd.pid").unlink()
    scene.lasting.callback(end, _vswitchd(scene.network))
    eventually(lambda: _normal(scene.network), "Open vSwitch did not come back")


def control_cut(scene: Scene) -> None:  # noqa: ARG001 - all scenes are called alike
    """Nothing passes between the controller and the switches for a while; nobody is told."""
    subprocess.run(["ip", "link", "set", "lo", "down"], check=True)
    try:
        time.sleep(CUT_S)
    finally:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def active_killed(scene: Scene) -> None:
    """Kill -9 of the active one of two."""
    scene.first.kill()


def rules_deleted(scene: Scene) -> None:
    """Somebody removes all rules of ours from one edge, by hand."""
    scene.network.switch.ofctl("del-flows", "mu-edge", "cookie=0xad00000000000000/0xff00000000000000")


def faucet_wipes(scene: Scene) -> float:
    """Faucet gets the switches as a second controller, and deletes every rule it finds.

    :returns: when it got them; its start is not our business.
    """
    folder, port = scene.network.switch.folder.parent, free_port()
    environment = {
        **os.environ,
        "PATH": f"{faucet.BIN}{os.pathsep}{os.environ['PATH']}",
        "FAUCET_CONFIG": str(faucet.configuration(folder)),
        "FAUCET_LOG": str(folder / "faucet.log"),
        "FAUCET_EXCEPTION_LOG": str(folder / "faucet-exceptions.log"),
        "FAUCET_PROMETHEUS_ADDR": "127.0.0.1",
        "FAUCET_PROMETHEUS_PORT": str(free_port()),
    }
    (folder / "faucet.log").unlink(missing_ok=True)
    words = (f"--ryu-ofp-tcp-listen-port={port}", "--ryu-ofp-listen-host=127.0.0.1")
    with (folder / "faucet.out").open("ab") as output:
        command = [str(faucet.BIN / "faucet"), *words]
        program = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
    scene.cleanup.callback(end, program)
    eventually((folder / "faucet.log").exists, "Faucet did not start")
    begun = time.monotonic()
    scene.network.connect(scene.first.port, port)
    eventually(lambda: all(_theirs(scene.network, edge) for edge in EDGES), "Faucet put no rules in")
    return begun


Act = Callable[[Scene], float | None]
SCENES: Mapping[str, tuple[Act, bool]] = {
    "nothing happens": (nothing, False),
    "controller killed, restarted": (controller_killed, False),
    "switch killed, restarted": (switch_restarted, False),
    "control network cut for 30 s": (control_cut, False),
    "active killed, standby takes over": (active_killed, True),
    "our rules deleted by hand": (rules_deleted, False),
    "wiped by Faucet": (faucet_wipes, False),
}
"""What is done, and whether there are two controllers."""


def play(network: Lab, name: str, lasting: ExitStack) -> dict[str, Any]:
    """One scene from beginning to end."""
    act, two = SCENES[name]
    with ExitStack() as stack:
        controllers = stack.enter_context(_two() if two else _one())
        network.connect(*(controller.port for controller in controllers))
        scene = Scene(network, controllers, lasting)
        for controller in controllers:
            controller.start()
            _connected(controller)
        eventually(lambda: scene.first.said("is connected") == len(EDGES), "the switches are not used")
        _hurry(network, len(controllers))
        stack.callback(_campus_alone, network)
        with scene.first.client("collector") as link:
            introduce(link)
            link.call("flow.submit", wish("test-udp", UDP_PORT))
            link.call("flow.submit", wish("test-tcp", TCP_PORT))
        eventually(lambda: scene.first.said("the transfer can begin") == 2, "the flows are not active")
        stack.callback(scene.cleanup.close)
        time.sleep(SETTLE_S)
        goes_first(network)
        return _observed(scene, act)


def goes_first(network: Lab) -> None:
    """Let the switches' daemon have a processor whenever it wants one."""
    daemon = (network.switch.folder / "ovs-vswitchd.pid").read_text().strip()
    for thread in Path(f"/proc/{daemon}/task").iterdir():
        os.setpriority(os.PRIO_PROCESS, int(thread.name), -20)


def _connected(controller: Controller) -> None:
    text = "event=switch.connected"
    eventually(lambda: controller.said(text) == len(EDGES), "the switches did not connect", PATIENCE_S)


def _observed(scene: Scene, act: Act) -> dict[str, Any]:
    before, sent = scene.rules(), scene.flow_mods()
    near, far = scene.network.namespaces["mu-dtn"], scene.network.namespaces["osu-dtn"]
    server = far.popen("iperf3", "-s", "-1", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(SETTLE_S / 2)
    command = ("iperf3", "-c", f"{NETWORK['osu']}.10", "-t", "600", *TCP, "-i", "0.1", "-J")
    with flowing(scene.network, RATE, [UDP_PORT]) as files:
        client = near.popen(*command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        time.sleep(SETTLE_S)
        try:
            times = _until_right(scene, act, before)
        finally:
            client.send_signal(signal.SIGINT)
            told, _ = client.communicate(timeout=20)
            end(server)
    (count,) = json.loads(files["send"].read_text()).values()
    received = [(number, at) for _, number, at in traffic.read(files["receive"], "receive")]
    now = scene.flow_mods()
    return {
        **asdict(traffic.arrivals(count, received)),
        **_tcp(json.loads(told)),
        **times,
        "flow_mods": sum(number - sent.get(name, 0) for name, number in now.items()),
        "load": os.getloadavg()[0],
    }


def _until_right(scene: Scene, act: Act, before: list[set[str]]) -> dict[str, float | None]:
    """Act; then look until all is right and stays so.  Meanwhile, whether rules are missing is looked at.

    :returns: seconds from the beginning to the last look that found something wrong, and from the first to
        the last look that found rules missing (None: none was).
    """
    begun, missing, doubtful = time.monotonic(), list[float](), 0.0
    with _looking(scene, before, missing):
        begun = act(scene) or begun
        calm_since = time.monotonic()
        while time.monotonic() - calm_since < CALM_S:
            if time.monotonic() - begun > CUT_S + PATIENCE_S:
                raise Unavailable("it does not become right again")
            if not scene.right() or (missing and missing[-1] > calm_since):
                calm_since = doubtful = time.monotonic()
            time.sleep(LOOK_S)
    last = max([doubtful, *missing[-1:]])
    return {
        "right_after_s": max(0.0, last - begun),
        "rules_away_s": missing[-1] - missing[0] + LOOK_S if missing else None,
    }


@contextmanager
def _looking(scene: Scene, before: list[set[str]], missing: list[float]) -> Iterator[None]:
    """Note, again and again, when rules are missing in an edge."""
    over = threading.Event()

    def look() -> None:
        while not over.wait(LOOK_S):
            if any(not want <= found for want, found in zip(before, scene.rules(), strict=True)):
                missing.append(time.monotonic())

    looker = threading.Thread(target=look, daemon=True)
    looker.start()
    try:
        yield
    finally:
        over.set()
        looker.join()


def _tcp(told: Mapping[str, Any]) -> dict[str, float]:
    """Retransmitted segments, and the longest stretch of tenths of seconds in which nothing was sent."""
    stall = longest = 0.0
    for interval in told["intervals"]:
        stall = stall + interval["sum"]["seconds"] if interval["sum"]["bytes"] == 0 else 0.0
        longest = max(longest, stall)
    retransmits = sum(interval["sum"]["retransmits"] for interval in told["intervals"])
    return {"tcp_retransmits": retransmits, "tcp_stall_s": longest}


def _vswitchd(network: Lab) -> subprocess.Popen[bytes]:
    folder, switch = network.switch.folder, network.switch
    words = [f"--pidfile={folder}/ovs-vswitchd.pid", f"--log-file={folder}/ovs-vswitchd.log"]
    return subprocess.Popen(
        [
            *FIRST,
            "ovs-vswitchd",
            *words,
            "--verbose=console:off",
            "--verbose=syslog:off",
            f"unix:{folder}/db.sock",
        ],
        env={**os.environ, **switch.environment},
        start_new_session=True,
    )


def _normal(network: Lab) -> bool:
    """The campus's own rule, once the bridges are there."""
    try:
        network.forwards_as_usual()
    except AdonError:
        return False
    return True


def _theirs(network: Lab, edge: str) -> bool:
    return "cookie=0x5adc15c0" in network.switch.ofctl("dump-flows", edge, faucet.COOKIE)


def _hurry(network: Lab, controllers: int) -> None:
    """Let the switches, which are connected, look for a lost controller every second (docs/benchmarks.md)."""
    for edge in EDGES:
        for found in network.switch.vsctl("get", "Bridge", edge, "controller").strip("[] \n").split(", "):
            network.switch.vsctl("set", "Controller", found, f"max_backoff={1000 + controllers}")


def _campus_alone(network: Lab) -> None:
    """As it was before: no controller, no rules but the campus's own."""
    for edge in EDGES:
        network.switch.vsctl("del-controller", edge)
        network.switch.ofctl("del-flows", edge)
    network.forwards_as_usual()


@contextmanager
def _one() -> Iterator[list[Controller]]:
    with tempfile.TemporaryDirectory(prefix="adon-failure-") as name:
        controller = Controller(Path(name), **AS_CONFIGURED)
        configuration(controller.folder, EXAMPLE)
        try:
            yield [controller]
        finally:
            controller.stop()


@contextmanager
def _two() -> Iterator[list[Controller]]:
    """Two controllers with one PostgreSQL; the first is to be started first."""
    # The server's own folder must be open to its user, so it is not inside ours.
    database = Path(tempfile.mkdtemp(prefix="adon-pg-"))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, database)
        url = stack.enter_context(postgresql.running(database))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="adon-failure-")))
        upgrade(url)
        members = [Member(folder, name, url) for name in ("a", "b")]
        for member in members:
            configuration(member.folder, EXAMPLE, **AS_CONFIGURED)
            member.configure(ha={"name": member.name})
            stack.callback(member.stop)
        yield list(members)
