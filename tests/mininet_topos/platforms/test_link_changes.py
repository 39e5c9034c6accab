"""What is run where when a link of a running network changes, and what of it is kept."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from adon.errors import InvalidInput, Unavailable
from mininet_topos import networks
from mininet_topos.emulation import Emulation
from mininet_topos.networks import Network
from mininet_topos.platforms import state
from mininet_topos.platforms.link_changes import set_link
from mininet_topos.shaping import Change


@dataclass(frozen=True)
class Written:
    """A bed whose programs only write down where they are run, and what they are told."""

    folder: Path
    network: Network
    status: int = 0

    def inside(self, argv: Sequence[str], host: str | None = None) -> list[str]:
        """Each line of the program's input, behind the host and the program's name."""
        script = f'sed "s/^/{host} {argv[0]} /" >> "$0"; echo refused >&2; exit {self.status}'
        return ["sh", "-c", script, str(self.folder / "log")]

    def said(self) -> list[str]:
        """All so far."""
        log = self.folder / "log"
        return log.read_text().splitlines() if log.exists() else []


def bed(folder: Path, *, network: str = "mu_osu", netem: bool = True, status: int = 0) -> Written:
    state.write_built(folder, state.Built({}, Emulation("user", netem=netem)))
    return Written(folder, networks.named(network), status)


def test_a_second_change_leaves_the_rest_of_the_first(tmp_path: Path) -> None:
    here = bed(tmp_path)
    set_link(here, "line", Change(rate=30e6))
    before = len(here.said())
    set_link(here, "line", Change(delay=0.02))
    lines = here.said()[before:]
    assert {line.split()[0] for line in lines} == {"line"}
    assert sum("htb rate 30000000bit" in line for line in lines) == 2
    assert sum("delay 20000us" in line for line in lines) == 2
    assert all(" tc " in line and " change dev line-t" in line for line in lines)


def test_up_and_down_is_where_the_ends_are_and_brings_routes_back(tmp_path: Path) -> None:
    here = bed(tmp_path)
    set_link(here, "routed", Change(up=False))
    down = here.said()
    assert down == ["mu-rtr ip link set dev mu-rtr-wan down", "core ip link set dev core-mu down"]
    set_link(here, "routed", Change(up=True))
    assert "mu-rtr ip route replace 0.0.0.0/0 via 203.0.113.2" in here.said()[len(down) :]
    set_link(here, "mu-al2s", Change(up=False))
    assert here.said()[-2:] == [
        "None ip link set dev mu-edge-al2s down",
        "None ip link set dev t1-mu-edge down",
    ]


@pytest.mark.parametrize(
    ("link", "change", "netem", "words"),
    [
        ("lime", Change(up=False), True, "there is no link 'lime'; did you mean line"),
        ("line", Change(delay=0.1), False, "line: this kernel has no netem"),
        ("line", Change(loss=0.1), False, "line: this kernel has no netem"),
        ("line", Change(rate=0.0), True, "links.line.rate: 0 bps is not in 100 kbps to 1 Gbps"),
        ("line", Change(rate=50e6, loss=1.0, up=False), True, "links.line.loss: 1 is not in 0..1"),
        ("mu-al2s", Change(rate=1e6), True, "mu-al2s was built without a rate, and cannot get one"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_run(
    tmp_path: Path, link: str, change: Change, netem: bool, words: str
) -> None:
    here = bed(tmp_path, netem=netem)
    with pytest.raises(InvalidInput, match=words):
        set_link(here, link, change)
    assert here.said() == []


def test_without_netem_a_rate_can_change(tmp_path: Path) -> None:
    here = bed(tmp_path, netem=False)
    set_link(here, "line", Change(rate=30e6, delay=0.0, loss=0.0))
    assert not any("netem" in line for line in here.said())


def test_a_change_that_fails_is_not_kept(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="tc: refused"):
        set_link(bed(tmp_path, status=1), "line", Change(rate=30e6))
    here = bed(tmp_path)
    before = len(here.said())
    set_link(here, "line", Change(delay=0.02))
    assert not any("30000000bit" in line for line in here.said()[before:])


def test_changes_at_once_are_all_kept(tmp_path: Path) -> None:
    here = bed(tmp_path, network="five_sites")
    links = [link.name for link in here.network.links if link.shape is not None]
    threads = [threading.Thread(target=set_link, args=(here, name, Change(rate=1e6))) for name in links]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    before = len(here.said())
    for name in links:
        set_link(here, name, Change(delay=0.001))
    assert all("htb rate 1000000bit" in line for line in here.said()[before:] if "htb" in line)
    assert len(links) > 10
