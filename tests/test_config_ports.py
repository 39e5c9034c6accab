"""Networks that a configuration must refuse: ports that paths and DTNs share, and empty networks."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from adon import config, yamlfile
from apps.cli.main import app
from apps.configuration_reload import Reloading
from tests.support.refusals import refused

EXAMPLE = (Path(__file__).parent / "data" / "network.yaml").read_text("utf-8")
SECTIONS = EXAMPLE[EXAMPLE.index("network:") : EXAMPLE.index("measurements:")]
EMPTY = "network: nothing\nswitches: {}\nsites: {}\npaths: {}\n"
OVERLAY = """
paths: {}
links:
  core: {ends: {mu-edge: to-osu, osu-edge: to-mu}, capacity: 1 Gbps}
overlays:
  mesh: {vlans: 100-199}
"""


def changed(old: str, new: str) -> str:
    assert old in SECTIONS
    return SECTIONS.replace(old, new, 1)


REFUSED = [
    (changed("port: mu-edge-rtr", "port: mu-edge-al2s"), "shared-port", "paths.internet.ends.mu.port"),
    (changed("port: osu-edge-al2s", "port: osu-edge-rtr"), "shared-port", "paths.internet.ends.osu.port"),
    (changed("port: mu-edge-dtn", "port: mu-edge-al2s"), "shared-port", "sites.mu.hosts.mu-dtn.port"),
    (changed("port: osu-edge-dtn", "port: osu-edge-rtr"), "shared-port", "sites.osu.hosts.osu-dtn.port"),
    (EMPTY, "wrong-length", "switches"),
    (EMPTY, "wrong-length", "sites"),
    (SECTIONS[: SECTIONS.index("paths:")] + "paths: {}\n", "missing", "paths"),
]


@pytest.mark.parametrize(("text", "code", "field"), REFUSED)
def test_network_is_refused(text: str, code: str, field: str) -> None:
    with refused(code, field):
        yamlfile.parse_model(text, config.Configuration)


@pytest.mark.parametrize(("text", "code", "field"), REFUSED)
def test_check_start_and_reload_refuse_the_same(text: str, code: str, field: str, tmp_path: Path) -> None:
    file, data = tmp_path / "network.yaml", tmp_path / "data"
    data.mkdir()
    file.write_text(EXAMPLE, "utf-8")
    reloading = Reloading(file, data, config.load(file), lambda: 0.0)
    file.write_text(text, "utf-8")
    with refused(code, field):
        reloading.reload()
    found = CliRunner().invoke(app, ["config", "check", str(file)])
    assert (found.exit_code, f" {field}: " in found.stderr) == (2, True)
    started = CliRunner().invoke(app, ["serve", "--config", str(file), "--data", str(data)])
    assert (started.exit_code, f" {field}: " in started.stderr) == (2, True)


def test_paths_of_different_vlans_share_a_port() -> None:
    ends = "{mu: {port: mu-edge-al2s}, osu: {port: osu-edge-al2s}}"
    second = f"  spare: {{layer: 2, vlan: 1702, capacity: 1 Gbps, ends: {ends}}}\n"
    whole = yamlfile.parse_model(changed("paths:\n", f"paths:\n{second}"), config.Configuration)
    assert whole.paths["spare"].ends["mu"].port == whole.paths["al2s"].ends["mu"].port


def test_overlay_stands_for_paths() -> None:
    text = SECTIONS[: SECTIONS.index("paths:")] + OVERLAY
    assert yamlfile.parse_model(text, config.Configuration).paths == {}


def test_port_of_the_same_name_at_another_switch_is_another_port() -> None:
    text = SECTIONS.replace("mu-edge-rtr", "port").replace("osu-edge-al2s", "port")
    assert yamlfile.parse_model(text, config.Configuration)
