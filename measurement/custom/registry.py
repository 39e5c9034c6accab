"""The custom metrics that this host offers, by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from measurement.custom.batch.htcondor import HTCondor
from measurement.custom.batch.metric import BatchMetric, Request
from measurement.custom.batch.slurm import Slurm
from measurement.custom.command import CommandMetric, MetricCommand
from measurement.custom.configuration import (
    DEFAULT,
    Batch,
    Command,
    Configuration,
    Pegasus,
    System,
    read_configuration,
)
from measurement.custom.errors import NotConfigured
from measurement.custom.execute import Limits
from measurement.custom.host import DiskMetric, InterfaceMetric, SystemMetric, this_host
from measurement.custom.model import CustomMetric
from measurement.custom.pegasus.metric import TOOL_LIMITS, Tools, UserMetric, WorkflowMetric
from measurement.custom.tcp import TcpMetric


def available(path: Path | None = None) -> Mapping[str, CustomMetric]:
    """The metrics of a configuration file; without one, those of the host itself.

    :raises NotConfigured: for a file with a mistake, naming file and field.
    """
    try:
        return metrics(DEFAULT if path is None else read_configuration(path))
    except ValueError as error:
        raise NotConfigured(f"{path}: {error}") from None


def metrics(configuration: Configuration) -> Mapping[str, CustomMetric]:
    """The metrics of a configuration, by name.

    :raises ValueError: when two have one name, or a command's schema is none.
    """
    host = this_host() if configuration.host is None else configuration.host
    found: dict[str, CustomMetric] = {}
    for metric in _all(configuration, host):
        if metric.name in found:
            raise ValueError(f"{metric.name}: is there twice")
        found[metric.name] = metric
    return MappingProxyType(found)


def _all(configuration: Configuration, host: str) -> Iterator[CustomMetric]:
    if configuration.system is not None:
        yield from _system(configuration.system, host)
    for command in configuration.command:
        yield CommandMetric(_command(command), host, command.period)
    for pegasus in configuration.pegasus:
        yield _pegasus(pegasus, host)
    for batch in configuration.batch:
        yield _batch(batch, host)


def _system(section: System, host: str) -> Iterator[CustomMetric]:
    yield SystemMetric(host, section.period)
    yield InterfaceMetric(host, section.interfaces, section.period)
    yield TcpMetric(host, section.interfaces, section.period)
    for mount in section.disks:
        yield DiskMetric(host, mount, section.period)


def _command(section: Command) -> MetricCommand:
    limits = Limits(section.timeout, section.memory, section.cpu, section.output)
    try:
        return MetricCommand(section.name, section.argv, section.unit, limits, section.environment)
    except ValueError as error:
        raise ValueError(f"command {section.name}: {error}") from None


def _pegasus(section: Pegasus, host: str) -> CustomMetric:
    limits = replace(TOOL_LIMITS, seconds=section.timeout)
    tools = Tools(section.environment, limits)
    if section.folder is not None:
        return WorkflowMetric(section.name, host, Path(section.folder), tools, section.period)
    return UserMetric(section.name, host, Path(str(section.database)), tools, section.period)


def _batch(section: Batch, host: str) -> CustomMetric:
    request = Request(section.cores, section.nodes, section.duration)
    system = Slurm(section.partition) if section.system == "slurm" else HTCondor()
    return BatchMetric(section.name, host, system, section.system, request, section.period)
