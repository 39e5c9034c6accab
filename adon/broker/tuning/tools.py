"""Transfer tools: how many streams each opens, and the advice in its own options.

The table is data, each row with its source.  Options were checked against the tools' own documentation or
source (the row says which); what a tool cannot be told is not invented.  ``TO`` and ``FROM`` stand for the
user's own arguments.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from adon.broker.tuning.streams import Bound
from adon.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a tool is to be told.

    :param buffer: bytes, for tools that set socket buffers themselves; None where it is not known.
    :param control: the congestion control; None where it is not known.
    """

    streams: int
    buffer: int | None
    control: str | None


@dataclass(frozen=True, slots=True)
class Snippet:
    """Something to put into a file or to run: where, what, and what to know about it."""

    where: str
    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """One transfer tool.

    :param most: streams that it opens for one transfer at most; None if it has no limit of its own.
    :param source: where limit and options are from.
    """

    name: str
    title: str
    most: int | None
    source: str
    write: Callable[[Chosen], Iterator[Snippet]]

    @property
    def bound(self) -> Bound | None:
        """The limit as a bound of the number of streams."""
        return None if self.most is None else Bound(self.most, f"{self.title} opens at most {self.most}")

    def snippets(self, chosen: Chosen) -> tuple[Snippet, ...]:
        """The advice as options of this tool, within its limit."""
        most = chosen.streams if self.most is None else min(self.most, chosen.streams)
        return tuple(self.write(Chosen(most, chosen.buffer, chosen.control)))


IRODS_THREADS = 4
"""What an iRODS server is delivered with."""


def _irods(chosen: Chosen) -> Iterator[Snippet]:
    threads = max(IRODS_THREADS, chosen.streams)  # others transfer, too
    server = {"advanced_settings": {"default_number_of_transfer_threads": threads}}
    note = "on the server of the storage resource: the most that -N may ask, and what is used without -N"
    yield Snippet("/etc/irods/server_config.json", json.dumps(server, indent=2), note)
    for command in ("iput", "iget"):
        note = "only files above 32 MB are moved in parallel (maximum_size_for_single_buffer_in_megabytes)"
        yield Snippet("command", f"{command} -N {chosen.streams} FROM TO", note)


def _globus(chosen: Chosen) -> Iterator[Snippet]:
    files, streams = _split(chosen.streams)
    options = {
        "network-use": "custom",
        "max-concurrency": files,
        "preferred-concurrency": files,
        "max-parallelism": streams,
        "preferred-parallelism": streams,
    }
    words = " ".join(f"--{name} {value}" for name, value in options.items())
    note = "for each managed endpoint: concurrency is files at a time, parallelism streams of each file"
    yield Snippet("command", f"globus gcs endpoint update ENDPOINT {words}", note)


def _split(streams: int) -> tuple[int, int]:
    """Files at a time and streams of each: as many files as there can be with at least four streams."""
    files = max(1, streams // 4)
    return files, -(-streams // files)


def _rclone(chosen: Chosen) -> Iterator[Snippet]:
    note = "one large file at a time; both ends must support multi-thread transfers"
    options = f"--transfers 1 --multi-thread-streams {chosen.streams} --multi-thread-cutoff 64M"
    yield Snippet("command", f"rclone copy FROM TO {options}", note)
    yield Snippet(
        "command", f"rclone copy FROM TO --transfers {chosen.streams}", "many files, one stream for each"
    )


def _gridftp(chosen: Chosen) -> Iterator[Snippet]:
    buffer = "" if chosen.buffer is None else f" -tcp-bs {chosen.buffer // 2}"
    note = (
        "without -tcp-bs the kernel tunes the buffers itself; with it, net.core.rmem_max and wmem_max count"
    )
    yield Snippet("command", f"globus-url-copy -fast -p {chosen.streams}{buffer} FROM TO", note)


def _iperf3(chosen: Chosen) -> Iterator[Snippet]:
    control = "" if chosen.control is None else f" -C {chosen.control}"
    base = f"iperf3 -c TO -P {chosen.streams}{control} -t 30 -O 5"
    yield Snippet("command", base, "to try the advice; the kernel tunes the buffers, as most tools let it")
    if chosen.buffer is not None:
        half = min(chosen.buffer // 2, 512 * 2**20)
        yield Snippet(
            "command", f"{base} -w {half}", "the same with fixed buffers; the kernel doubles the size"
        )


def _bbcp(chosen: Chosen) -> Iterator[Snippet]:
    window = "" if chosen.buffer is None else f" -w {max(1, chosen.buffer // 2 // 1024)}k"
    yield Snippet("command", f"bbcp -P 10 -s {chosen.streams}{window} FROM TO", "-P reports every 10 s")


def _fdt(chosen: Chosen) -> Iterator[Snippet]:
    window = "" if chosen.buffer is None else f" -ss {max(1, chosen.buffer // 2 // 1024)}K"
    command = f"java -jar fdt.jar -c TO -P {chosen.streams}{window} -d FOLDER FILE"
    yield Snippet("command", command, "a server must run at the other end: java -jar fdt.jar")


TOOLS: tuple[Tool, ...] = (
    Tool(
        "irods",
        "iRODS",
        16,
        "[ADON] 5.3 (16 threads; iRODS 3 compiles that limit in, iRODS 4 has 64); docs.irods.org, "
        "configuration: advanced_settings, and the table of threads used",
        _irods,
    ),
    Tool(
        "globus",
        "Globus",
        None,
        "globus-cli, gcs endpoint update: the four numbers go together, an endpoint administrator sets them",
        _globus,
    ),
    Tool(
        "rclone",
        "rclone",
        None,
        "rclone.org, flags: defaults --transfers 4, --multi-thread-streams 4",
        _rclone,
    ),
    Tool("gridftp", "GridFTP", None, "globus-url-copy's usage: -p, -tcp-bs, -fast", _gridftp),
    Tool("iperf3", "iperf3", 128, "iperf3(1); iperf.h: MAX_STREAMS 128, MAX_TCP_BUFFER 512 MB", _iperf3),
    Tool("bbcp", "bbcp", None, "bbcp's usage: -s streams, -w window", _bbcp),
    Tool("fdt", "FDT", None, "FDT's documentation: -P streams, -ss socket buffer", _fdt),
)
"""The tools that are known, iRODS first: the thesis's."""


def tool_named(name: str) -> Tool:
    """A tool by name.

    :raises InvalidInput: if it is not known, listing those that are.
    """
    for tool in TOOLS:
        if tool.name == name:
            return tool
    known = ", ".join(tool.name for tool in TOOLS)
    raise InvalidInput.of("tool", f"{name[:40]!r} is not known; there are {known}")
