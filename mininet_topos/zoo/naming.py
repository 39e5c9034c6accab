"""Names that a description takes, from what people call places: few characters, of a-z, 0-9 and ``-``."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import chain, count

from mininet_topos.networks.description import RESERVED
from mininet_topos.networks.graph import MAX_NAME

ENDINGS = ("", "-edge", "-dtn", "-rtr", "-up", "-inet")
"""What the names of a campus and of its parts and links end with."""
SHORTEST = 3


class Names:
    """Names that are not taken yet; what has been given is taken."""

    def __init__(self) -> None:
        self._taken = set(RESERVED)

    def take(self, names: Iterable[str]) -> None:
        """Give these to nobody: interfaces are called so."""
        self._taken.update(names)

    def of_node(self, label: str, otherwise: str) -> str:
        """``kansas-cit`` of ``Kansas City``.

        :param otherwise: instead, of what has no letter that is left.
        """
        return self._first(_shortened(_plain(label) or _plain(otherwise) or "node"))

    def of_campus(self, label: str, otherwise: str) -> str:
        """``kan`` of ``Kansas City``, short enough for the names of its parts."""
        letters = re.sub(r"[^a-z0-9]", "", _plain(label)) or re.sub(r"[^a-z0-9]", "", _plain(otherwise))
        longest = MAX_NAME - max(map(len, ENDINGS))
        letters = letters.ljust(SHORTEST, "x")
        shorter = (letters[:length] for length in range(SHORTEST, longest + 1))
        numbered = (f"{letters[: longest - len(str(number))]}{number}" for number in count(2))
        for name in chain(shorter, numbered):
            if not self._taken.intersection(f"{name}{ending}" for ending in ENDINGS):
                self._taken.update(f"{name}{ending}" for ending in ENDINGS)
                return name
        raise AssertionError("numbers do not end")

    def of_link(self, one: str, other: str) -> str:
        """``kans-st-l`` of a link between ``kansas-cit`` and ``st-louis``."""
        half = (MAX_NAME - 2) // 2
        return self._first([f"{one[:half].rstrip('-')}-{other[:half].rstrip('-')}"])

    def _first(self, wanted: Iterable[str]) -> str:
        wanted = list(wanted)
        numbered = (f"{wanted[0][: MAX_NAME - len(str(number))].rstrip('-')}{number}" for number in count(2))
        name = next(name for name in chain(wanted, numbered) if name not in self._taken)
        self._taken.add(name)
        return name


def _plain(label: str) -> str:
    """Lower case without accents; everything else becomes one ``-``; begins with a letter."""
    ascii_ = unicodedata.normalize("NFKD", label).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", ascii_).strip("-")
    return words if not words or words[0].isalpha() else f"n{words}"


def _shortened(words: str) -> list[str]:
    """One that fits: the whole, else its beginning."""
    cut = words[:MAX_NAME].rstrip("-")
    return [cut if len(cut) > 1 else f"{cut}1"]
