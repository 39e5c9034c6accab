"""A file of the Topology Zoo as the text of a description, which people may change before they build it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap

import yaml

from adon.errors import InvalidInput, Problem
from mininet_topos.networks.description import NETWORK_NAME
from mininet_topos.zoo.description import Imported, imported, printable
from mininet_topos.zoo.graphml import MAX_CHARACTERS, read_graphml
from mininet_topos.zoo.settling import Wishes

WIDTH = 108


@dataclass(frozen=True, slots=True)
class Text:
    """YAML, and what people should know about it."""

    yaml: str
    notes: tuple[str, ...]


def described(file: Path, wishes: Wishes, name: str | None = None) -> Text:
    """The description of the network in a file.

    :param name: of the description; None for one made of the file's.
    :raises InvalidInput: if the file cannot be read, is no such file, or a wish cannot be fulfilled; or if
        the name is none.
    """
    if name is not None and not re.fullmatch(NETWORK_NAME, name):
        raise InvalidInput.of("name", f"{name!r} is not a letter and at most 39 more of a-z, 0-9 and _")
    graph = read_graphml(_content(file), file.stem, str(file))
    found = imported(graph, plain_name(file.stem) if name is None else name, wishes)
    return Text(written(found), found.notes)


def plain_name(stem: str) -> str:
    """What a network may be called, from a file's name."""
    words = re.sub(r"[^a-z0-9]+", "_", stem.lower()).strip("_")
    return (words if words[:1].isalpha() else f"zoo_{words}")[:40].rstrip("_")


def written(found: Imported) -> str:
    """As YAML: each link and path on a line, the notes above."""
    # A label of the file must not end a comment.
    told = (printable(note) for note in found.notes)
    notes = [line for note in told for line in wrap(note, WIDTH - 4, subsequent_indent="  ")]
    head = "".join(f"# {line}\n" for line in notes)
    parts = [head] if head else []
    for key, value in found.description.items():
        # Mappings of mappings: an entry a line.
        lined = key in ("links", "paths", "places")
        if lined:
            parts.append(f"\n{key}:\n")
            parts += [f"  {name}: {_flow(entry)}\n" for name, entry in value.items()]
        else:
            parts.append(_block(key, value))
    return "".join(parts)


def _flow(value: object) -> str:
    return yaml.safe_dump(value, sort_keys=False, default_flow_style=True, width=10_000).strip()


def _block(key: str, value: object) -> str:
    flow = None if isinstance(value, dict | list) else False
    return yaml.safe_dump({key: value}, sort_keys=False, default_flow_style=flow, width=WIDTH)


def _content(file: Path) -> str:
    try:
        if file.stat().st_size > 4 * MAX_CHARACTERS:
            raise InvalidInput(Problem("", "is too large for a network", str(file)))
        return file.read_text("utf-8-sig")
    except OSError as error:
        cause = "there is no such file" if isinstance(error, FileNotFoundError) else error.strerror
        raise InvalidInput(Problem("", f"cannot be read: {cause}", str(file))) from error
    except UnicodeDecodeError as error:
        raise InvalidInput(Problem("", "is not UTF-8 text", str(file))) from error
