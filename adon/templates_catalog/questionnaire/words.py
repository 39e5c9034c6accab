"""What answers in words mean: one table, from which the drafts and the help texts are made.

Who fills in a survey says "little or no packet loss" ([ADON] 4.1), not "0.1 %".  Each :class:`Vocabulary`
belongs to one question and knows its words, the phrases that mean the same, what they become in a template,
and where that number is from.  A figure with its unit is always understood too, and then taken as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from adon.frozenmap import FrozenMap
from adon.units import parse_duration, parse_ratio

ANY = "any"
"""The answer that asks for nothing."""

SHOWN = 40
"""Characters of a wrong answer that are told back."""


@dataclass(frozen=True, slots=True)
class Word:
    """One answer.

    :param phrases: what people say instead.
    :param means: fields of the template by their dotted path, as written there; nothing for "any".
    :param because: where the number is from.
    """

    answer: str
    phrases: tuple[str, ...] = ()
    means: Mapping[str, Any] = field(default_factory=FrozenMap)
    because: str = ""


def _no_figure(_text: str) -> Word | None:
    return None


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of one question.

    :param figure: understands an answer that is a figure; None for one that is none.
    :param example: of such a figure; empty where none is taken.
    """

    question: str
    words: tuple[Word, ...]
    figure: Callable[[str], Word | None] = _no_figure
    example: str = ""

    def word(self, text: object) -> Word:
        """What an answer means.

        :raises ValueError: for one that nobody knows, naming those that are known.
        """
        said = " ".join(str(text).lower().split()).rstrip(".!")
        for word in self.words:
            if said == word.answer or said in word.phrases:
                return word
        found = self.figure(said)
        if found is not None:
            return found
        known = ", ".join(repr(word.answer) for word in self.words)
        figure = f", or a figure such as {self.example!r}" if self.example else ""
        raise ValueError(f"{str(text)[:SHOWN]!r} is not understood; say {known}{figure}")

    def read(self, text: object) -> str:
        """An answer in its one spelling.

        :raises ValueError: as :meth:`word`; also for what is no text.
        """
        if not isinstance(text, str):
            raise ValueError(f"{str(text)[:SHOWN]!r} is not a text; say for example {self.words[0].answer!r}")
        return self.word(text).answer


AS_ANSWERED = "as answered"
_WAY = re.compile(r"(?P<span>.+?)\s+(?P<way>round[ -]trip|one[ -]way)")


def _loss(text: str) -> Word | None:
    try:
        parse_ratio(text)
    except ValueError:
        return None
    return Word(text, means={"qspec.loss": {"max": text}}, because=AS_ANSWERED)


def _jitter(text: str) -> Word | None:
    return Word(text, means={"qspec.jitter": {"max": text}}, because=AS_ANSWERED) if _positive(text) else None


def _delay(text: str) -> Word | None:
    found = _WAY.fullmatch(text)
    if found is None or not _positive(found["span"]):
        return None
    metric = "rtt" if found["way"].startswith("round") else "one_way_delay"
    return Word(text, means={f"qspec.{metric}": {"max": found["span"]}}, because=AS_ANSWERED)


def _positive(text: str) -> bool:
    try:
        return parse_duration(text) > 0
    except ValueError:
        return False


LOSS = Vocabulary(
    "loss",
    (
        Word(
            "none",
            ("no loss", "no packet loss", "zero", "not a single packet"),
            {"qspec.loss": {"max": "0.01 %"}},
            "no loss: less than a measurement can tell from none (as the built-in neuroblastoma)",
        ),
        Word(
            "little",
            ("little or no loss", "little or no packet loss", "low loss", "hardly any"),
            {"qspec.loss": {"max": "0.1 %"}},
            "little or no packet loss ([ADON] 4.1); the number is the built-in soykb's",
        ),
        Word(
            "some",
            ("a little", "now and then", "some loss"),
            {"qspec.loss": {"max": "0.5 %"}},
            "some loss: what a video decoder conceals (as the built-in eldercare)",
        ),
        Word(
            "noticeable",
            ("flaws may be seen", "visible flaws are fine"),
            {"qspec.loss": {"max": "1 %"}},
            "loss may be noticed (as the built-in rivvir)",
        ),
        Word(ANY, ("does not matter", "irrelevant", "no matter")),
    ),
    _loss,
    "0.2 %",
)

RESPONSE = Vocabulary(
    "response",
    (
        Word(
            "typing",
            ("remote desktop", "a terminal", "as at my own desk"),
            {"qspec.rtt": {"max": "150 ms", "target": "50 ms"}},
            "somebody types and sees the echo: 150 ms feel slow, 50 ms are not felt (geni-classroom)",
        ),
        Word(
            "steering",
            ("interactive", "somebody steers what is shown"),
            {"qspec.one_way_delay": {"max": "50 ms"}},
            "somebody steers what is shown: 50 ms one way (journal version, t1; rivvir)",
        ),
        Word(
            "conversation",
            ("video session", "people talk"),
            {"qspec.one_way_delay": {"max": "30 ms"}},
            "people see and talk to each other: 30 ms one way (journal version, t2; eldercare)",
        ),
        Word(ANY, ("does not matter", "irrelevant", "no matter", "nobody waits for single packets")),
    ),
    _delay,
    "80 ms round trip",
)

STEADINESS = Vocabulary(
    "steadiness",
    (
        Word(
            "very steady",
            ("deterministic", "steady for a whole session"),
            {"qspec.jitter": {"max": "0.5 ms", "target": "0.22 ms"}},
            "steady for a whole session: 0.44 ms were reported as too much and 0.22 ms as good (eldercare)",
        ),
        Word(
            "steady",
            ("low jitter", "smooth"),
            {"qspec.jitter": {"max": "1 ms", "target": "0.45 ms"}},
            "low jitter: 0.58 ms were reported before and 0.45 ms after ADON (rivvir); the bound is ours",
        ),
        Word(ANY, ("does not matter", "irrelevant", "no matter")),
    ),
    _jitter,
    "2 ms",
)

URGENCY = Vocabulary(
    "urgency",
    (
        Word("background", ("whenever", "low"), {"priority": 200}, "may wait for everybody else"),
        Word(
            "normal",
            ("medium", "routine"),
            {"priority": 500},
            "priority medium (journal version): ours is 500",
        ),
        Word(
            "people wait",
            ("high", "a session with people", "urgent"),
            {"priority": 700},
            "priority high (journal version): people take part; ours is 700",
        ),
        Word(
            "deadline",
            ("tight deadline", "very high"),
            {"priority": 800},
            "priority high, and a deadline ([ADON] 5.2, t3: Neuroblastoma goes before SoyKB); ours is 800",
        ),
    ),
)

MOVES = Vocabulary(
    "moves",
    (
        Word("any time", ("whenever it helps", "yes")),
        Word(
            "only for a clear gain",
            ("rather not", "deterministic path", "no"),
            {"selection.switch_margin": 3.0, "selection.min_dwell": "5 min"},
            "a session moves only for a clear gain (eldercare: deterministic path)",
        ),
    ),
)

COUNTS = Vocabulary(
    "counts",
    (
        Word(
            "time until the result",
            ("time until the result counts", "speed", "throughput", "how soon it is there"),
            {"metric": "throughput"},
        ),
        Word("no loss", ("loss", "little or no loss", "nothing is lost"), {"metric": "loss"}),
        Word("prompt answers", ("delay", "response", "how it feels"), {"metric": "delay"}),
        Word("steadiness", ("jitter", "smoothness"), {"metric": "jitter"}),
    ),
)

VOCABULARIES = (LOSS, RESPONSE, STEADINESS, URGENCY, MOVES, COUNTS)
