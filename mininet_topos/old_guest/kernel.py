"""Where the guest's kernel is: Debian's package, unpacked by ``scripts/setup.sh`` or installed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from adon.errors import Unavailable

UNPACKED = Path(__file__).parents[2] / ".uml"
PLACES = (UNPACKED, Path("/"))


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel that runs as a process.

    :param image: the program.
    :param modules: the folder of its modules.
    """

    image: Path
    modules: Path

    @property
    def version(self) -> str:
        """What ``uname -r`` says in the guest."""
        return self.modules.name


def found(places: Sequence[Path] = PLACES) -> Kernel:
    """The first that is there.

    :param places: folders in which Debian's package ``user-mode-linux`` is unpacked.
    :raises Unavailable: if there is none.
    """
    for place in places:
        image = place / "usr/bin/linux.uml"
        versions = sorted((place / "usr/lib/uml/modules").glob("*.*"))
        if image.exists() and versions:
            return Kernel(image, versions[-1])
    raise Unavailable("there is no User-Mode-Linux kernel: run scripts/setup.sh guest")


def in_guest() -> bool:
    """Whether this process runs in such a kernel: the whole machine is a testbed's then."""
    return "User Mode Linux" in Path("/proc/cpuinfo").read_text()
