"""YAML files that ADON brings in a folder of a package: known by their names without the ending."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable

from adon.errors import NotFound

SUFFIX = ".yaml"


@dataclass(frozen=True, slots=True)
class Brought:
    """The files of one kind.

    :param kind: what one of them is, for messages.
    :param package: the package with the folder ``builtin``.
    """

    kind: str
    package: str

    @property
    def folder(self) -> Traversable:
        """Where they are."""
        return resources.files(self.package).joinpath("builtin")

    def names(self) -> tuple[str, ...]:
        """In order."""
        found = (file.name for file in self.folder.iterdir())
        return tuple(sorted(name.removesuffix(SUFFIX) for name in found if name.endswith(SUFFIX)))

    def text(self, name: str) -> str:
        """A file as it is written.

        :raises NotFound: if there is none of this name.
        """
        # Only what is listed: a name is no path.
        if name not in self.names():
            raise NotFound(self.kind, name)
        return self.folder.joinpath(f"{name}{SUFFIX}").read_text("utf-8")
