"""What a person asked to be brought up, and what is there then: values, as kept in the run folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from adon.errors import Unavailable
from mininet_topos import networks
from mininet_topos.networks import Network

FILE = "standing.json"


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be brought up.

    :param name: of the run folder.
    :param network: a network that is built in, or the path of a file that describes one.
    :param scale: its described rates are divided by it; None for the description's own.
    :param platform: as :func:`mininet_topos.old_platforms.choose` takes it.
    :param adon: whether ADON controls it.
    """

    name: str
    network: str
    scale: float | None = None
    platform: str | None = None
    adon: bool = True

    def described(self) -> Network:
        """The network.

        :raises InvalidInput: if there is none, or it cannot be built as asked.
        """
        return networks.found(self.network, self.scale)


@dataclass(frozen=True, slots=True)
class Standing:
    """What stands.

    :param folder: the run folder.
    :param owner: PID of the process with which all of it ends.
    :param network: its name.
    :param why: this platform.
    :param emulation: how delays and switches are emulated, in words.
    :param url: of ADON's dashboard; None without ADON.
    :param began_at, up_at: when it was asked for, and when all answered (seconds since 1970).
    :param first_ping: through ADON's rules, as :meth:`mininet_topos.standing.pings.Answer.document`; None
        without ADON, or if there was none.
    """

    name: str
    folder: Path
    owner: int
    network: str
    scale: float
    platform: str
    why: str
    emulation: str
    url: str | None
    began_at: float
    up_at: float
    first_ping: Mapping[str, Any] | None = None

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "folder": str(self.folder)}

    @property
    def tokens(self) -> Path:
        """The folder of the tokens by which people know themselves to ADON."""
        return self.folder / "adon"

    @property
    def log(self) -> Path:
        """What ADON says."""
        return self.folder / "adon" / "adon.log"


def write(standing: Standing) -> None:
    """Say in its run folder that it stands."""
    part = standing.folder / f"{FILE}.part"
    part.write_text(json.dumps(standing.document()) + "\n")
    part.rename(standing.folder / FILE)


def read(folder: Path) -> Standing:
    """What stands in a run folder.

    :raises Unavailable: if nothing does.
    """
    try:
        said = json.loads((folder / FILE).read_text())
        return Standing(**{**said, "folder": folder})
    except (OSError, ValueError, TypeError) as error:
        raise Unavailable(f"no testbed stands in {folder}") from error
