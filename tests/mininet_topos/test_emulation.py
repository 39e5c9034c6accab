from __future__ import annotations

import pytest

from mininet_topos import emulation
from mininet_topos.emulation import Emulation
from mininet_topos.networks import named


def test_what_is_emulated_is_said():
    assert "no delay" in str(Emulation("user", netem=False))
    assert "kernel datapath" in str(Emulation("kernel", netem=True))


@pytest.mark.parametrize(
    ("module", "asked", "datapath"),
    [(True, None, "kernel"), (False, None, "user"), (True, False, "user"), (False, True, "kernel")],
)
def test_the_kernels_datapath_is_taken_where_it_is_there(monkeypatch, tmp_path, module, asked, datapath):
    monkeypatch.setattr(emulation, "_has_netem", lambda: False)
    if module:
        (tmp_path / "openvswitch").mkdir()
    found = emulation.detect(tmp_path / "openvswitch", kernel_datapath=asked)
    assert found == Emulation(datapath, netem=False)


def test_what_is_missing_is_said_link_by_link():
    topology = named("mu_osu").topology
    assert Emulation("user", netem=True).missing(topology) == ()
    missing = Emulation("user", netem=False).missing(topology)
    assert "line-t1 has no delay of 5 ms" in missing
    assert len(missing) == 4
