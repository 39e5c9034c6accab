"""Compute sites and their adapters: the section ``compute`` (docs/compute-sites.md).

The section has no credentials.  The adapters of Slurm and HTCondor run these schedulers' own commands, if
necessary through a program such as ``ssh``, which finds its key itself.  Only the listed programs may run at
a site.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Field

from adon.config.types import PositiveRate, Section, Span
from adon.units import Duration, Size
from adon.values import Frozen, FrozenMap, Name

_ARGUMENT = re.compile(r"[A-Za-z0-9_./:@%+,=][A-Za-z0-9_./:@%+,=-]{0,199}")
"""Argument of a requester: no white space, and no option."""
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
FACTS = ("job", "flow", "bytes")
"""Placeholders of a word of ``run``."""
_POLLS = 3
_COMMANDS = 8
"""Number of missed polls, and of timeouts of commands, after which a site counts as silent."""


Word = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f]+$", max_length=500, examples=["--verbose"])]
"""Word that is passed to a program unchanged, without line breaks, which could end a line of a script."""
Absolute = Annotated[str, Field(pattern=r"^/[^\x00-\x1f\x7f]*$", max_length=500, examples=["/usr/bin/sort"])]
Words = Annotated[tuple[Word, ...], Field(max_length=50)]


class ConfiguredJob(Section):
    """Program that may run at a site on request.

    :param run: absolute path at the site, and arguments.  In an argument, ``{job}``, ``{flow}`` and
        ``{bytes}`` stand for the job's id, its flow's id (or ``-``) and the bytes to process.
    :param arguments: maximum number of arguments of a requester, each of letters, digits and ``_./:@%+,=-``.
    :param templates: templates of the flows that may use it; empty: all flows, and requests without a flow.
    :param cores, memory: sums over all nodes.
    :param nodes: number of nodes.
    :param time_limit: time after which the scheduler kills it.
    :param output: file at the site that receives its output.
    :param folder: working folder at the site.
    """

    run: Annotated[Words, Field(min_length=1)]
    arguments: int = Field(default=0, ge=0, le=20)
    templates: tuple[Name, ...] = ()
    nodes: int = Field(default=1, ge=1, le=100_000)
    cores: int = Field(default=1, ge=1, le=1_000_000)
    memory: Size = 0
    time_limit: Span = 3600.0
    output: Absolute = "/dev/null"
    folder: Absolute = "/tmp"  # noqa: S108 - the one folder that every compute node has

    def _problems(self) -> Iterator[str]:
        if not self.run[0].startswith("/"):
            yield f"run.0: {self.run[0]!r} is not an absolute path; for example /usr/bin/sort"
        for number, word in enumerate(self.run):
            unknown = [name for name in _PLACEHOLDER.findall(word) if name not in FACTS]
            if unknown:
                yield f"run.{number}: {{{unknown[0]}}} is unknown; known are {', '.join(FACTS)}"
        if self.cores < self.nodes:
            yield f"cores: {self.cores} on {self.nodes} nodes leaves one without; for example {self.nodes}"

    def refusal(self, arguments: Sequence[str]) -> str | None:
        """Return the reason why a program may not run with these arguments, or None."""
        if len(arguments) > self.arguments:
            return f"{len(arguments)} arguments are given; expected at most {self.arguments}"
        for word in arguments:
            if not _ARGUMENT.fullmatch(word):
                return f"{word[:40]!r} is not a word of letters, digits and _./:@%+,=- (and no option)"
        return None


class Adapter(Section):
    """Common keys of all adapters.

    :param period: time between two polls of capacity and T_q.
    :param timeout: maximum time of a command or HTTP request; the command is then killed.
    :param time_limit: length of the jobs whose T_q is polled, if a shape comes from a template.
    :param follow: time between two polls of a running job.
    :param jobs: programs that may run at the site, by name.
    """

    period: Span = 30.0
    timeout: Annotated[Span, Field(le=600)] = 20.0
    time_limit: Span = 3600.0
    follow: Span = 10.0
    jobs: Frozen[Name, ConfiguredJob] = FrozenMap()

    @property
    def patience(self) -> float:
        """Seconds without an answer after which a site counts as silent."""
        return _POLLS * self.period + _COMMANDS * self.timeout


class StaticAdapter(Adapter):
    """Adapter with the configured numbers; it takes no jobs.

    :param kind: ``static``.
    """

    kind: Literal["static"]


class SlurmAdapter(Adapter):
    """Slurm's own commands.

    :param through: the program and words in front of each command: ``[ssh, -oBatchMode=yes, login.hpc.edu]``.
        Behind ``ssh`` the command is quoted for the far shell; behind anything else it is passed word by
        word.
    :param slurm_conf: SLURM_CONF, if Slurm's configuration is not in /etc/slurm.
    :param kind: ``slurm``.
    :param partition: partition of the jobs.
    :param account: account that jobs are charged to.
    """

    kind: Literal["slurm"]
    through: Words = ()
    partition: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,64}$")] | None = None
    account: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,64}$")] | None = None
    slurm_conf: Absolute | None = None


class HTCondorAdapter(Adapter):
    """HTCondor's own commands.

    :param through: as for Slurm.
    :param condor_config: CONDOR_CONFIG, if it is not in the default place.
    :param kind: ``htcondor``.
    """

    kind: Literal["htcondor"]
    through: Words = ()
    condor_config: Absolute | None = None


AnyAdapter = Annotated[StaticAdapter | SlurmAdapter | HTCondorAdapter, Field(discriminator="kind")]
"""Adapter of the kind ``kind``."""


class ComputeSite(Section):
    """Compute site ([ADON] table 3).

    :param site: its campus, the destination of transfers to it.
    :param throughput_per_node: Γ_c, the prior of the processing rate of one worker node.
    :param cores, memory, gpus, storage: sums over all its nodes; absent keys are not counted.
    :param queue_wait: T_q; ``null`` means no resource for us: T_q is infinite.
    :param queue_wait_deviation: the standard deviation of T_q.
    :param adapter: access to T_q, capacity and jobs; without it the numbers here are used.
    :param worker_nodes: number of worker nodes.
    :param price_per_node_hour: price of one node for an hour, in any currency that all sites share.
    """

    site: Name
    worker_nodes: int = Field(ge=0, le=1_000_000)
    cores: int | None = Field(default=None, ge=0)
    memory: Size | None = None
    gpus: int | None = Field(default=None, ge=0)
    storage: Size | None = None
    throughput_per_node: PositiveRate
    queue_wait: Duration | None = 0.0
    queue_wait_deviation: Duration = 0.0
    price_per_node_hour: float = Field(default=0.0, ge=0)
    adapter: AnyAdapter | None = None
