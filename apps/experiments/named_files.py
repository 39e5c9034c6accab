"""What an experiment names and does not contain: network and templates, as files to keep.

Built-in ones too: the next version of ADON may bring others under the same names.
"""

from __future__ import annotations

from pathlib import Path

from adon import yamlfile
from adon.experiments.reading import Source
from mininet_topos import networks

NETWORK = "network"
"""The field that names it."""


def named_files(source: Source) -> dict[str, str]:
    """Every file's text, by its path in a folder of their own.

    A network and a template are called after the field that names them (``network.py``,
    ``templates.0.yaml``).

    :raises InvalidInput: if one cannot be read any more.
    """
    ending, text = _network(source)
    found = {f"{NETWORK}{ending}": text}
    for row, one in enumerate(source.experiment.templates):
        if isinstance(one, str):
            found[f"templates.{row}.yaml"] = _template(source, row, one)
    return found


def stand_ins(folder: Path) -> dict[str, Path]:
    """By field the file that such a folder has for what is named there (:attr:`Source.instead`)."""
    files = [*folder.glob(f"{NETWORK}.*"), *folder.glob("templates.*.yaml")]
    return {file.stem: file for file in files}


def _network(source: Source) -> tuple[str, str]:
    """Its topology, and how its file's name ends."""
    name, file = source.experiment.network, network_file(source)
    return (".py", networks.text(name)) if file is None else (file.suffix, yamlfile.read_text(file))


def network_file(source: Source) -> Path | None:
    """The file of the network that is named; None for one that is built in."""
    if NETWORK in source.instead:
        return source.instead[NETWORK]
    name = source.experiment.network
    return (source.folder or Path()) / name if Path(name).suffix else None


def _template(source: Source, row: int, name: str) -> str:
    kept = source.instead.get(f"templates.{row}")
    if kept is not None:
        return yamlfile.read_text(kept)
    if name in source.templates:
        return yamlfile.dump(source.templates[name], defaults=False)
    return yamlfile.read_text((source.folder or Path()) / name)
