"""Hands on real switches while flows run on them: what is ours comes back, what is not is left alone.

Every kind of tampering that ``ovs-ofctl`` can do, alone and in random order, on an edge of the fabric in the
staged form, with groups and meters.  After the next checks it holds entry by entry what it held before, the
foreign rule among them, and ``rules.diff`` finds nothing.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest
import yaml

from adon.store.store import Store
from apps.link import LinkClient
from tests.apps.edge import TEMPLATE, eventually
from tests.apps.fabric import BRIDGES, EDGES, Fabric

pytestmark = pytest.mark.integration

BRIDGE = EDGES[0]
FOREIGN = "cookie=0x7,table=9,priority=77,in_port=3,actions=output:1"
OURS = "cookie=0xad00000000000000/0xff00000000000000"
SEEDS = (1, 2, 3)
FLOWS = (1, 2, 3)


@pytest.fixture(scope="module")
def fabric(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fabric]:
    built = Fabric(tmp_path_factory.mktemp("tampering"), "staged")
    document = yaml.safe_load(built.controller.config.read_text())
    document["policy"] |= {"ladder": {"mode": "meters"}, "consistency_period": "1 s"}
    built.controller.config.write_text(yaml.safe_dump(document))
    with built.running():
        eventually(
            lambda: built.controller.said("code=switch-connected") == len(BRIDGES), "not all connected"
        )
        with built.controller.client() as link:
            link.call("template.add", {"template": TEMPLATE, "author": "eve"})
            for number in FLOWS:
                wish = {"source": "dtn-0", "destination": f"dtn-{number}", "ports": [5000 + number]}
                wish |= {"size": "10 MB", "template": "test-bulk"}
                link.call("flow.submit", {"request": wish, "requester": "ann"})
        eventually(lambda: active(built), "not all flows are active")
        built.switches.ofctl("add-flow", BRIDGE, FOREIGN)
        yield built


def right(link: LinkClient) -> bool:
    """Whether every switch is as it should be, by what the controller read last."""
    kinds = ("missing", "wrong", "extra", "blocked")
    return not any(switch[kind] for switch in link.call("rules.diff", {})["items"] for kind in kinds)


def active(fabric: Fabric) -> bool:
    with Store.open(fabric.controller.url, read_only=True) as store:
        return all(store.flow(number).state == "active" for number in FLOWS)


def held(fabric: Fabric) -> tuple[set[str], str, str]:
    """Rules without counters, groups, meters of the bridge, as Open vSwitch prints them."""
    ofctl = fabric.switches.ofctl
    flags = ("--no-stats", "--no-names")
    rules = fabric.switches.run(
        "ovs-ofctl", "-O", "OpenFlow13", *flags, "dump-flows", f"unix:{fabric.switches.folder}/{BRIDGE}.mgmt"
    )
    lines = {line.strip() for line in rules.splitlines() if "cookie=" in line or "priority=" in line}
    groups = "\n".join(sorted(ofctl("dump-groups", BRIDGE).splitlines()[1:]))
    meters = "\n".join(sorted(ofctl("dump-meters", BRIDGE).splitlines()[1:]))
    return lines, groups, meters


def replaced(fabric: Fabric) -> None:
    """Another controller's ``replace-flows``: all rules go, its own one comes."""
    file = fabric.switches.folder / "theirs"
    file.write_text(f"{FOREIGN}\n")
    fabric.switches.ofctl("replace-flows", BRIDGE, str(file))


def doing(*words: str) -> Callable[[Fabric], None]:
    def done(fabric: Fabric) -> None:
        fabric.switches.ofctl(words[0], BRIDGE, *words[1:])

    return done


HANDS: dict[str, Callable[[Fabric], None]] = {
    "add": doing("add-flow", "cookie=0xad10000000000999,table=0,priority=31000,udp,actions=drop"),
    "modify": doing("mod-flows", f"{OURS},table=0,actions=drop"),
    "modify transit": doing("mod-flows", f"{OURS},table=2,actions=output:1"),
    "delete": doing("del-flows", f"{OURS},table=0"),
    "delete all of ours": doing("del-flows", OURS),
    "delete groups": doing("del-groups"),
    "delete meters": doing("del-meters"),
    "replace": replaced,
}


@pytest.mark.parametrize("seed", SEEDS)
def test_after_any_tampering_the_switch_holds_what_it_should(fabric: Fabric, seed: int) -> None:
    chance = random.Random(seed)
    with fabric.controller.client() as link:
        eventually(lambda: right(link), "it was not right before")
        before = held(fabric)
        assert all(before), "there are rules, groups and meters to tamper with"
        for name in chance.choices(sorted(HANDS), k=4):
            HANDS[name](fabric)
        eventually(lambda: held(fabric) == before, f"not healed: {held(fabric)} {before}")
        eventually(lambda: right(link), "the controller does not know")
    assert fabric.controller.alive


LONG = ("replace", "delete all of ours")
"""What takes until the next comparison to be healed."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in HANDS]
)
def test_each_kind_of_tampering_is_healed(fabric: Fabric, name: str) -> None:
    with fabric.controller.client() as link:
        eventually(lambda: right(link), "it was not right before")
        before, noticed = held(fabric), fabric.controller.said("code=rules-changed")
        HANDS[name](fabric)
        eventually(lambda: held(fabric) == before, f"not healed after {name}")
        eventually(lambda: fabric.controller.said("code=rules-changed") > noticed, "it was not reported")
