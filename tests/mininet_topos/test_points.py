from __future__ import annotations

from ipaddress import ip_address

from measurement.point import trust_file
from measurement.point.trust import Access, Caller, Presented, Right
from mininet_topos.points import introduce

ADDRESSES = {"mu-dtn": "172.31.0.11", "osu-dtn": "172.31.0.12"}
SOMEWHERE = ip_address("172.31.0.1")


def test_points_know_their_controller_and_each_other_and_nobody_else(tmp_path):
    points = introduce(tmp_path / "points", ADDRESSES)
    trust = trust_file.read(tmp_path / "points" / "mu-dtn" / "trust.toml")
    shown = {
        "controller": points.controller[0],
        "osu-dtn": points.certificates["osu-dtn"],
        "itself": points.certificates["mu-dtn"],
    }
    callers = {
        name: Caller(SOMEWHERE, trust.who(Presented(certificate=pem.read_text())))
        for name, pem in shown.items()
    }
    access = Access(trust)
    may = {
        name: {right for right in Right if access.refusal(caller, right) is None}
        for name, caller in callers.items()
    }
    assert may == {
        "controller": {Right.START, Right.READ},
        "osu-dtn": {Right.TAKE_PART},
        "itself": set(),
    }
    assert all(key.stat().st_mode & 0o077 == 0 for key in (tmp_path / "points").rglob("*.key"))
