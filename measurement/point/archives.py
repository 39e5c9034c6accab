"""Where results may be sent: the ``archives`` of a task, checked.  Pure.

pScheduler 5.2's archive object and the data of its ``http`` archiver, with three differences: certificates
are verified unless ``verify-ssl`` is false (there the default is false), ``bind`` and ``transform`` are
refused by name, and every number has a ceiling.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from measurement.pscheduler.iso8601 import parse_duration

_M = TypeVar("_M", bound=BaseModel)
HTTP = "http"
ARCHIVERS = (HTTP,)
LONGEST_RETRY = 86_400.0
MOST_ATTEMPTS = 1000
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_VALUE = re.compile(r"[\x20-\x7e\t]{0,4000}")
_OURS = frozenset({"host", "content-length", "transfer-encoding", "connection"})


@dataclass(frozen=True, slots=True)
class Archive:
    """Where the results of a task are sent.

    :param runs: which: ``succeeded``, ``failed`` or ``all`` (a run without a merged result never is).
    :param ttl: seconds after a run's end beyond which its result is no longer sent.
    :param headers: may hold a token, hence never shown.
    :param waits: seconds before each further attempt.
    """

    url: str = field(repr=False)
    method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    verify: bool = True
    timeout: float = 30.0
    waits: tuple[float, ...] = ()
    runs: Literal["succeeded", "failed", "all"] = "succeeded"
    ttl: float | None = None

    def takes(self, merged: Mapping[str, Any] | None) -> bool:
        """Whether a run with this merged result goes there."""
        if merged is None:
            return False
        return self.runs == "all" or (self.runs == "succeeded") is (merged.get("succeeded") is True)

    @property
    def place(self) -> str:
        """Scheme and host; the rest of a URL may be secret."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"


def _seconds(value: object) -> object:
    return parse_duration(value) if isinstance(value, str) else value


def _url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise ValueError("is not a URL such as https://collector.example.org/results")
    if not text.isascii() or not text.isprintable() or " " in text:
        raise ValueError("has characters that no URL has")
    return text


def _headers(found: dict[str, str]) -> dict[str, str]:
    for name, value in found.items():
        if not _HEADER.fullmatch(name) or not _VALUE.fullmatch(value) or name.lower() in _OURS:
            raise ValueError(f"{name[:40]!r}: is no header that a task may set")
    return found


class _Retry(BaseModel):
    model_config = ConfigDict(extra="forbid")
    attempts: Annotated[int, Field(ge=1, le=MOST_ATTEMPTS)]
    wait: Annotated[float, BeforeValidator(_seconds), Field(ge=0, le=LONGEST_RETRY)]


class _HttpData(BaseModel):
    model_config = ConfigDict(
        extra="forbid", alias_generator=lambda name: name.rstrip("_").replace("_", "-"), strict=True
    )
    schema_: Annotated[int, Field(ge=1, le=4)] = 1
    url: Annotated[str, Field(alias="_url", max_length=2000), AfterValidator(_url)]
    op: Literal["post", "put"] = "post"
    headers: Annotated[dict[str, str], Field(alias="_headers", max_length=20), AfterValidator(_headers)] = {}
    verify_ssl: bool = True
    timeout: Annotated[float, BeforeValidator(_seconds), Field(gt=0, le=120)] = 30.0
    retry_policy: Annotated[list[_Retry], Field(max_length=20)] = []


class _ArchiveBody(BaseModel):
    model_config = ConfigDict(extra="forbid", alias_generator=lambda name: name.rstrip("_"))
    schema_: Annotated[int, Field(ge=1, le=3)] = 1
    archiver: Literal["http"]
    data: dict[str, Any]
    ttl: Annotated[float, BeforeValidator(_seconds), Field(gt=0)] | None = None
    runs: Literal["succeeded", "failed", "all"] = "succeeded"
    label: str | None = None


def parse_archives(documents: Sequence[object]) -> tuple[Archive, ...]:
    """The archives of a task.

    :raises ValueError: naming archive and field.
    """
    return tuple(_archive(number, document) for number, document in enumerate(documents))


def parse_data(archiver: str, value: object) -> None:
    """Check an archiver's data.

    :raises ValueError: one line per problem; for an unknown archiver too.
    """
    if archiver not in ARCHIVERS:
        raise ValueError(f'No archiver "{archiver[:40]}" is available.')
    _waits(_checked("data", _HttpData, value))


def _archive(number: int, document: object) -> Archive:
    body = _checked(f"archives.{number}", _ArchiveBody, document)
    data = _checked(f"archives.{number}.data", _HttpData, body.data)
    return Archive(
        data.url,
        data.op.upper(),
        data.headers,
        data.verify_ssl,
        data.timeout,
        _waits(data),
        body.runs,
        body.ttl,
    )


def _waits(data: _HttpData) -> tuple[float, ...]:
    policy = data.retry_policy
    if sum(entry.attempts for entry in policy) > MOST_ATTEMPTS:
        raise ValueError(f"retry-policy: more than {MOST_ATTEMPTS} attempts")
    return tuple(entry.wait for entry in policy for _ in range(entry.attempts))


def _checked(where: str, model: type[_M], value: object) -> _M:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        lines = (
            f"{'.'.join((where, *map(str, item['loc'])))}: {item['msg']}"
            for item in error.errors(include_input=False)
        )
        raise ValueError("\n".join(lines)) from None
