"""The adapter of a compute site, as it is configured."""

from __future__ import annotations

from typing import Any

import pytest

from adon.config import Configuration
from adon.config.compute import HTCondorAdapter, SlurmAdapter, StaticAdapter
from adon.yamlfile import dump, parse_model
from tests.support.network_factories import NETWORK
from tests.support.refusals import refused

SITE = "  osu-hpc:\n    site: osu\n"
JOB = "{run: [/opt/align, '{flow}'], arguments: 1, nodes: 2, cores: 8, memory: 16 GB, time_limit: 2 h}"


def read(adapter: str) -> Configuration:
    return parse_model(NETWORK.read_text().replace(SITE, f"{SITE}    adapter: {adapter}\n"), Configuration)


def adapter_of(text: str) -> Any:
    return read(text).compute["osu-hpc"].adapter


def test_each_kind_is_read_into_its_own_type() -> None:
    slurm = adapter_of(
        "{kind: slurm, through: [ssh, login], partition: compute, period: 1 min, timeout: 5 s}"
    )
    assert isinstance(slurm, SlurmAdapter)
    assert (slurm.through, slurm.partition, slurm.period) == (("ssh", "login"), "compute", 60.0)
    assert slurm.patience == 3 * 60 + 8 * 5
    condor = adapter_of("{kind: htcondor, condor_config: /etc/condor/c}")
    assert isinstance(condor, HTCondorAdapter)
    assert condor.condor_config == "/etc/condor/c"
    assert isinstance(adapter_of("{kind: static}"), StaticAdapter)
    assert read("null").compute["osu-hpc"].adapter is None


def test_a_job_with_everything() -> None:
    job = adapter_of(f"{{kind: slurm, jobs: {{align: {JOB}}}}}").jobs["align"]
    assert (job.run, job.nodes, job.cores, job.memory, job.time_limit) == (
        ("/opt/align", "{flow}"),
        2,
        8,
        16 * 10**9,
        7200.0,
    )


def test_what_is_written_is_read_back_the_same() -> None:
    found = read(f"{{kind: slurm, through: [ssh, login], jobs: {{align: {JOB}}}}}")
    assert parse_model(dump(found), Configuration) == found


@pytest.mark.parametrize(
    ("adapter", "field", "code"),
    [
        ("{}", "", "missing"),
        ("{kind: pbs}", "", "unknown-value"),
        ("{kind: slurm, partitoin: x}", "partitoin", "unknown-key"),
        ("{kind: static, partition: x}", "partition", "unknown-key"),
        ("{kind: slurm, period: 30}", "period", "no-unit"),
        ("{kind: slurm, period: 0 s}", "period", "out-of-range"),
        ("{kind: slurm, timeout: 1 h}", "timeout", "out-of-range"),
        ("{kind: slurm, partition: 'a b'}", "partition", "malformed"),
        ("{kind: slurm, through: ['']}", "through.0", "malformed"),
        ('{kind: slurm, through: ["a\\nb"]}', "through.0", "malformed"),
        ("{kind: slurm, slurm_conf: slurm.conf}", "slurm_conf", "malformed"),
        ("{kind: openstack}", "", "unknown-value"),
        ("{kind: slurm, jobs: {align: {}}}", "jobs.align.run", "missing"),
        ("{kind: slurm, jobs: {align: {run: []}}}", "jobs.align.run", "wrong-length"),
        ("{kind: slurm, jobs: {align: {run: [align]}}}", "jobs.align.run.0", "invalid"),
        ("{kind: slurm, jobs: {align: {run: [/a, '{user}']}}}", "jobs.align.run.1", "invalid"),
        ("{kind: slurm, jobs: {align: {run: [/a], cores: 1, nodes: 2}}}", "jobs.align.cores", "invalid"),
        ("{kind: slurm, jobs: {align: {run: [/a], script: x}}}", "jobs.align.script", "unknown-key"),
        ("{kind: slurm, jobs: {align: {run: [/a], output: a.out}}}", "jobs.align.output", "malformed"),
        ("{kind: slurm, jobs: {'a b': {run: [/a]}}}", "jobs.a b", "malformed"),
    ],
)
def test_a_mistake_is_told_by_field_and_cause(adapter: str, field: str, code: str) -> None:
    with refused(code, f"compute.osu-hpc.adapter.{field}".removesuffix(".")):
        read(adapter)


@pytest.mark.parametrize(
    ("words", "refused"),
    [
        ((), False),
        (("chr1",), False),
        (("/data/a_b-c.fq:1@2+3,4=5%",), False),
        (("-rf",), True),
        (("--x=1",), True),
        (("a b",), True),
        (("",), True),
        (("a;b",), True),
        (("$HOME",), True),
        (("`id`",), True),
        (("a\n",), True),
        (("ä",), True),
        (("x" * 201,), True),
        (("a", "b"), True),
    ],
)
def test_what_a_requester_may_add(words: tuple[str, ...], refused: bool) -> None:
    job = adapter_of(f"{{kind: slurm, jobs: {{align: {JOB}}}}}").jobs["align"]
    assert (job.refusal(words) is not None) is refused
