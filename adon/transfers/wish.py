"""What a request says about the tool that moves its data."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from adon.config.transfer_tools import GlobusId
from adon.config.transfers import Kind
from adon.templates_catalog.model import Name, Value

MailAbout = Literal["all", "trouble", "none"]
"""Also when all went well; only when something did not; never."""
_REMOTE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


@dataclass(frozen=True, slots=True)
class Place:
    """A file or a folder below one of the remotes that the configuration names.

    :param path: relative, of plain parts; empty for all of the remote.
    :param folder: whether a folder is meant: the text ended with ``/``, or named no path.
    """

    remote: str
    path: str
    folder: bool

    @classmethod
    def of(cls, text: str) -> Self:
        """The place that a text such as ``data:run-17/`` names.

        :raises ValueError: for anything that could lead out of the remote's folder, or name another remote.
        """
        remote, colon, path = text.partition(":")
        if not colon or not _REMOTE.fullmatch(remote):
            raise ValueError("is not REMOTE:PATH, such as data:run-17/ (a folder) or data:run-17/reads.bam")
        if not path.isprintable() or "\\" in path:
            raise ValueError("the path has a backslash, a line break or a control character")
        folder = path == "" or path.endswith("/")
        path = path.removesuffix("/")
        if path and any(part in ("", ".", "..") for part in path.split("/")):
            raise ValueError("the path must be below the remote: no leading /, no // and no . or .. in it")
        return cls(remote, path, folder)

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]


def _place(text: str) -> str:
    Place.of(text)
    return text


PlaceText = Annotated[str, Field(max_length=1000), AfterValidator(_place)]


class TransferOptions(Value):
    """How the tool is to move the data.

    :param checksum: compare what is there by checksum, not by size and time.
    :param files: so many files at a time.
    """

    checksum: bool = False
    files: Annotated[int, Field(ge=1, le=64)] | None = None


class TransferWish(Value):
    """Who moves the data: ADON starts the tool (``source`` and ``destination``), or follows a job of it.

    :param source, destination: ``REMOTE:PATH``; a path that ends with ``/`` is a folder.
    :param attach: a job that somebody else started: rclone's number, or the id of a Globus task.
    :param at: the DTN whose rclone it is; needed only where both ends have one that fits.
    :param credentials: of Globus or iRODS, by their name in the configuration; needed only where several fit.
    :param mail: what its requester is written to about.
    """

    tool: Kind
    source: PlaceText | None = None
    destination: PlaceText | None = None
    attach: Annotated[int, Field(ge=1, lt=1 << 63)] | GlobusId | None = None
    at: Name | None = None
    credentials: Name | None = None
    options: TransferOptions = TransferOptions()
    mail: MailAbout = "all"

    @model_validator(mode="after")
    def _fits_the_tool(self) -> Self:
        if self.at is not None and self.tool != "rclone":
            raise ValueError(f"at: {self.tool} is at no DTN: name its credentials")
        if self.options.files is not None and self.tool != "rclone":
            raise ValueError(f"options.files: {self.tool} decides itself how many files it moves at a time")
        if self.credentials is not None and self.tool == "rclone":
            raise ValueError("credentials: an rclone has its own: name the DTN it is at (at)")
        return self

    @model_validator(mode="after")
    def _attaches_to_what_there_is(self) -> Self:
        if self.attach is None:
            return self
        match self.tool:
            case "rclone" if not isinstance(self.attach, int):
                raise ValueError("attach: is not the number of a job of rclone's")
            case "globus" if not isinstance(self.attach, str):
                raise ValueError("attach: is not the id of a Globus task")
            case "irods":
                raise ValueError("attach: iRODS knows of no jobs of others that could be followed")
        return self

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if self.attach is not None:
            if self.source is not None or self.destination is not None:
                raise ValueError("attach: a job that is under way knows its source and destination itself")
            return self
        for field in ("source", "destination"):
            if getattr(self, field) is None:
                raise ValueError(f"{field}: is missing (or attach, for a job that is under way)")
        if Place.of(str(self.source)).folder and not Place.of(str(self.destination)).folder:
            raise ValueError("destination: must be a folder (end with /), as the source is")
        return self
