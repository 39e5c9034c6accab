from __future__ import annotations

import hashlib
from ipaddress import ip_address, ip_network

import pytest

from measurement.point import trust_file
from measurement.point.access import Doorkeeper
from measurement.point.peers import Peer, PeerSettings
from measurement.point.trust import Access, Caller, Known, Right, Trust, plain_address
from tests.support.refusals import refused

TOKEN = "b0a6b9c5d2" * 4
OWN = "own-token-0123456789"
DIGEST = hashlib.sha256(TOKEN.encode()).hexdigest()
CONTROLLER = Known("controller", frozenset({Right.START, Right.READ}), tokens=frozenset({DIGEST}))
NEIGHBOUR = Known("osu", frozenset({Right.TAKE_PART}), tokens=frozenset({"ab" * 32}))
TRUST = Trust((CONTROLLER, NEIGHBOUR))
HERE, THERE = ip_address("127.0.0.5"), ip_address("192.0.2.9")


@pytest.mark.parametrize(
    ("token", "known"),
    [(TOKEN, CONTROLLER), (TOKEN + "x", None), ("", None), (DIGEST, None), (None, None), ("\ud800", None)],
)
def test_a_token_is_known_by_its_digest_only(token, known):
    assert TRUST.who(token) == known


def test_a_token_is_not_shown_to_a_peer_in_the_clear():
    with refused("point-refused", "credentials"):
        Peer("192.0.2.2:4443", PeerSettings("http", True, lambda _: OWN))


@pytest.mark.parametrize(
    ("access", "caller", "right", "refused"),
    [
        (Access(), Caller(HERE), Right.START, None),
        (Access(), Caller(THERE), Right.START, "trust file"),
        (Access(), Caller(THERE), Right.TAKE_PART, "trust file"),
        (Access(), Caller(THERE), Right.READ, None),
        (Access(allow=(ip_network("192.0.2.0/24"),)), Caller(THERE), Right.START, "trust file"),
        (Access(allow=(ip_network("192.0.2.0/24"),)), Caller(HERE), Right.START, "allow list"),
        (Access(allow=(ip_network("192.0.2.0/24"),), open=True), Caller(THERE), Right.START, None),
        (Access(TRUST), Caller(HERE), Right.START, "token"),
        (Access(TRUST), Caller(THERE, CONTROLLER), Right.START, None),
        (Access(TRUST), Caller(THERE, CONTROLLER), Right.TAKE_PART, "take-part"),
        (Access(TRUST), Caller(THERE, CONTROLLER), Right.ARCHIVE, "archive"),
        (Access(TRUST), Caller(THERE, NEIGHBOUR), Right.START, "osu"),
        (Access(TRUST), Caller(THERE), Right.READ, None),
        (Access(Trust((CONTROLLER,), "known")), Caller(HERE), Right.READ, "token"),
        (Access(Trust((CONTROLLER,), "known")), Caller(THERE, CONTROLLER), Right.READ, None),
        (Access(Trust((NEIGHBOUR,), "known")), Caller(THERE, NEIGHBOUR), Right.READ, "read"),
        (Access(TRUST, (ip_network("10.0.0.0/8"),)), Caller(THERE, CONTROLLER), Right.START, "allow list"),
    ],
)
def test_who_may_do_what(access, caller, right, refused):
    cause = access.refusal(caller, right)
    assert cause is None if refused is None else refused in cause


@pytest.mark.parametrize(
    ("hosts", "refused"),
    [
        (["10.2.0.9"], None),
        (["10.2.0.9", "10.3.0.1"], "towards 10.3.0.1"),
        (["DTN.example.org."], None),
        (["dtn.example.org.evil.net"], "towards"),
        (["::ffff:10.2.0.9"], None),
        (["2001:db8::1"], "towards"),
    ],
)
def test_rights_end_where_the_destinations_do(hosts, refused):
    known = Known("c", frozenset(Right), towards=(ip_network("10.2.0.0/16"), "dtn.example.org"))
    cause = known.limit("rtt", hosts)
    assert cause is None if refused is None else refused in cause


def test_rights_are_for_the_tests_named():
    known = Known("c", frozenset(Right), tests=frozenset({"rtt"}))
    assert known.limit("rtt", ["192.0.2.1"]) is None
    assert "throughput" in str(known.limit("throughput", ["192.0.2.1"]))


def test_ipv4_through_an_ipv6_socket_is_ipv4():
    assert plain_address("::ffff:127.0.0.1") == ip_address("127.0.0.1")
    assert Access().refusal(Caller(plain_address("::ffff:127.0.0.1")), Right.START) is None
    assert plain_address("::1") == ip_address("::1")


def test_a_file_says_whom_it_knows(tmp_path):
    (tmp_path / "b.token").write_text(f"{OWN}\n")
    (tmp_path / "trust.toml").write_text(
        f"""
        reading = "known"
        [[known]]
        name = "controller"
        token_sha256 = "{DIGEST.upper()}"
        may = ["start", "read", "archive"]
        tests = ["rtt", "latencybg"]
        towards = ["198.51.100.0/24", "dtn.example.org"]
        [[known]]
        name = "point-b"
        token_sha256 = "{"ab" * 32}"
        node = ["ps-b.example.org:4443", "192.0.2.2:4443"]
        token_file = "b.token"
        may = ["take-part"]
        """
    )
    trust = trust_file.read(tmp_path / "trust.toml")
    assert trust.reading == "known"
    controller = trust.known[0]
    assert trust.who(TOKEN) == controller
    assert controller.towards == (ip_network("198.51.100.0/24"), "dtn.example.org")
    assert trust.token_for("PS-B.example.org:4443") == trust.token_for("192.0.2.2:4443") == OWN
    assert OWN not in repr(trust)


@pytest.mark.parametrize("node", ["ps-b.example.org", "ps-b.example.org:443", "evil.example.org:4443"])
def test_a_token_is_shown_to_the_node_that_it_is_for_and_to_nobody_else(node):
    known = Known("b", frozenset(), nodes=frozenset({"ps-b.example.org:4443"}), own_token=OWN)
    assert Trust((CONTROLLER, known)).token_for(node) is None


ENTRY = f'[[known]]\nname="c"\nmay=["start"]\ntoken_sha256="{DIGEST}"\n'


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("[[known]", ""),
        ("reading = 'some'", "reading"),
        ("surprise = 1", "surprise"),
        ('[[known]]\nname="c"\nmay=["start"]', "known.c.token_sha256"),
        (ENTRY.replace('"start"', ""), "known.0.may"),
        (ENTRY.replace("start", "fly"), "known.0.may.0"),
        (ENTRY + 'token="secret"', "known.0.token"),
        (ENTRY.replace(DIGEST, TOKEN), "known.0.token_sha256.0"),
        (ENTRY + 'tests=["sing"]', "known.0.tests.0"),
        (ENTRY + 'towards=["10.0.0.1/8"]', "known.0.towards.0"),
        (ENTRY + 'certificates="a.pem"', "known.0.certificates"),
        (ENTRY + 'token_file="b.token"', "known.c.node"),
        (ENTRY + 'node="b"\ntoken_file="missing.token"', "known.c.token_file"),
        (ENTRY + 'node="b"\ntoken_file="empty.token"', "known.c.token_file"),
        (ENTRY + 'node="b"\ntoken_file="spoilt.token"', "credentials"),
        (ENTRY + ENTRY, "known.c.name"),
        (ENTRY + ENTRY.replace('"c"', '"d"'), "known.d"),
    ],
)
def test_a_file_with_a_mistake_is_refused_as_a_whole(tmp_path, text, field):
    (tmp_path / "empty.token").write_text("\n")
    (tmp_path / "spoilt.token").write_text("a token?\n")
    file = tmp_path / "trust.toml"
    file.write_text(text)
    with refused(ValueError, field) as caught:
        trust_file.read(file)
    assert str(file) in str(caught.error)
    assert TOKEN not in str(caught.error)


def test_no_file_where_one_was_named_is_no_permission(tmp_path):
    with refused(ValueError):
        Doorkeeper(tmp_path / "trust.toml", None, opened=False)


def test_an_open_point_has_no_trust_file(tmp_path):
    (tmp_path / "trust.toml").write_text(ENTRY)
    with refused(ValueError):
        Doorkeeper(tmp_path / "trust.toml", None, opened=True)


def test_an_open_point_is_loud_and_open_to_private_networks_only(caplog):
    access = Doorkeeper(None, None, opened=True).access()
    assert "event=open" in caplog.text
    assert access.refusal(Caller(ip_address("172.31.0.1")), Right.START) is None
    assert access.refusal(Caller(THERE), Right.START) is not None


def test_a_reloaded_file_counts_and_a_wrong_one_changes_nothing(tmp_path, caplog):
    file = tmp_path / "trust.toml"
    file.write_text(ENTRY)
    doorkeeper = Doorkeeper(file, None, opened=False)
    file.write_text(ENTRY.replace("start", "read"))
    assert doorkeeper.reload()
    changed = doorkeeper.access()
    assert changed.trust is not None
    assert changed.trust.known[0].rights == {Right.READ}
    file.write_text("nonsense")
    assert not doorkeeper.reload()
    assert doorkeeper.access() is changed
    assert "event=trust_not_changed" in caplog.text
