from __future__ import annotations

import pytest

from mininet_topos.networks.description import QUEUE
from tests.mininet_topos.shaped import BURST, MTU, SENT_MEANWHILE

pytestmark = pytest.mark.testbed
INSIDE = "tests.mininet_topos.shaped"


def test_a_links_mtu_holds_at_both_ends_and_for_what_crosses_it(in_testbed):
    found = in_testbed(f"{INSIDE}:lengths")
    short = {"line-t1", "line-t2", "mu-rtr-wan", "core-mu", "t1-line", "t2-line"}
    assert {end for end, mtu in found["mtu"].items() if mtu == MTU} == short
    assert {mtu for end, mtu in found["mtu"].items() if end not in short} == {1500}
    assert (found["longest"], found["longer"]) == (True, False)


def test_a_running_link_changes(in_testbed):
    found = in_testbed(f"{INSIDE}:changes")
    assert QUEUE <= found["arrived"] <= QUEUE + SENT_MEANWHILE
    assert found["queue"]["limit"] == QUEUE
    assert 0 < found["queue"]["dropped"] <= BURST - QUEUE
    assert "rate 60Mbit ceil 60Mbit" in found["rate"]
    assert found["cable"] == [True, False, True]
    assert found["router"] == [True, False, True]
