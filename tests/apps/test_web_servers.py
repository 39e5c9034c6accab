"""nginx and Apache in front of ADON, configured by ``adon deploy`` and started for real on loopback."""

from __future__ import annotations

import datetime
import ipaddress
import json
import os
import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from typer.testing import CliRunner

from adon.config import load
from apps.cli.main import app
from apps.deploy.web_servers import Place, web_server_configuration
from apps.rest.web_server import WebServer
from measurement.model import to_json
from tests.apps.edge import NETWORK, eventually
from tests.apps.identity.apache import MODULES, NEEDED, load_modules
from tests.apps.identity.processes import listens, running
from tests.ports import free_port
from tests.support.fake_collector import alarms
from tests.support.refusals import refused
from tests.support.web_world import World, empty_database

SECRET = "what only the web server knows"  # noqa: S105
SHIBBOLETH = {"proxies": ["127.0.0.1"], "secret_file": "/etc/adon/proxy.secret"}
FORGED = {
    "X-Forwarded-For": "203.0.113.9",
    "X-Forwarded-Proto": "http",
    "X-Real-IP": "203.0.113.9",
    "Forwarded": "for=203.0.113.9",
    "Adon-Proxy-Secret": SECRET,
    "Shib-Identity-Provider": "https://idp",
    "eppn": "ann@example.edu",
    "Remote-User": "admin",
}


def configured(folder: Path, port: int, public_url: str, **access: Any) -> Path:
    document = yaml.safe_load(NETWORK.read_text())
    document["controller"] = {"web_port": port, "web_proxies": ["127.0.0.1"]}
    document["access"] = {"public_url": public_url, **access}
    file = folder / "network.yaml"
    file.write_text(yaml.safe_dump(document, sort_keys=False))
    return file


def certificate(folder: Path) -> Path:
    """A certificate of localhost, and its key beside it as ``key.pem``."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "key.pem").write_bytes(key.private_bytes(*form))
    return folder / "cert.pem"


@dataclass(frozen=True)
class Front:
    """ADON behind a web server."""

    world: World
    base: str
    ca: Path

    def browser(self) -> requests.Session:
        made = requests.Session()
        made.trust_env, made.verify = False, str(self.ca)
        return made


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Readable for the users that the web servers run as."""
    made = Path(tempfile.mkdtemp(prefix="adon-web-servers-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def behind(folder: Path) -> Iterator[tuple[World, int]]:
    """ADON's web side as ``adon serve`` runs it, believing a proxy on loopback; its port."""
    (folder / "empty").mkdir()
    world = World(folder, empty_database(folder / "empty"))
    listener = socket.create_server(("127.0.0.1", 0))
    server = WebServer(world.app, world.stream, proxies=["127.0.0.1/32"])
    thread = threading.Thread(target=server.serve_on, args=(listener,))
    thread.start()
    yield world, listener.getsockname()[1]
    server.stop()
    thread.join(60)
    world.close()


@pytest.fixture(scope="module", params=["nginx", "apache"])
def front(request: pytest.FixtureRequest, folder: Path, behind: tuple[World, int]) -> Iterator[Front]:
    world, port = behind
    here = folder / request.param
    here.mkdir(mode=0o755)
    ca, public = certificate(here), free_port()
    config = configured(here, port, f"https://localhost:{public}")
    words = ["deploy", request.param, "--config", str(config), "--listen", "127.0.0.1"]
    printed = CliRunner().invoke(app, [*words, "--certificate", str(ca), "--key", str(here / "key.pem")])
    assert (printed.exit_code, printed.stderr) == (0, "")
    command = {"nginx": nginx, "apache": apache}[request.param](here, printed.stdout, public)
    with running(command, here / "out", listens(public)):
        yield Front(world, f"https://localhost:{public}", ca)


def nginx(folder: Path, printed: str, _: int) -> list[str]:
    assert shutil.which("nginx"), "nginx is not there: run scripts/setup.sh test"
    places = "\n".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user www-data;" if os.geteuid() == 0 else ""
    around = f"daemon off; {user} pid {folder}/pid; error_log {folder}/error.log; events {{}}\n"
    (folder / "nginx.conf").write_text(f"{around}http {{ access_log off;\n{places}\n{printed}}}\n")
    return ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")]


def apache(folder: Path, printed: str, port: int) -> list[str]:
    assert (MODULES / "mod_ssl.so").exists(), "Apache is not there: run scripts/setup.sh test"
    user = "User www-data\nGroup www-data\n" if os.geteuid() == 0 else ""
    modules = load_modules([*(name for name in NEEDED if name != "shib"), "ssl", "socache_shmcb"])
    (folder / "apache.conf").write_text(
        f'ServerRoot "{folder}"\nServerName localhost\nListen 127.0.0.1:{port}\nPidFile "{folder}/pid"\n'
        f'ErrorLog "{folder}/error.log"\n{modules}\n{user}{printed}'
    )
    return ["/usr/sbin/apache2", "-D", "FOREGROUND", "-f", str(folder / "apache.conf")]


@pytest.mark.slow
@pytest.mark.integration
def test_somebody_signs_in_and_the_cookie_goes_over_tls_only(front: Front) -> None:
    with front.browser() as browser:
        token = front.world.tokens["researcher"]
        where = f"{front.base}/sign-in"
        answer = browser.post(where, data={"token": token}, allow_redirects=False, timeout=60)
        assert answer.is_redirect, answer.text
        assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"
        (cookie,) = [one for one in browser.cookies if "session" in one.name]
        assert cookie.secure


@pytest.mark.slow
@pytest.mark.integration
def test_what_a_browser_says_of_proxies_and_of_who_it_is_goes_no_further(front: Front) -> None:
    with front.browser() as browser:
        answer = browser.get(f"{front.base}/api/v1/flows", headers=FORGED, timeout=60)
        assert answer.status_code == 401
        browser.get(
            f"{front.base}/api/v1/flows", headers={**FORGED, "Authorization": "Bearer adon_none"}, timeout=60
        )
    front.world.audit.flush()
    lines = [line.entry for line in front.world.access.audit.all()]
    assert lines, "the refusals are in the audit log"
    assert {entry.address for entry in lines} == {"127.0.0.1"}
    assert [entry for entry in lines if entry.action == "identity.spoof"] == []


@pytest.mark.slow
@pytest.mark.integration
def test_an_event_stream_is_passed_on_while_it_goes_on(front: Front) -> None:
    headers = {"Authorization": f"Bearer {front.world.tokens['operator']}"}
    put = front.world.stream.adder("alarm")
    with front.browser() as browser:
        url = f"{front.base}/api/v1/events?kinds=alarm"
        # The stream goes on for five minutes: a word that were kept back would come too late for us.
        with browser.get(url, headers=headers, stream=True, timeout=60) as listening:
            words = listening.iter_lines(chunk_size=1)
            assert next(words) == b": listening"
            for _ in range(2):
                put(to_json(alarms()[0]))
                (said,) = [next(line for line in words if line.startswith(b"data:"))]
                assert json.loads(said.removeprefix(b"data:"))
    # A web server learns that the browser is gone when it writes; then it lets ADON know.
    eventually(lambda: put(to_json(alarms()[0])) or front.world.stream.listening == 0)


@pytest.mark.slow
@pytest.mark.integration
def test_a_body_that_is_too_large_is_refused(front: Front) -> None:
    with front.browser() as browser:
        answer = browser.post(f"{front.base}/sign-in", data=b"x" * 2_000_000, timeout=60)
        # ADON closes on whoever goes on sending; Apache, if it still does, tells that as 502.
        assert answer.status_code in (413, 502)
        assert browser.get(f"{front.base}/api/v1/healthz", timeout=60).status_code == 200


# -- what is written -----------------------------------------------------------------------------------------

PLACE = Place(Path("/etc/ssl/adon.pem"), Path("/etc/ssl/adon.key"))


@pytest.mark.parametrize("kind", ["nginx", "apache"])
def test_plain_http_is_sent_to_https(kind: Any, tmp_path: Path) -> None:
    text = web_server_configuration(kind, load(configured(tmp_path, 8080, "https://adon.example.edu")), PLACE)
    assert {"nginx": "listen 80;", "apache": "<VirtualHost *:80>"}[kind] in text
    assert "https://adon.example.edu" in text


@pytest.mark.parametrize(
    ("kind", "public_url", "access", "code", "field"),
    [
        ("nginx", "http://localhost:80", {}, "unprotected", "access.public_url"),
        ("nginx", "https://a.example.edu/adon", {}, "invalid", "access.public_url"),
        ("apache", "https://a.example.edu;evil", {}, "malformed", "access.public_url"),
        (
            "nginx",
            "https://a.example.edu",
            {"shibboleth": SHIBBOLETH, "default_roles": ["researcher"]},
            "invalid",
            "access.shibboleth",
        ),
    ],
)
def test_what_cannot_be_written(
    kind: str, public_url: str, access: dict[str, Any], code: str, field: str, tmp_path: Path
) -> None:
    config = configured(tmp_path, 8080, public_url, **access)
    with refused(code, field):
        web_server_configuration(kind, load(config), PLACE)  # type: ignore[arg-type]
    with refused("malformed", "certificate"):
        web_server_configuration(
            "nginx", load(configured(tmp_path, 8080, "https://a.edu")), Place(Path('x"; evil'), Path("k"))
        )


def test_somebody_who_forgot_web_proxies_is_told(tmp_path: Path) -> None:
    config = configured(tmp_path, 8080, "https://adon.example.edu")
    config.write_text(config.read_text().replace("  - 127.0.0.1\n", "  - 192.0.2.7\n"))
    words = ["deploy", "apache", "--config", str(config), "--certificate", "c", "--key", "k"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0
    assert "controller.web_proxies:" in done.stderr
