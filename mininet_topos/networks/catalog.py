"""Networks by name: those that are built in, and those that a file describes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from adon.errors import InvalidInput, Problem
from adon.frozenmap import FrozenMap
from adon.nearest_key import absent
from adon.yamlfile import Lines, check_model, read_text, read_yaml
from mininet_topos.networks.compilation import compiled
from mininet_topos.networks.description import Description
from mininet_topos.networks.network import Network
from mininet_topos.networks.wrong import WrongDescription

Changes = Mapping[str, Mapping[str, Any]]
"""Per link of the description the attributes to have other values, as they are written there:
``{"routed": {"goodput": "3.2 Gbps"}}``."""

NO_CHANGES: Changes = FrozenMap()
ENDING = ".yaml"


def names() -> tuple[str, ...]:
    """The networks that are built in."""
    found = (item.name for item in resources.files(__package__).iterdir())
    return tuple(sorted(name.removesuffix(ENDING) for name in found if name.endswith(ENDING)))


def text(name: str) -> str:
    """The description of a network that is built in, as it is written.

    :raises InvalidInput: if there is none of this name.
    """
    if name not in (known := names()):
        raise InvalidInput.of(
            "network", f"{absent('network', name, known)} (there are {', '.join(known)})", "unknown-name"
        )
    return resources.files(__package__).joinpath(f"{name}{ENDING}").read_text("utf-8")


def named(name: str, scale: float | None = None, changes: Changes = NO_CHANGES) -> Network:
    """A network that is built in.

    :param scale: the described rates are divided by it; None for the description's own.
    :raises InvalidInput: if there is none of this name, or it cannot be built at this scale.
    """
    return described(text(name), f"{name}{ENDING}", scale, changes)


def read(path: Path, scale: float | None = None, changes: Changes = NO_CHANGES) -> Network:
    """The network that a file describes.

    :param scale: the described rates are divided by it; None for the description's own.
    :raises InvalidInput: with every problem found, each with file, line and field.
    """
    return described(read_text(path), str(path), scale, changes)


def found(reference: str, scale: float | None = None, changes: Changes = NO_CHANGES) -> Network:
    """The network that is meant by a name, or by the path of a file.

    :raises InvalidInput: as :func:`named` and :func:`read`.
    """
    path = Path(reference)
    if path.suffix or len(path.parts) > 1:
        return read(path, scale, changes)
    return named(reference, scale, changes)


def described(
    text: str, file: str | None = None, scale: float | None = None, changes: Changes = NO_CHANGES
) -> Network:
    """The network that a YAML text describes.

    :param file: its name, for messages.
    :raises InvalidInput: with every problem found, each with file, line and field.
    """
    data, lines = read_yaml(text, file)
    model = check_model(_changed(data, changes), Description, file, lines)
    try:
        return compiled(model, scale)
    except WrongDescription as refused:
        raise InvalidInput(_problems(refused, file, lines)) from refused


def _changed(data: Any, changes: Changes) -> Any:
    """The description with other attributes of some links; a rate replaces a goodput, and the other way."""
    if not changes:
        return data
    written = data.get("links") or {} if isinstance(data, dict) else {}
    if not isinstance(written, dict):
        return data  # and refused as that
    links = dict(written)
    for name, attributes in changes.items():
        if name not in links:
            raise InvalidInput.of(f"links.{name}", absent("link", name, links), "unknown-name")
        if not isinstance(links[name], dict):
            return data
        replaced = {"rate", "goodput"} if {"rate", "goodput"} & set(attributes) else set()
        kept = {key: value for key, value in links[name].items() if key not in replaced}
        links[name] = {**kept, **attributes}
    return {**data, "links": links}


def _problems(refused: WrongDescription, file: str | None, lines: Lines) -> Iterator[Problem]:
    for wrong in refused.found:
        line, column = lines.of(wrong.place) or (None, None)
        yield Problem(".".join(wrong.place), wrong.cause, file, line, column)
