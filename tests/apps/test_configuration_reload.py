"""What a new configuration does to the processes: nothing, a restart of those that read it, or a refusal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from adon.config import Configuration, fingerprint, load
from adon.config.access import Access
from adon.config.controller import Controller
from adon.config.measurements import Measurements
from adon.config.policy import Policy
from adon.errors import InvalidInput
from apps.configuration_reload import CONTROLLER, FIXED, READERS, Reload, Reloading, concerned_processes
from tests.support.refusals import refused

ROOT = Path(__file__).parents[2]
NETWORK = ROOT / "tests" / "data" / "network.yaml"
INSIDE = {"measurements": Measurements, "policy": Policy, "controller": Controller, "access": Access}


class Service:
    def __init__(self, folder: Path) -> None:
        self.now = 1000.0
        self.file = folder / "network.yaml"
        self.file.write_text(NETWORK.read_text())
        self.reloading = Reloading(self.file, folder, load(self.file), lambda: self.now)

    def edit(self, old: str, new: str) -> None:
        text = self.file.read_text()
        assert old in text
        self.file.write_text(text.replace(old, new))

    def reloads(self) -> dict[str, int]:
        counted: dict[str, int] = self.reloading.standing()["reloads"]
        return {result: count for result, count in counted.items() if count}


@pytest.fixture
def service(tmp_path: Path) -> Service:
    return Service(tmp_path)


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ((), set()),
        (("policy.drain",), {"controller", "web"}),
        (("policy.measurement_access",), {"collector", "web"}),
        (("policy.thresholds",), {"web"}),
        (("measurements.retention",), {"collector"}),
        (("measurements.tests",), {"controller", "collector", "web"}),
        (("slices.genomics",), {"controller", "web"}),
        (("paths",), {"controller", "collector", "web"}),
        (("sites.mu",), {"controller", "web"}),
        (("compute.osu-hpc",), {"controller", "collector"}),
        (("measurements.archive_url",), {"collector", "web"}),
    ],
)
def test_only_who_reads_what_changed_is_concerned(changes: tuple[str, ...], parts: set[str]) -> None:
    assert concerned_processes(changes) == parts


def test_every_section_has_its_readers() -> None:
    assert {name for name in READERS if "." not in name} == set(Configuration.model_fields)
    for name in (*READERS, *FIXED):
        section, _, key = name.partition(".")
        assert not key or key in INSIDE[section].model_fields, name


def read_by(package: str) -> set[str]:
    """What of the configuration the modules of a package read, by name."""
    found: set[str] = set()
    for module in (ROOT / package).glob("**/*.py"):
        text = module.read_text()
        aliases = re.findall(r"(\w+)(?:, \w+)? = (?:self\._)?configuration\.(\w+)(?:, [\w.]+)?\n", text)
        for alias, section in aliases:
            text = re.sub(rf"\b{alias}\.(?=\w)", f"configuration.{section}.", text)
        found |= {
            ".".join(filter(None, names)) for names in re.findall(r"configuration\.(\w+)(?:\.(\w+))?", text)
        }
    return found


@pytest.mark.parametrize(("package", "part"), [("apps/collector", "collector"), ("apps/rest", "web")])
def test_a_part_that_reads_a_section_is_among_its_readers(package: str, part: str) -> None:
    for name in read_by(package):
        section, _, key = name.partition(".")
        if section in INSIDE and not key:
            continue  # it is handed on as a whole, and read where it has another name
        if section in Configuration.model_fields and name not in FIXED:
            assert part in concerned_processes([name]), f"{package} reads {name}"


def test_what_only_looks_different_touches_nothing(service: Service) -> None:
    before = service.reloading.accepted.read_bytes()
    service.edit("network: mu-osu", "# edited\nnetwork: mu-osu")
    service.edit("60.6 Mbps", "60600 kbps")
    service.now = 2000.0
    assert service.reloading.reload() == Reload("unchanged")
    assert service.reloading.standing() == {
        "hash": fingerprint(load(NETWORK)),
        "reloads": {"applied": 0, "unchanged": 1, "refused": 0, "taken_back": 0},
        "succeeded_at": 2000.0,
    }
    assert service.reloading.accepted.read_bytes() == before


def test_what_differs_is_kept_for_the_processes_that_read_it(service: Service) -> None:
    service.edit("60.6 Mbps", "50 Mbps")
    assert service.reloading.reload() == Reload(
        "applied", ("paths.al2s",), concerned_processes(("paths.al2s",))
    )
    assert load(service.reloading.accepted) == load(service.file)
    assert service.reloading.accepted.stat().st_mode & 0o777 == 0o600
    assert service.reloading.reload().result == "unchanged"
    assert service.reloads() == {"applied": 1, "unchanged": 1}


@pytest.mark.parametrize(
    ("old", "new", "code", "field"),
    [
        ("layer: 2", "layer: 7", "unknown-value", "paths.al2s.layer"),
        ("network: mu-osu", "network: [", "not-yaml", ""),
        ("edge: mu-edge", "edge: nowhere", "unknown-name", "sites.mu.edge"),
        ("throughput_period: 240 s", "throughput_period: 20 s", "invalid", "measurements.tests"),
        ("policy:", "controller: {web_port: 8099}\npolicy:", "needs-restart", "controller.web_port"),
        ("policy:", "controller: {ha: {name: a}}\npolicy:", "needs-restart", "controller.ha"),
    ],
)
def test_a_bad_file_never_replaces_a_good_one(
    service: Service, old: str, new: str, code: str, field: str
) -> None:
    before = service.reloading.accepted.read_bytes(), service.reloading.standing()
    service.edit(old, new)
    service.now = 2000.0
    with refused(code, field):
        service.reloading.reload()
    after = service.reloading.standing()
    assert service.reloading.accepted.read_bytes() == before[0]
    assert (after["hash"], after["succeeded_at"]) == (before[1]["hash"], 1000.0)
    assert service.reloads() == {"refused": 1}


def test_all_problems_are_told(service: Service) -> None:
    service.edit("layer: 2", "layer: 7")
    service.edit("reserve_nodes: 1", "reserve_nodes: -1")
    with pytest.raises(InvalidInput) as refused:
        service.reloading.reload()
    assert [problem.field for problem in refused.value.problems] == [
        "paths.al2s.layer",
        "policy.reserve_nodes",
    ]
    assert all(problem.line for problem in refused.value.problems)


def test_what_a_process_refuses_is_taken_back_to_what_all_ran_well_with(service: Service) -> None:
    good = load(service.file)
    for rate in ("50 Mbps", "40 Mbps"):
        service.edit("capacity: 60.6 Mbps" if rate == "50 Mbps" else "capacity: 50 Mbps", f"capacity: {rate}")
        service.reloading.reload()
    done = service.reloading.take_back()
    assert done is not None
    assert CONTROLLER in done.restarted
    assert load(service.reloading.accepted) == good
    assert service.reloads() == {"applied": 2, "taken_back": 1}
    assert service.reloading.take_back() is None, "there is nothing more to take back"


def test_what_has_proven_itself_is_not_taken_back(service: Service) -> None:
    service.edit("60.6 Mbps", "50 Mbps")
    service.reloading.reload()
    service.reloading.proven()
    assert service.reloading.take_back() is None


def test_a_written_copy_keeps_every_section(service: Service, tmp_path: Path) -> None:
    document = yaml.safe_load(service.file.read_text())
    document["controller"] = {"openflow_port": 7000, "connections": {"packet_ins_per_port": 20}}
    document["policy"]["ladder"] = {"mode": "auto", "burst": "50 ms"}
    service.file.write_text(yaml.safe_dump(document))
    service.reloading.reload()
    assert load(service.reloading.accepted) == load(service.file)
