"""The adapter of each compute site, as it is configured.

Commands get a small environment; of ours only what names a configuration or finds a key.  No secret is an
argument of a command, and none is read here: ``ssh`` finds its key.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace

from adon.config.compute import Adapter, ComputeSite, ConfiguredJob, HTCondorAdapter, SlurmAdapter
from measurement.custom.batch.commands import ANSWER_LIMITS, Commands
from measurement.custom.batch.htcondor import HTCondor
from measurement.custom.batch.model import Job
from measurement.custom.batch.slurm import Slurm
from measurement.custom.errors import BatchFailed
from measurement.sites import model
from measurement.sites.batch import BatchSite
from measurement.sites.model import JobOrder
from measurement.sites.static import StaticSite

PASSED = ("HOME", "PATH", "SSH_AUTH_SOCK", "SLURM_CONF", "CONDOR_CONFIG")
_PLACE = re.compile(r"\{(job|flow|bytes)\}")


def build(site: ComputeSite, adapter: Adapter) -> model.ComputeSite:
    """What asks this site."""
    match adapter:
        case SlurmAdapter():
            commands = _commands(
                adapter, adapter.through, SLURM_TIME_FORMAT="%s", SLURM_CONF=adapter.slurm_conf
            )
            slurm = Slurm(adapter.partition, adapter.account, commands)
            return BatchSite(
                slurm if not adapter.through else replace(slurm, clock=lambda: far_clock(commands))
            )
        case HTCondorAdapter():
            commands = _commands(adapter, adapter.through, CONDOR_CONFIG=adapter.condor_config)
            condor = HTCondor(commands)
            return BatchSite(
                condor if not adapter.through else replace(condor, clock=lambda: far_clock(commands))
            )
        case _:
            return StaticSite(site.worker_nodes, 0 if site.cores is None else site.cores, site.queue_wait)


def _commands(adapter: Adapter, through: Sequence[str], **variables: str | None) -> Commands:
    fixed = tuple((name, value) for name, value in variables.items() if value is not None)
    return Commands(PASSED, fixed, replace(ANSWER_LIMITS, seconds=adapter.timeout), tuple(through))


def far_clock(commands: Commands) -> float:
    """Seconds since the epoch where the commands run: T_q is counted from *its* now.

    :raises BatchFailed: if it is not told.
    """
    told = commands.answer(["date", "+%s"]).strip()
    if not told.isdecimal():
        raise BatchFailed("date did not print the time")
    return float(told)


def job(order: JobOrder, programs: Mapping[str, ConfiguredJob]) -> Job:
    """The job that an order asks for: the configured program, each of its words quoted.

    :raises ValueError: if the configuration does not offer it, or not so.
    """
    program = programs.get(order.program)
    if program is None:
        raise ValueError(f"no job {order.program!r} is configured there any more")
    refusal = program.refusal(order.arguments)
    if refusal is not None:
        raise ValueError(f"arguments: {refusal}")
    facts = {
        "job": f"j-{order.number}",
        "flow": order.flow if order.flow else "-",
        "bytes": "0" if order.size is None else str(order.size),
    }
    words = [_PLACE.sub(lambda found: facts[found[1]], word) for word in program.run]
    return Job(
        order.name,
        f"#!/bin/sh\nexec {shlex.join([*words, *order.arguments])}\n",
        program.cores,
        program.nodes,
        program.time_limit,
        program.output,
        program.folder,
        program.memory,
    )
