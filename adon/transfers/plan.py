"""Which tool carries a transfer, and from where to where: a wish seen in the configuration.  Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from adon.config.transfers import Globus, Irods, Kind, Rclone, Transfers, key_of
from adon.errors import Forbidden, InvalidInput
from adon.transfers.wish import Place, TransferWish

Tool = Rclone | Globus | Irods


@dataclass(frozen=True, slots=True)
class End:
    """One end, as the tool is told it.

    :param fs: rclone: a folder of a remote; Globus: a collection's id; iRODS: :data:`HERE` or :data:`ZONE`.
    :param name: rclone: of the file in it, empty for the whole folder; Globus and iRODS: the absolute path.
    :param root: iRODS: the folder of this machine that must not be left, whatever links there are in it.
    """

    fs: str
    name: str
    root: str = ""


HERE, ZONE = "here", "zone"
"""Ends of an iRODS transfer: this machine's files, and the zone's."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done.

    :param at: which tool does it (:func:`~adon.config.transfers.key_of`).
    :param ends: from where to where; None to follow job ``attach``.
    :param folder: whether a folder is moved with all that is in it.
    """

    at: str
    ends: tuple[End, End] | None = None
    attach: int | str | None = None
    folder: bool = False


def planned(
    wish: TransferWish, hosts: tuple[str, str], groups: Collection[str], configured: Transfers
) -> Plan:
    """How a wish is carried out.

    :param hosts: the DTNs that the flow leads from and to.
    :param groups: the requester's.
    :raises InvalidInput: naming the field, for what the configuration does not have.
    :raises Forbidden: if the tool is not for the requester.
    """
    tools = _named(wish, hosts, configured)
    allowed = {name: tool for name, tool in tools.items() if may_use(tool, groups)}
    if not allowed:
        raise Forbidden(f"{_called(wish.tool, ' or '.join(tools))} is not for your groups")
    if wish.attach is not None:
        return _attached(wish, wish.attach, allowed)
    source, destination = Place.of(str(wish.source)), Place.of(str(wish.destination))
    for name, tool in allowed.items():
        if _wrong(source, hosts[0], tool) is None and _wrong(destination, hosts[1], tool) is None:
            ends = _ends(source, destination, tool)
            return Plan(key_of(wish.tool, name), ends, folder=source.folder)
    name, tool = next(iter(allowed.items()))
    for field, place, host in (("source", source, hosts[0]), ("destination", destination, hosts[1])):
        if (why := _wrong(place, host, tool)) is not None:
            raise InvalidInput.of(f"transfer.{field}", f"{_called(wish.tool, name)} {why}")
    raise AssertionError("one of both ends is wrong")


def may_use(tool: Tool, groups: Collection[str]) -> bool:
    """Whether a tool may carry flows of somebody in these groups."""
    return not tool.groups or bool(set(tool.groups) & set(groups))


def _called(kind: Kind, name: str) -> str:
    return f"the rclone at {name}" if kind == "rclone" else f"{kind} as {name}"


def _named(wish: TransferWish, hosts: tuple[str, str], configured: Transfers) -> Mapping[str, Tool]:
    """The tools that a wish can mean."""
    if wish.tool == "rclone":
        tools: dict[str, Tool] = {at: configured.rclone[at] for at in hosts if at in configured.rclone}
        field, name = "at", wish.at
        where, which = (
            f" at {hosts[0]} or {hosts[1]}",
            f"no rclone is configured at {name}, an end of this flow",
        )
    else:
        tools = {name: tool for kind, name, tool in configured.tools() if kind == wish.tool}
        field, name = "credentials", wish.credentials
        where, which = "", f"{wish.tool} has no credentials {name!r}; it has {', '.join(sorted(tools))}"
    if not tools:
        raise InvalidInput.of("transfer.tool", f"no {wish.tool} is configured{where}")
    if name is None:
        return tools
    if name not in tools:
        raise InvalidInput.of(f"transfer.{field}", which)
    return {name: tools[name]}


def _attached(wish: TransferWish, job: int | str, tools: Mapping[str, Tool]) -> Plan:
    fit = [name for name, tool in tools.items() if not isinstance(tool, Irods) and tool.attach]
    if not fit:
        raise InvalidInput.of("transfer.attach", "the configuration does not let jobs of others be followed")
    if len(fit) > 1:
        field = "at" if wish.tool == "rclone" else "credentials"
        said = f"both {' and '.join(fit)} have {wish.tool}: say whose job it is"
        raise InvalidInput.of(f"transfer.{field}", said)
    return Plan(key_of(wish.tool, fit[0]), attach=job)


def _wrong(place: Place, host: str, tool: Tool) -> str | None:
    remote = tool.remotes.get(place.remote)
    if remote is None:
        return f"has no remote {place.remote!r}; it has {', '.join(sorted(tool.remotes)) or 'none'}"
    if remote.at != host:
        return f"has {place.remote!r} at {remote.at}, not at {host}"
    return None


def _ends(source: Place, destination: Place, tool: Tool) -> tuple[End, End]:
    match tool:
        case Rclone():
            return _in_rclone(source, destination, tool)
        case Globus():
            return _in_globus(source, tool), _in_globus(destination, tool, source)
        case Irods():
            ends = _in_irods(source, tool), _in_irods(destination, tool, source)
            if ends[0].fs == ends[1].fs:
                said = "from this machine to the zone, or from the zone to this machine: not both ends in one"
                raise InvalidInput.of("transfer.destination", said)
            return ends


def _in_rclone(source: Place, destination: Place, tool: Rclone) -> tuple[End, End]:
    if source.folder:
        return End(_fs(source, tool), ""), End(_fs(destination, tool), "")
    return _file(source, tool), _file(destination, tool, source.name)


def _file(place: Place, tool: Rclone, name: str = "") -> End:
    """A file; in a folder, it is called as where it comes from."""
    if place.folder:
        return End(_fs(place, tool), name)
    above = Place(place.remote, place.path.rpartition("/")[0], folder=True)
    return End(_fs(above, tool), place.name)


def _fs(place: Place, tool: Rclone) -> str:
    fs = tool.remotes[place.remote].fs
    if not place.path:
        return fs
    return fs + place.path if fs.endswith((":", "/")) else f"{fs}/{place.path}"


def _in_globus(place: Place, tool: Globus, source: Place | None = None) -> End:
    remote = tool.remotes[place.remote]
    path = _path(remote.folder, place, source)
    folder = place.folder if source is None else source.folder
    return End(remote.collection, f"{path.rstrip('/')}/" if folder else path)


def _in_irods(place: Place, tool: Irods, source: Place | None = None) -> End:
    remote = tool.remotes[place.remote]
    if remote.collection is not None:
        return End(ZONE, _path(remote.collection, place, source))
    root = str(remote.folder)
    return End(HERE, _path(root, place, source), root)


def _path(folder: str, place: Place, source: Place | None) -> str:
    """The absolute path; a file that goes to a folder is called as where it comes from."""
    parts = [folder.rstrip("/"), place.path]
    if source is not None and place.folder and not source.folder:
        parts.append(source.name)
    return "/".join(part for part in parts if part or part is parts[0]) or "/"
