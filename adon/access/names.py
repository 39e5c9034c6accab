"""Names of users: which ones can be told apart by a person who reads them.

A name goes into addresses, logs, exports and the owner's column of every flow.  What looks like another name
and is not (Unicode TR 36, TR 39) is refused rather than repaired: the one who asks must see what is meant.
"""

from __future__ import annotations

import unicodedata

from adon.errors import InvalidInput

LONGEST = 200
PUNCTUATION = frozenset("._-@+:=~")
"""What a name may hold beside letters, digits and marks."""
ONESELF = "me"
"""What stands for the one who asks in an address."""
INVISIBLE = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"
    + "".join(map(chr, range(0x180B, 0x1810)))
    + "".join(map(chr, range(0xFE00, 0xFE10)))
    + "".join(map(chr, range(0xE0000, 0xE01F0)))
)
"""Letters and marks that show nothing (Default_Ignorable_Code_Point); the rest of them is category Cf."""
ALIKE = ("LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "CHEROKEE", "COPTIC")
"""Scripts whose letters look like each other's: one name is written in one of them."""


def checked_name(text: str, field: str = "name") -> str:
    """The name, if it can be one.

    :raises InvalidInput: saying what cannot be in a name, and where.
    """
    problem = name_problem(text)
    if problem is not None:
        raise InvalidInput.of(field, problem)
    return text


def name_problem(text: str) -> str | None:
    """What is wrong with a name; None if nothing is."""
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
        scripts = {script for script in map(_script, part) if script in ALIKE}
        if len(scripts) > 1:
            told = " and ".join(script.title() for script in sorted(scripts))
            return f"mixes letters that look alike, of {told}"
    return f"{text} is no name: it stands for whoever asks" if name_key(text) == ONESELF else None


def name_key(text: str) -> str:
    """A name as it is compared with others: two names with one key would be mistaken for each other."""
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


def _script(character: str) -> str:
    if not character.isalpha():
        return ""
    return unicodedata.name(character, "").partition(" ")[0]
