"""Which tool carries a transfer, and from where to where: a wish seen in the configuration.  Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from adon.config.transfers import Rclone, Transfers
from adon.errors import Forbidden, InvalidInput
from adon.transfers.wish import Place, TransferWish


@dataclass(frozen=True, slots=True)
class End:
    """One end, as rclone is told it.

    :param fs: a folder of a remote.
    :param name: of the file in it; empty for the whole folder.
    """

    fs: str
    name: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done.

    :param at: the DTN whose rclone does it.
    :param ends: from where to where; None to follow job ``attach``.
    """

    at: str
    ends: tuple[End, End] | None = None
    attach: int | None = None


def planned(
    wish: TransferWish, hosts: tuple[str, str], groups: Collection[str], configured: Transfers
) -> Plan:
    """How a wish is carried out.

    :param hosts: the DTNs that the flow leads from and to.
    :param groups: the requester's.
    :raises InvalidInput: naming the field, for what the configuration does not have.
    :raises Forbidden: if the tool is not for the requester.
    """
    tools = {at: configured.rclone[at] for at in hosts if at in configured.rclone}
    if not tools:
        raise InvalidInput.of("transfer.tool", f"no rclone is configured at {hosts[0]} or {hosts[1]}")
    if wish.at is not None:
        if wish.at not in tools:
            raise InvalidInput.of("transfer.at", f"no rclone is configured at {wish.at}, an end of this flow")
        tools = {wish.at: tools[wish.at]}
    allowed = {at: tool for at, tool in tools.items() if not tool.groups or set(tool.groups) & set(groups)}
    if not allowed:
        raise Forbidden(f"the rclone at {' or '.join(tools)} is not for your groups")
    if wish.attach is not None:
        return _attached(wish.attach, allowed)
    source, destination = Place.of(str(wish.source)), Place.of(str(wish.destination))
    for at, tool in allowed.items():
        if _wrong(source, hosts[0], tool) is None and _wrong(destination, hosts[1], tool) is None:
            return Plan(at, _ends(source, destination, tool))
    at, tool = next(iter(allowed.items()))
    for field, place, host in (("source", source, hosts[0]), ("destination", destination, hosts[1])):
        if (why := _wrong(place, host, tool)) is not None:
            raise InvalidInput.of(f"transfer.{field}", f"the rclone at {at} {why}")
    raise AssertionError("one of both ends is wrong")


def _attached(job: int, tools: dict[str, Rclone]) -> Plan:
    tools = {at: tool for at, tool in tools.items() if tool.attach}
    if not tools:
        raise InvalidInput.of("transfer.attach", "the configuration does not let jobs of others be followed")
    if len(tools) > 1:
        raise InvalidInput.of(
            "transfer.at", f"both {' and '.join(tools)} have an rclone: say whose job it is"
        )
    return Plan(next(iter(tools)), attach=job)


def _wrong(place: Place, host: str, tool: Rclone) -> str | None:
    remote = tool.remotes.get(place.remote)
    if remote is None:
        return f"has no remote {place.remote!r}; it has {', '.join(sorted(tool.remotes)) or 'none'}"
    if remote.at != host:
        return f"has {place.remote!r} at {remote.at}, not at {host}"
    return None


def _ends(source: Place, destination: Place, tool: Rclone) -> tuple[End, End]:
    if source.folder:
        return End(_below(source, tool), ""), End(_below(destination, tool), "")
    return _file(source, tool), _file(destination, tool, source.name)


def _file(place: Place, tool: Rclone, name: str = "") -> End:
    """A file; in a folder, it is called as where it comes from."""
    if place.folder:
        return End(_below(place, tool), name)
    above = Place(place.remote, place.path.rpartition("/")[0], folder=True)
    return End(_below(above, tool), place.name)


def _below(place: Place, tool: Rclone) -> str:
    fs = tool.remotes[place.remote].fs
    if not place.path:
        return fs
    return fs + place.path if fs.endswith((":", "/")) else f"{fs}/{place.path}"
