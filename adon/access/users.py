"""Users: their names, roles and values to show.

A name goes into addresses, logs, exports and the owner's column of every flow.  A name that looks like
another one (Unicode TR 36, TR 39) is refused rather than repaired: the user must see what is meant.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any

from adon.access.identity import Actor, Token
from adon.access.scopes import actions_of
from adon.errors import InvalidInput

LOCAL = "local"
"""Issuer of users whom an administrator of this machine created."""
LONGEST = 200
PUNCTUATION = frozenset("._-@+:=~")
"""Characters of a name in addition to letters, digits and marks."""
ONESELF = "me"
"""Placeholder of the requester's name in an address."""
INVISIBLE = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"
    + "".join(map(chr, range(0x180B, 0x1810)))
    + "".join(map(chr, range(0xFE00, 0xFE10)))
    + "".join(map(chr, range(0xE0000, 0xE01F0)))
)
"""Invisible letters and marks (Default_Ignorable_Code_Point); the others are of category Cf."""
ALIKE = ("LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "CHEROKEE", "COPTIC")
"""Scripts with similar letters: a name is written in one of them."""


@dataclass(frozen=True, slots=True)
class User:
    """User; times in seconds since the epoch.

    :param name: the owner's name of what they request; never changes, and is never given to another user.
    :param by_rules: the roles that the rules gave at the last sign-in.
    :param granted: roles that a local administrator gave.
    :param removed: roles that a local administrator removed; overrides the rules.
    :param disabled: start time of the refusal of sign-ins and tokens; None if enabled.
    :param last_seen: time of the last request by a browser or with a token, to the minute; None for never.
    """

    name: str
    issuer: str
    subject: str
    display: str | None = None
    mail: str | None = None
    groups: frozenset[str] = frozenset()
    by_rules: frozenset[str] = frozenset()
    granted: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    disabled: float | None = None
    first_seen: float = 0.0
    last_seen: float | None = None

    @property
    def roles(self) -> frozenset[str]:
        """Roles in force: the local administrator overrides the rules."""
        return (self.by_rules | self.granted) - self.removed

    def actor(self, via: str, proof: str = "", token: Token | None = None) -> Actor:
        """Return the user as the requester of an action.

        :param proof: the id of the token or session.
        :param token: the token that limits the proof; None for no limits.
        """
        if token is None:
            return Actor(self.name, self.roles, self.groups, via, proof=proof)
        roles = self.roles if token.roles is None else self.roles & token.roles
        return Actor(self.name, roles, self.groups, via, actions_of(token.scope), proof, token.expires)


def user_values(user: User) -> dict[str, Any]:
    """Return a user as plain values, with the roles in force and where they come from."""
    values = {**asdict(user), "roles": user.roles, "disabled_since": user.disabled}
    del values["disabled"]
    return {name: sorted(value) if isinstance(value, frozenset) else value for name, value in values.items()}


_PLAIN = {code: "-" for code in range(0x20, 0x7F) if not (chr(code).isalnum() or chr(code) in PUNCTUATION)}
"""Visible ASCII characters that names must not contain, and their replacement."""


def unique_name(wanted: str, taken: Collection[str]) -> str:
    """Return the name of a new user: the wanted one, with a number if another user has it.

    :param taken: the keys (:func:`name_key`) of the names in use.
    :raises InvalidInput: for an invalid name.
    """
    plain = check_name(wanted.translate(_PLAIN))
    name, number = plain, 1
    while name_key(name) in taken:
        number += 1
        name = f"{plain[: LONGEST - 12]}-{number}"
    return name


def check_name(text: str, field: str = "name") -> str:
    """Return a valid name.

    :raises InvalidInput: naming the invalid character and its place.
    """
    problem = name_problem(text)
    if problem is not None:
        raise InvalidInput.of(field, f"{problem}; for example ann@example.edu")
    return text


def name_problem(text: str) -> str | None:
    """Return the problem of a name; None for a valid name."""
    if not 1 <= len(text) <= LONGEST:
        return f"must have 1 to {LONGEST} characters"
    for place, character in enumerate(text, start=1):
        if (problem := _problem_of(character, place)) is not None:
            return problem
    if unicodedata.normalize("NFKC", text) != text:
        return "is written with compatibility characters; write it with the ordinary ones (Unicode NFKC)"
    if not (text[0].isalnum() or text[0] == "_"):
        return "must begin with a letter, a digit or _"
    for part in text.split("@"):  # a name in Cyrillic may be at a host in Latin
        names = (unicodedata.name(one, "") for one in part if one.isalpha())
        scripts = {name.partition(" ")[0] for name in names}.intersection(ALIKE)
        if len(scripts) > 1:
            mixed = " and ".join(script.title() for script in sorted(scripts))
            return f"mixes similar letters of {mixed}"
    return f"{text} is reserved: it stands for the requester" if name_key(text) == ONESELF else None


def name_key(text: str) -> str:
    """Return the key for comparisons of names: two names with one key are easily confused."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _problem_of(character: str, place: int) -> str | None:
    code = f"U+{ord(character):04X}"
    category = unicodedata.category(character)
    if character in INVISIBLE or category == "Cf":
        return f"holds an invisible character, {code}, at place {place}"
    if category[0] in "LN" or character in PUNCTUATION or (category in ("Mn", "Mc") and place > 1):
        return None
    if category[0] in "CZ":
        return f"holds a space or control character, {code}, at place {place}"
    possible = "".join(sorted(PUNCTUATION))
    return f"holds {character!r} ({code}) at place {place}; letters, digits and {possible} are possible"
