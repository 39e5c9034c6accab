"""Groups as AARC-G069 writes them: ``urn:geant:example.edu:group:soybean:lab:role=manager#idp.example.edu``.

After the namespace and ``:group:`` come the group, its subgroups from the outermost in, at most one role in
the innermost of them, and after ``#`` who is responsible for the statement.  Parts are percent-encoded
(RFC 8141); ``urn`` and the namespace's first part are told apart without regard to case, all else with it.

Who is in a subgroup is in the groups around it.  A role is held in exactly the group it stands at.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

_VALUE = re.compile(
    r"(?P<namespace>urn:[a-z0-9][a-z0-9-]{0,31}(?::[^:#?]+)+?):group:(?P<path>[^#?]+?)(?:#(?P<authority>[^#]*))?",
    re.IGNORECASE,
)
_ENCODED = re.compile(r"(?:[!$&-.0-;=@A-Z_a-z~/]|%[0-9A-Fa-f]{2})+")
_ROLE = "role="


@dataclass(frozen=True, slots=True)
class Group:
    """A membership.

    :param path: the group, then its subgroups inwards; never empty.
    :param role: what somebody is in the innermost; None for just a member.
    :param authority: who says so; None if that is left open.
    """

    namespace: str
    path: tuple[str, ...]
    role: str | None = None
    authority: str | None = None

    def fulfils(self, asked: Group) -> bool:
        """Whether who has this membership is what ``asked`` describes."""
        if self.namespace != asked.namespace or asked.authority not in (None, self.authority):
            return False
        if asked.role is not None:
            return self.path == asked.path and self.role == asked.role
        return self.path[: len(asked.path)] == asked.path


def parse_group(text: str) -> Group | None:
    """The membership that a value states; None for a value of another form."""
    found = _VALUE.fullmatch(text)
    if found is None or not _ENCODED.fullmatch(text.partition("#")[0]):
        return None
    *path, last = found["path"].split(":")
    role = None
    if last.startswith(_ROLE):
        role = _plain(last.removeprefix(_ROLE))
    else:
        path.append(last)
    names = tuple(_plain(name) for name in path)
    if not names or not all(names) or role == "" or any(name.startswith(_ROLE) for name in path):
        return None
    authority = found["authority"]
    return Group(_namespace(found["namespace"]), names, role, None if not authority else _plain(authority))


def _namespace(text: str) -> str:
    _, identifier, rest = text.split(":", 2)
    return f"urn:{identifier.lower()}:{_plain(rest)}"


def _plain(part: str) -> str:
    return unquote(part, errors="replace")
