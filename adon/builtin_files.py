"""Built-in YAML files of a package; a file has its name without the suffix."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable

from adon.errors import NotFound

SUFFIX = ".yaml"


@dataclass(frozen=True, slots=True)
class BuiltinFiles:
    """Built-in files of one kind.

    :param kind: name of the kind in messages.
    :param package: the package with the folder ``builtin``.
    """

    kind: str
    package: str

    @property
    def folder(self) -> Traversable:
        """Folder of the files."""
        return resources.files(self.package).joinpath("builtin")

    def names(self) -> tuple[str, ...]:
        """Return the names in order."""
        found = (file.name for file in self.folder.iterdir())
        return tuple(sorted(name.removesuffix(SUFFIX) for name in found if name.endswith(SUFFIX)))

    def text(self, name: str) -> str:
        """Return the text of a file.

        :raises NotFound: if there is no file of this name.
        """
        # Only listed names are valid, because a name must not be a path.
        if name not in self.names():
            raise NotFound(self.kind, name)
        return self.folder.joinpath(f"{name}{SUFFIX}").read_text("utf-8")
