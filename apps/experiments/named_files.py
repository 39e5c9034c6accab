"""What an experiment names and does not contain: network, templates, policies of its own, as files to keep.

Built-in ones too: the next version of ADON may bring others under the same names.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from adon import yamlfile
from adon.experiments.policies import Kind, parse
from adon.experiments.reading import Source
from mininet_topos import networks

NETWORK = "network"
"""The field that names it."""
INSTALLED = frozenset({"adon", "apps", "measurement", "mininet_topos"})
"""Packages that are ADON itself, whose version a run tells."""


def named_files(source: Source) -> dict[str, str]:
    """Every file's text, by its path in a folder of their own.

    A network and a template are called after the field that names them (``network.yaml``,
    ``templates.0.yaml``); a policy's module, and those of the experiment's folder that it imports, as Python
    finds them.

    :raises InvalidInput: if one cannot be read any more.
    """
    ending, text = _network(source)
    found = {f"{NETWORK}{ending}": text}
    for row, one in enumerate(source.experiment.templates):
        if isinstance(one, str):
            found[f"templates.{row}.yaml"] = _template(source, row, one)
    for policy in map(parse, source.experiment.policies):
        if policy.kind is Kind.PLUGIN and source.folder is not None:
            found |= module_files(policy.argument.partition(":")[0], source.folder)
    return found


def stand_ins(folder: Path) -> dict[str, Path]:
    """By field the file that such a folder has for what is named there (:attr:`Source.instead`)."""
    files = [*folder.glob(f"{NETWORK}.*"), *folder.glob("templates.*.yaml")]
    return {file.stem: file for file in files}


def _network(source: Source) -> tuple[str, str]:
    """Its description, and how its file's name ends."""
    name, file = source.experiment.network, network_file(source)
    return (".yaml", networks.text(name)) if file is None else (file.suffix, yamlfile.read_text(file))


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


def module_files(module: str, folder: Path) -> dict[str, str]:
    """A module of a folder and all of the folder that it imports, by path; nothing if it is not there.

    :param module: as it is imported, such as ``mine`` or ``policies.mine``.
    :raises InvalidInput: if a file cannot be read.
    """
    found: dict[str, str] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name.partition(".")[0] in INSTALLED:
            continue
        for file in _on_the_way(name, folder):
            path = file.relative_to(folder).as_posix()
            if path not in found:
                found[path] = yamlfile.read_text(file)
                waiting += _imported(found[path], _package(file, folder))
    return found


def _on_the_way(name: str, folder: Path) -> Iterator[Path]:
    """The files that Python runs to import a name: of each package on the way, and of the module."""
    place = folder
    for part in name.split("."):
        place = place / part
        for file in (place / "__init__.py", place.with_name(f"{part}.py")):
            if file.is_file():
                yield file
                break


def _package(file: Path, folder: Path) -> list[str]:
    return list(file.relative_to(folder).parent.parts)


def _imported(text: str, package: list[str]) -> Iterator[str]:
    """The names that a module imports, wherever in it; of ``from a import b`` both ``a`` and ``a.b``.

    :param package: that the module is in, from which names with dots before them are seen.
    """
    try:
        whole = ast.parse(text)
    except SyntaxError:
        return  # whoever imports it is told; what it would import cannot be known
    for node in ast.walk(whole):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from ([base] if base else [])
            yield from (f"{base}.{one.name}" if base else one.name for one in node.names)
