from __future__ import annotations

from ipaddress import ip_address

from measurement.point import trust_file
from measurement.point.trust import Access, Caller, Right
from mininet_topos.points import introduce

ADDRESSES = {"mu-dtn": "172.31.0.11", "osu-dtn": "172.31.0.12"}
SOMEWHERE = ip_address("172.31.0.1")


def test_points_know_their_controller_and_each_other_and_nobody_else(tmp_path):
    points = introduce(tmp_path / "points", ADDRESSES)
    trust = trust_file.read(tmp_path / "points" / "mu-dtn" / "trust.toml")
    shown = {
        "controller": points.controller,
        "osu-dtn": tmp_path / "points" / "osu-dtn" / "mu-dtn.token",
        "itself": tmp_path / "points" / "mu-dtn" / "osu-dtn.token",
    }
    callers = {name: Caller(SOMEWHERE, trust.who(file.read_text().strip())) for name, file in shown.items()}
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
    other = trust_file.read(tmp_path / "points" / "osu-dtn" / "trust.toml")
    known = other.who(trust.token_for("172.31.0.12:4443"))
    assert known is not None
    assert known.name == "mu-dtn"
    secret = [file for file in (tmp_path / "points").rglob("*") if file.suffix in (".key", ".token")]
    assert len(secret) == 5
    assert all(file.stat().st_mode & 0o077 == 0 for file in secret)
