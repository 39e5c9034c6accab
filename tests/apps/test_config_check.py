"""``adon config check``: what is worth a second look, with file, line, field and cause."""

from __future__ import annotations

import json
import re
import ssl
import typing
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from typer.testing import CliRunner, Result

from adon.config import Configuration, load
from apps import certificates
from apps.cli.main import app
from apps.collector.__main__ import main
from apps.collector.contacts import client
from apps.collector.identity import Identity
from apps.config_files import FILES
from measurement.point.certificate import ensure
from tests.apps.edge import NETWORK
from tests.measurement.standin import stand_in
from tests.support.refusals import refused

PLAIN = NETWORK.read_text()


def check(file: Path, *words: str, offline: bool = True) -> Result:
    options = ["--offline"] if offline else []
    return CliRunner().invoke(app, ["config", "check", str(file), *options, *words])


def line_of(part: str) -> int:
    return PLAIN[: PLAIN.index(part)].count("\n") + 1


# -- warnings ------------------------------------------------------------------------------------------------


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A configuration with a secret of each kind, all of them in order."""
    for name in ("openid", "proxy", "token"):
        (tmp_path / name).write_text("x")
        (tmp_path / name).chmod(0o600)
    (tmp_path / "network.yaml").write_text(
        PLAIN.replace("verify: system}", "verify: system, token_file: token}", 1)
        + "controller: {web_proxies: [127.0.0.1]}\n"
        + "access:\n"
        + "  public_url: https://adon.example.edu\n"
        + "  openid:\n    campus:\n      title: Campus\n      issuer: https://login.example.edu\n"
        + f"      client_id: adon\n      client_secret_file: {tmp_path}/openid\n"
        + f"  shibboleth: {{proxies: [127.0.0.1], secret_file: {tmp_path}/proxy}}\n"
        + "  default_roles: [researcher]\n"
    )
    return tmp_path / "network.yaml"


def warned(file: Path) -> list[dict[str, Any]]:
    found = check(file, "--json")
    assert found.exit_code == 0, found.output
    return list(json.loads(found.stdout)["warnings"])


def test_nothing_is_warned_of_where_all_is_in_order(site: Path) -> None:
    assert warned(site) == []
    assert check(site, "--strict").exit_code == 0


def test_a_secret_that_everybody_can_read(site: Path) -> None:
    (site.parent / "openid").chmod(0o644)
    (one,) = warned(site)
    assert one["field"] == "access.openid.campus.client_secret_file"
    assert one["line"] == site.read_text().split("client_secret_file")[0].count("\n") + 1
    assert one["code"] == "file-mode"
    plain = check(site)
    assert plain.exit_code == 0
    assert f"{site}:{one['line']}: access.openid.campus.client_secret_file: warning:" in plain.stderr
    assert check(site, "--strict").exit_code == 2


@pytest.mark.parametrize(
    ("old", "new", "field", "cause"),
    [
        ("token_file: token", "token_file: tokn", "measurements.points.mu.token_file", "there is no file"),
        ("{folder}/proxy", "{folder}", "access.shibboleth.secret_file", "is a folder"),
        ("{folder}/proxy", "proxy", "access.shibboleth.secret_file", "is relative to"),
        ("{web_proxies: [127.0.0.1]}", "{}", "access.public_url", "names no web server that ends TLS"),
        ("{web_proxies: [127.0.0.1]}", "{web_host: 0.0.0.0}", "controller.web_host", "unprotected"),
        ("compute:", "{lonely}compute:", "sites.lonely", "no path ends here"),
        ("verify: system, ", "verify: none, ", "measurements.points.mu.verify", "not verified"),
    ],
)  # fmt: skip
def test_what_is_worth_a_second_look(site: Path, old: str, new: str, field: str, cause: str) -> None:
    text, folder = site.read_text(), str(site.parent)
    if field == "sites.lonely":
        lonely = PLAIN[PLAIN.index("  osu:\n    edge") : PLAIN.index("\npaths:")]
        for this, other in (("osu:", "lonely:"), ("osu-dtn", "x"), ("10.2.", "10.3."), (":0b:", ":0c:")):
            lonely = lonely.replace(this, other)
        old, new = "\npaths:\n", f"{lonely}\npaths:\n"
        new = new.replace("port: x", "port: osu-edge-x")
    assert old.format(folder=folder) in text if "{folder}" in old else old in text
    site.write_text(text.replace(old.replace("{folder}", folder), new.replace("{folder}", folder), 1))
    told = [one for one in warned(site) if one["field"] == field]
    assert any(cause in one["cause"] for one in told), warned(site)
    assert all(isinstance(one["line"], int) for one in told)


UNMEASURED = PLAIN[: PLAIN.index("measurements:")] + PLAIN[PLAIN.index("compute:") :]
HALF_MEASURED = PLAIN[: PLAIN.index("    - path: internet")] + PLAIN[PLAIN.index("compute:") :]
ARCHIVE = "measurements:\n  archives: [{kind: opensearch, url: https://ps.example.edu/x, verify: none}]\n"


@pytest.mark.parametrize(
    ("text", "field", "code"),
    [
        (UNMEASURED, "measurements", "unmeasured"),
        (HALF_MEASURED, "paths.internet", "unmeasured"),
        (PLAIN.replace("verify: system", "verify: none", 1), "measurements.points.mu.verify", "unverified"),
        (PLAIN.replace("measurements:\n", ARCHIVE), "measurements.archives.0.verify", "unverified"),
    ],
)
def test_warning_of_measurements_counts_with_strict(text: str, field: str, code: str, tmp_path: Path) -> None:
    file = tmp_path / "network.yaml"
    file.write_text(text)
    assert [(one["field"], one["code"]) for one in warned(file)] == [(field, code)]
    assert check(file, "--strict").exit_code == 2


def test_path_that_only_health_rounds_measure_is_measured(tmp_path: Path) -> None:
    instances = [
        f"{{name: {site}-a, address: 10.9.0.{n}, site: {site}, path: internet}}"
        for n, site in enumerate(("mu", "osu"), 1)
    ]
    (tmp_path / "key").write_text("x" * 64)
    (tmp_path / "key").chmod(0o600)
    file = tmp_path / "network.yaml"
    file.write_text(f"{HALF_MEASURED}health: {{key_file: key, instances: [{', '.join(instances)}]}}\n")
    assert warned(file) == []


# -- the pSConfig template -----------------------------------------------------------------------------------


PAIR = ["10.1.0.11", "10.2.0.11"]


def template(*, test: str = "t", spec: str = "{% address[1] %}", addresses: Sequence[str] = PAIR) -> str:
    names = [f"a{number}" for number in range(len(addresses))]
    document = {
        "addresses": {name: {"address": address} for name, address in zip(names, addresses, strict=True)},
        "groups": {"g": {"type": "mesh", "addresses": [{"name": name} for name in names]}},
        "tests": {"t": {"type": "trace", "spec": {"source": "{% address[0] %}", "dest": spec}}},
        "schedules": {"s": {"repeat": "PT2M"}},
        "tasks": {name: {"group": "g", "test": test, "schedule": "s"} for name in ("one", "two")},
    }
    return json.dumps(document)


@pytest.mark.parametrize(
    ("text", "count", "code"),
    [
        (None, 1, "unreadable"),
        ("{", 1, "bad-template"),
        ("[]", 1, "bad-template"),
        ('{"groups": 7, "tasks": 7, "tests": 7, "addresses": 7}', 4, "bad-template"),
        (template().replace("{", '{"groups": {}, ', 1), 1, "bad-template"),
        (template(test="gone"), 2, "bad-template"),
        (template(spec="{% address[0]"), 1, "bad-template"),
    ],
    ids=["absent", "no-json", "no-object", "schema", "duplicate-key", "undefined-test", "unclosed-variable"],
)
def test_psconfig_template_that_the_collector_refuses_is_refused(
    text: str | None, count: int, code: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "network.yaml"
    file.write_text(PLAIN.replace("measurements:\n", "measurements:\n  psconfig: ps.json\n"))
    if text is not None:
        (tmp_path / "ps.json").write_text(text)
    found = check(file, "--json")
    assert found.exit_code == 2, found.output
    told = json.loads(found.stdout)["problems"]
    assert [(one["field"], one["code"]) for one in told] == [("measurements.psconfig", code)] * count
    assert {one["line"] for one in told} == {line_of("measurements:") + 1}
    assert main(["--config", str(file), "--data", str(tmp_path)]) == 2
    refused = capsys.readouterr().err.splitlines()
    assert [line.partition(": ")[2] for line in refused] == [one["cause"] for one in told]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (template(addresses=["10.1.0.11", "192.0.2.1"]), "[no-path, 2 times]"),
        (template(spec="{% nothing %}"), "[unknown-variable]"),
        (template(spec="{% jq .hosts %}"), "[jq]"),
        (template(test="gone").replace("{", '{"includes": ["https://ps.example.edu/x"], ', 1), "[include]"),
    ],
)
def test_psconfig_task_that_is_not_planned_is_a_warning(text: str, reason: str, tmp_path: Path) -> None:
    file = tmp_path / "network.yaml"
    file.write_text(PLAIN.replace("measurements:\n", "measurements:\n  psconfig: ps.json\n"))
    (tmp_path / "ps.json").write_text(text)
    told = warned(file)
    assert {(one["field"], one["code"]) for one in told} == {("measurements.psconfig", "not-planned")}
    assert [reason in one["cause"] for one in told] == [True, True]  # one for each task
    assert check(file, "--strict").exit_code == 2


def test_what_systemd_gives_at_the_start_is_not_missed(site: Path) -> None:
    given = "/run/credentials/adon.service/openid"
    site.write_text(site.read_text().replace(f"{site.parent}/openid", given))
    assert warned(site) == []


# -- no file is forgotten ------------------------------------------------------------------------------------


def models(annotation: Any, seen: set[Any]) -> Iterator[type[BaseModel]]:
    for one in (annotation, *typing.get_args(annotation)):
        if isinstance(one, type) and issubclass(one, BaseModel):
            if one not in seen:
                seen.add(one)
                yield one
                for field in one.model_fields.values():
                    yield from models(field.annotation, seen)
        elif one is not annotation:
            yield from models(one, seen)


def test_every_key_that_names_a_file_is_known() -> None:
    looks_like = {"certificate", "key", "ca", "trust", "verify"}
    not_files = {("Switch", "certificate")}  # the name in it
    found = {
        (model.__name__, name)
        for model in models(Configuration, set())
        for name in model.model_fields
        if name.endswith("_file") or name in looks_like
    }
    known = {(model.__name__, name) for model, names in FILES.items() for name in names}
    assert len(found) > 15
    assert found - known - not_files == set()


# -- certificates --------------------------------------------------------------------------------------------


def test_self_signed_certificate_of_another_name_is_found_by_the_check_and_pinned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pScheduler's default certificate names the host that it was installed on, not the one that it is on."""
    monkeypatch.setattr(certificates, "WITHIN_S", 60.0)
    files = ensure(tmp_path, ("some.other.host",))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*files)
    file = tmp_path / "network.yaml"
    with stand_in(context) as server:
        file.write_text(re.sub(r"https://10\.[12]\.0\.10/pscheduler", server.url, PLAIN))
        assert json.loads(check(file, "--json").stdout)["certificates"] == {}
        assert server.connections == 0
        shown = json.loads(check(file, "--json", offline=False).stdout)["certificates"]["mu"]
        assert shown in check(file, offline=False).stdout
        with refused("point-untrusted"):
            _api(file)
        file.write_text(file.read_text().replace("verify: system", f"verify: '{shown}'", 1))
        assert _api(file) == 6
        assert json.loads(check(file, "--json", offline=False).stdout)["warnings"] == []
        file.write_text(file.read_text().replace(shown, f"sha256:{64 * '0'}"))
        with refused("point-untrusted"):
            _api(file)
        (one,) = json.loads(check(file, "--json", offline=False).stdout)["warnings"]
        assert (one["field"], one["code"]) == ("measurements.points.mu.verify", "point-untrusted")


def test_unreachable_point_is_no_failure_of_the_check(tmp_path: Path) -> None:
    file = tmp_path / "network.yaml"
    file.write_text(re.sub(r"https://10\.[12]\.0\.10", "https://127.0.0.1:9", PLAIN))
    found = check(file, "--strict", "--json", offline=False)
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["certificates"] == {}


@pytest.mark.parametrize("fingerprint", ["", "00", 64 * "g", 65 * "0"])
def test_fingerprint_that_is_none_is_refused(tmp_path: Path, fingerprint: str) -> None:
    file = tmp_path / "network.yaml"
    file.write_text(PLAIN.replace("verify: system", f"verify: 'sha256:{fingerprint}'", 1))
    with refused("malformed", "measurements.points.mu.verify"):
        load(file)


def _api(file: Path) -> int:
    point = load(file).measurements.points["mu"]
    return client("mu", point, file.parent, lambda _: None, Identity("test", 1, b"secret")).api()
