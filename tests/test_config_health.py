"""Rounds of health among instances, as they are configured."""

from __future__ import annotations

import pytest

from adon.config import Configuration
from adon.yamlfile import dump, parse_model
from apps.config_files import files_of
from measurement.health.model import Pair
from measurement.model import PathKey
from tests.support.network_factories import MACHINES, NETWORK
from tests.support.refusals import refused


def read(text: str = MACHINES) -> Configuration:
    return parse_model(NETWORK.read_text() + text, Configuration)


def test_instances_of_two_sites_on_one_path_stand_for_its_directions() -> None:
    settings = read().health
    assert settings is not None
    assert (settings.every, settings.verified, settings.renew) == (300.0, 2, 3600.0)
    there, back = PathKey("al2s", "mu", "osu"), PathKey("al2s", "osu", "mu")
    assert settings.paths() == {
        Pair("mu-1", "osu-1"): there,
        Pair("mu-1", "osu-2"): there,
        Pair("osu-1", "mu-1"): back,
        Pair("osu-2", "mu-1"): back,
    }
    assert [one.zone for one in settings.members] == ["mu", "mu", "osu", "osu", ""]
    assert read("").health is None


def test_what_is_measured_then() -> None:
    tested = {one.key for one in read().measurements.tests if one.throughput_period}
    assert read().measurements.throughput == tested
    first, *others = read().measurements.tests
    quiet = (first.model_copy(update={"throughput_period": None}), *others)
    less = read().model_copy(update={"measurements": read().measurements.model_copy(update={"tests": quiet})})
    assert first.key not in less.measurements.throughput


def test_a_path_that_ends_elsewhere_is_none_of_an_instance_s() -> None:
    host = '{address: 10.3.0.10, mac: "02:00:00:00:0c:0a", port: hub-dtn}'
    third = f'  hub: {{edge: mu-edge, gateway_mac: "02:00:00:00:0c:01", hosts: {{hub-dtn: {host}}}}}\n'
    text = NETWORK.read_text().replace("\nsites:\n", f"\nsites:\n{third}")
    with refused("invalid", "health.instances.0.path"):
        parse_model(text + MACHINES.replace("site: mu, path: al2s", "site: hub, path: al2s"), Configuration)


def test_the_key_is_a_file_beside_ours_that_nobody_else_may_read() -> None:
    found = [one for one in files_of(read()) if one.place == ("health", "key_file")]
    assert [(one.text, one.secret, one.beside_ours) for one in found] == [("probes.key", True, True)]


def test_it_is_written_as_it_is_read() -> None:
    whole = read()
    assert parse_model(dump(whole), Configuration) == whole


@pytest.mark.parametrize(
    ("before", "after", "field", "code"),
    [
        ("site: mu, path: al2s", "site: mmu, path: al2s", "health.instances.0.site", "unknown-name"),
        ("site: mu, path: al2s", "site: mu, path: al3s", "health.instances.0.path", "unknown-name"),
        ("site: mu, path: al2s", "site: mu", "health.instances.0.path", "invalid"),
        ("key_file: probes.key", "", "health.key_file", "missing"),
        ("every: 5 min", "every: 300", "health.every", "no-unit"),
        ("every: 5 min", "every: 1 s", "health.every", "out-of-range"),
        ("verified: 2", "verified: -1", "health.verified", "out-of-range"),
        ("name: mu-2", "name: mu-1", "health.instances.1.name", "invalid"),
        ("between_zones: 1", "between_zones: 0", "health.between_zones", "out-of-range"),
        ("10.1.0.21", "mu.example.edu", "health.instances.0.address", "invalid"),
    ],
)
def test_what_is_wrong_is_named(before: str, after: str, field: str, code: str) -> None:
    assert before in MACHINES
    with refused(code, field):
        read(MACHINES.replace(before, after, 1))
