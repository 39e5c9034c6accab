from __future__ import annotations

import datetime
import hashlib
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from measurement.point import certificate, trust_file
from measurement.point.access import Doorkeeper
from measurement.point.trust import Access, Caller, Known, Presented, Right, Trust, plain_address

TOKEN = "b0a6b9c5d2" * 4
DIGEST = hashlib.sha256(TOKEN.encode()).hexdigest()
CONTROLLER = Known("controller", frozenset({Right.START, Right.READ}), tokens=frozenset({DIGEST}))
NEIGHBOUR = Known("osu", frozenset({Right.TAKE_PART}), certificates=frozenset({"ab" * 32}))
TRUST = Trust((CONTROLLER, NEIGHBOUR))
HERE, THERE = ip_address("127.0.0.5"), ip_address("192.0.2.9")


@pytest.mark.parametrize(
    ("token", "known"),
    [(TOKEN, CONTROLLER), (TOKEN + "x", None), ("", None), (DIGEST, None), (None, None), ("\ud800", None)],
)
def test_a_token_is_known_by_its_digest_only(token, known):
    assert TRUST.who(Presented(token)) == known


@pytest.mark.parametrize(
    ("access", "caller", "right", "refused"),
    [
        (Access(), Caller(HERE), Right.START, None),
        (Access(), Caller(THERE), Right.START, "no trust file"),
        (Access(), Caller(THERE), Right.TAKE_PART, "no trust file"),
        (Access(), Caller(THERE), Right.READ, None),
        (Access(allow=(ip_network("192.0.2.0/24"),)), Caller(THERE), Right.START, "no trust file"),
        (Access(allow=(ip_network("192.0.2.0/24"),)), Caller(HERE), Right.START, "allow list"),
        (Access(allow=(ip_network("192.0.2.0/24"),), open=True), Caller(THERE), Right.START, None),
        (Access(TRUST), Caller(HERE), Right.START, "no token or certificate"),
        (Access(TRUST), Caller(THERE, CONTROLLER), Right.START, None),
        (Access(TRUST), Caller(THERE, CONTROLLER), Right.TAKE_PART, "controller has no right to take-part"),
        (Access(TRUST), Caller(THERE, CONTROLLER), Right.ARCHIVE, "no right to archive"),
        (Access(TRUST), Caller(THERE, NEIGHBOUR), Right.START, "osu has no right to start"),
        (Access(TRUST), Caller(THERE), Right.READ, None),
        (Access(Trust((CONTROLLER,), "known")), Caller(HERE), Right.READ, "no token or certificate"),
        (Access(Trust((CONTROLLER,), "known")), Caller(THERE, CONTROLLER), Right.READ, None),
        (Access(Trust((NEIGHBOUR,), "known")), Caller(THERE, NEIGHBOUR), Right.READ, "no right to read"),
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
    assert "no throughput tests" in str(known.limit("throughput", ["192.0.2.1"]))


def test_ipv4_through_an_ipv6_socket_is_ipv4():
    assert plain_address("::ffff:127.0.0.1") == ip_address("127.0.0.1")
    assert Access().refusal(Caller(plain_address("::ffff:127.0.0.1")), Right.START) is None
    assert plain_address("::1") == ip_address("::1")


def signed(folder: Path, name: str, authority: tuple[x509.Certificate, ec.EllipticCurvePrivateKey] | None):
    """A certificate for a name, signed by an authority, or an authority itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    begin = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject if authority is None else authority[0].subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(begin + datetime.timedelta(days=10))
        .add_extension(x509.BasicConstraints(ca=authority is None, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key if authority is None else authority[1], hashes.SHA256())
    )
    pem = made.public_bytes(serialization.Encoding.PEM)
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / f"{name}.pem").write_bytes(pem)
    (folder / f"{name}.key").write_bytes(secret)
    return made, key


def test_a_certificate_of_an_authority_is_believed_for_the_one_name(tmp_path):
    authority, other = signed(tmp_path, "ca", None), signed(tmp_path, "other-ca", None)
    for name, by in (("ps.example.org", authority), ("else.example.org", authority), ("fake", other)):
        signed(tmp_path, name, by)
    file = tmp_path / "trust.toml"
    file.write_text('[[known]]\nname="site"\nauthority="ca.pem"\nsubject="PS.example.org"\nmay=["start"]\n')
    trust = trust_file.read(file)

    def who(name: str) -> Known | None:
        return trust.who(Presented(certificate=(tmp_path / f"{name}.pem").read_text()))

    assert who("ps.example.org") == trust.known[0]
    assert (who("else.example.org"), who("fake"), who("ca")) == (None, None, None)


def test_the_same_name_from_another_authority_is_nobody(tmp_path):
    signed(tmp_path, "ca", None)
    signed(tmp_path, "ps.example.org", signed(tmp_path, "other", None))
    assert not certificate.is_issued_by(
        (tmp_path / "ps.example.org.pem").read_text(), (tmp_path / "ca.pem").read_text(), "ps.example.org"
    )


def test_a_file_says_whom_it_knows(tmp_path):
    certificate.ensure(tmp_path, ["a"])
    pem = (tmp_path / "point.pem").read_text()
    (tmp_path / "both.pem").write_text("a comment\n" + pem)
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
        certificates = "both.pem"
        may = ["take-part"]
        """
    )
    trust = trust_file.read(tmp_path / "trust.toml")
    assert trust.reading == "known"
    controller, point = trust.known
    assert trust.who(Presented(TOKEN)) == controller
    assert controller.towards == (ip_network("198.51.100.0/24"), "dtn.example.org")
    assert trust.who(Presented(certificate=pem)) == point
    assert certificate.pems(trust.anchors) == certificate.pems(pem)


ENTRY = f'[[known]]\nname="c"\nmay=["start"]\ntoken_sha256="{DIGEST}"\n'


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("[[known]", "line 1"),
        ("reading = 'some'", "reading"),
        ("surprise = 1", "surprise"),
        ('[[known]]\nname="c"\nmay=["start"]', "needs token_sha256, certificates or authority"),
        (ENTRY.replace('"start"', ""), "known.0.may"),
        (ENTRY.replace("start", "fly"), "known.0.may"),
        (ENTRY + 'token="secret"', "known.0.token"),
        (ENTRY.replace(DIGEST, TOKEN), "known.0.token_sha256"),
        (ENTRY + 'tests=["sing"]', "known.0.tests"),
        (ENTRY + 'towards=["10.0.0.1/8"]', "known.0.towards"),
        (ENTRY + 'certificates="missing.pem"', "missing.pem"),
        (ENTRY + 'certificates="empty.pem"', "empty.pem holds no certificate"),
        (ENTRY + 'authority="ca.pem"', "authority and subject"),
        (ENTRY + ENTRY, "is there twice"),
        (ENTRY + ENTRY.replace('"c"', '"d"'), "shows what c shows"),
    ],
)
def test_a_file_with_a_mistake_is_refused_as_a_whole(tmp_path, text, cause):
    (tmp_path / "empty.pem").write_text("nothing\n")
    file = tmp_path / "trust.toml"
    file.write_text(text)
    with pytest.raises(ValueError, match=cause) as caught:
        trust_file.read(file)
    assert str(file) in str(caught.value)
    assert TOKEN not in str(caught.value)


def test_no_file_where_one_was_named_is_no_permission(tmp_path):
    with pytest.raises(ValueError, match="No such file"):
        Doorkeeper(tmp_path / "trust.toml", None, opened=False)


def test_an_open_point_has_no_trust_file(tmp_path):
    (tmp_path / "trust.toml").write_text(ENTRY)
    with pytest.raises(ValueError, match="--open"):
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
