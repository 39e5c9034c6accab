"""Which metrics a host has, from a TOML file."""

from __future__ import annotations

from pathlib import Path

import pytest

from measurement.custom.batch.htcondor import HTCondor
from measurement.custom.batch.metric import BatchMetric, Request
from measurement.custom.batch.slurm import Slurm
from measurement.custom.command import CommandMetric
from measurement.custom.errors import NotConfigured
from measurement.custom.execute import Limits
from measurement.custom.pegasus.metric import UserMetric, WorkflowMetric
from measurement.custom.registry import available
from tests.support.refusals import refused

WHOLE = """
host = "dtn1.example.org"

[system]
disks = ["/", "/tmp"]
interfaces = ["lo"]
period = 10

[[command]]
name = "queue.length"
argv = ["echo", "3"]
unit = "jobs"
timeout = 2
memory = 1000000000
cpu = 1

[[command]]
name = "answer"
argv = ["echo", "42"]

[[pegasus]]
name = "soykb"
database = "/home/soykb/.pegasus/workflow.db"

[[pegasus]]
name = "run"
folder = "/home/soykb/run0001"

[[batch]]
name = "hpc"
system = "slurm"
partition = "gpu"
cores = 16
nodes = 2
duration = 7200

[[batch]]
name = "pool"
system = "htcondor"
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "metrics.toml"
    path.write_text(text)
    return path


def test_a_whole_file(tmp_path: Path) -> None:
    found = available(written(tmp_path, WHOLE))
    assert list(found) == [
        "host", "host.interfaces", "host.tcp", "host.disk:/", "host.disk:/tmp", "queue.length", "answer",
        "soykb", "run", "hpc", "pool",
    ]  # fmt: skip
    command = found["queue.length"]
    assert isinstance(command, CommandMetric)
    assert command.command.limits == Limits(2, 1_000_000_000, 1)
    assert isinstance(found["soykb"], UserMetric)
    assert isinstance(found["run"], WorkflowMetric)
    slurm, pool = found["hpc"], found["pool"]
    assert isinstance(slurm, BatchMetric)
    assert isinstance(pool, BatchMetric)
    assert slurm.system == Slurm("gpu", commands=slurm.system.commands)  # type: ignore[attr-defined]
    assert slurm.request == Request(16, 2, 7200.0)
    assert isinstance(pool.system, HTCondor)
    assert {metric.period for metric in found.values()} == {5.0, 10.0}


def test_metrics_of_a_file_give_values(tmp_path: Path) -> None:
    found = available(written(tmp_path, WHOLE))
    for name in ("host", "host.disk:/tmp", "queue.length", "answer"):
        for value in found[name].sample(1000.0):
            assert value.key.source == "dtn1.example.org"
            assert value.observed_at == 1000.0
    assert [value.value for value in found["queue.length"].sample(1.0)] == [3.0]


def test_without_a_file_the_host_itself() -> None:
    assert list(available()) == ["host", "host.interfaces", "host.tcp", "host.disk:/"]


def test_an_empty_file_has_none(tmp_path: Path) -> None:
    assert dict(available(written(tmp_path, ""))) == {}


COMMAND = '[[command]]\nname = "a"\nargv = ["true"]\n'


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("= 1", ""),
        ("other = 1", "other"),
        ('host = "a b"', "host"),
        ("[system]\nperiod = 0", "system.period"),
        ("[system]\nperiod = nan", "system.period"),
        ('[system]\ndisks = ["tmp"]', "system.disks.0"),
        ('[system]\ndisks = ["/", "/"]', ""),
        (COMMAND + COMMAND, "a"),
        (COMMAND + "timeout = -1", "command.0.timeout"),
        (COMMAND + 'shell = "yes"', "command.0.shell"),
        (COMMAND + 'schema = "text"', "command.0.schema"),
        ('[[command]]\nname = "a"\nargv = []', "command.0.argv"),
        ('[[command]]\nname = "a"\nargv = "true"', "command.0.argv"),
        ('[[command]]\nname = "rtt"\nargv = ["true"]', "name"),
        ('[[pegasus]]\nname = "a"', "pegasus.0"),
        ('[[pegasus]]\nname = "a"\nfolder = "/a"\ndatabase = "/b"', "pegasus.0"),
        ('[[batch]]\nname = "a"\nsystem = "pbs"', "batch.0.system"),
        ('[[batch]]\nname = "a"\nsystem = "slurm"\nnodes = 2', "batch.0"),
        ('[[batch]]\nname = "a"\nsystem = "htcondor"\npartition = "x"', "batch.0"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, text: str, field: str) -> None:
    path = written(tmp_path, text)
    with refused("not-configured", field) as caught:
        available(path)
    assert str(caught.error).startswith(f"{path}: ")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with refused("unreadable"):
        available(tmp_path / "missing.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(NotConfigured, match=r"binary\.toml"):
        available(tmp_path / "binary.toml")
