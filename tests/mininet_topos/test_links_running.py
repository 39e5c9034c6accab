from __future__ import annotations

import pytest

from tests.mininet_topos.shaped import BURST, QUEUE, SENT_MEANWHILE

pytestmark = pytest.mark.testbed
INSIDE = "tests.mininet_topos.shaped"


def test_a_running_link_changes(in_testbed):
    found = in_testbed(f"{INSIDE}:changes")
    assert QUEUE <= found["arrived"] <= QUEUE + SENT_MEANWHILE
    assert found["queue"]["limit"] == QUEUE
    assert 0 < found["queue"]["dropped"] <= BURST - QUEUE
    assert "rate 60Mbit ceil 60Mbit" in found["rate"]
    assert found["cable"] == [True, False, True]
    assert found["router"] == [True, False, True]
