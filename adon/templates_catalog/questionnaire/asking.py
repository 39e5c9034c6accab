"""The survey as it is asked: questions in order, and what was typed made into answers.

The terminal asks these questions; the texts that it gets are made by :func:`typed` into
:class:`~adon.templates_catalog.questionnaire.answers.Answers`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import TypeAdapter, ValidationError

from adon import yamlfile
from adon.templates_catalog.questionnaire.answers import Answers
from adon.templates_catalog.questionnaire.words import (
    COUNTS,
    LOSS,
    MOVES,
    RESPONSE,
    STEADINESS,
    URGENCY,
    Vocabulary,
)

Typed = Mapping[str, str]


def _always(_typed: Typed) -> bool:
    return True


def _analysed(typed: Typed) -> bool:
    return _yes(typed.get("analysed", ""))


def _transfer(typed: Typed) -> bool:
    return typed.get("kind", "transfer").strip() != "session"


@dataclass(frozen=True, slots=True)
class Question:
    """One question.

    :param key: the answer's name in a file of answers.
    :param example: an answer, as it is typed.
    :param default: what an empty answer means; "" leaves it out.
    :param offered: its only answers, where no vocabulary has them.
    :param asked: whether it is to be asked, from what was typed before.
    """

    key: str
    text: str
    shape: Literal["text", "whole", "list", "yes or no", "ranking"] = "text"
    example: str = ""
    default: str = ""
    required: bool = False
    vocabulary: Vocabulary | None = None
    offered: tuple[str, ...] = ()
    asked: Callable[[Typed], bool] = _always

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that it understands; a vocabulary may take a figure, too."""
        if self.vocabulary is not None:
            return tuple(word.answer for word in self.vocabulary.words)
        return ("yes", "no") if self.shape == "yes or no" else self.offered


QUESTIONS: tuple[Question, ...] = (
    Question("application", "What is the application called?", example="soykb", required=True),
    Question("title", "What would a colleague call it?", example="SoyKB sequencing data transfer"),
    Question("purpose", "What is it for, and who waits for what?", example="raw data to the HPC site"),
    Question(
        "kind",
        "Is it a transfer (an amount that must be there in a time) or a session (a rate while it lasts)?",
        example="transfer",
        default="transfer",
        offered=("transfer", "session"),
    ),
    Question("amount", "How much data is moved at once?", example="25 GB", asked=_transfer),
    Question(
        "within", "Within which time must it be there, to be fast enough?", example="5 min", asked=_transfer
    ),
    Question("rate", "Which rate does one transfer or session need, if that is known?", example="700 Mbps"),
    Question("fastest", "What is the most that its hosts can send, receive or store?", example="10 Gbps"),
    Question("sessions", "How many of them are there at once?", "whole", example="30", default="1"),
    Question("loss", "How much packet loss can it bear?", example="little", default="any", vocabulary=LOSS),
    Question(
        "response",
        "Does somebody wait for each answer?",
        example="typing",
        default="any",
        vocabulary=RESPONSE,
    ),
    Question(
        "steadiness", "How steady must it be?", example="very steady", default="any", vocabulary=STEADINESS
    ),
    Question(
        "counts",
        "What counts, the most important first? (with = between two that count the same)",
        "ranking",
        example="time until the result, no loss",
        default="time until the result",
        vocabulary=COUNTS,
    ),
    Question("urgency", "How urgent is it?", example="normal", default="normal", vocabulary=URGENCY),
    Question(
        "moves",
        "May it change its path while it runs?",
        example="any time",
        default="any time",
        vocabulary=MOVES,
    ),
    Question("waits", "How long may a request wait for its turn?", example="2 h"),
    Question("transport", "Does it use tcp or udp?", example="tcp", default="tcp", offered=("tcp", "udp")),
    Question("parallel", "How many streams does its tool open for one?", "whole", example="16", default="1"),
    Question("ports", "Which ports of the destination does it use?", "list", example="1247, 20000-20199"),
    Question("dscp", "With which DSCP are its packets marked?", "whole", example="46"),
    Question(
        "analysed", "Do jobs work on the data, which may be placed here or there?", "yes or no", "yes", "no"
    ),
    Question("nodes", "How many worker nodes do they need?", "whole", example="4", asked=_analysed),
    Question("cores", "How many cores?", "whole", example="8", asked=_analysed),
    Question("memory", "How much memory?", example="16 GB", asked=_analysed),
    Question(
        "saves",
        "What is to be saved: time, money or both?",
        example="time",
        offered=("time", "money", "both"),
        asked=_analysed,
    ),
    Question(
        "result_share",
        "How large is the result, as a share of the raw data?",
        example="10 %",
        asked=_analysed,
    ),
    Question(
        "result_home", "Must the result come back to where the data was?", "yes or no", "no", asked=_analysed
    ),
    Question("storage", "How much storage does it need at the destination?", example="2 TB"),
    Question("software", "Which software must be there?", "list", example="irods, pegasus"),
    Question("sites", "To which sites may it go? (none: to all)", "list", example="osu, tacc"),
)


def typed(said: Typed) -> Answers:
    """The survey, from what was typed; what was left empty is left out.

    :raises InvalidInput: with every problem found.
    """
    raw: dict[str, Any] = {}
    for question in QUESTIONS:
        text = said.get(question.key, "").strip() or question.default
        if text and question.asked(said):
            raw[question.key] = _value(question, text)
    return yamlfile.check_model(raw, Answers)


def objection(question: Question, text: str) -> str:
    """What is wrong with one answer by itself; empty if nothing is.

    Whether it contradicts another one is seen when all are there.
    """
    text = text.strip()
    if not text:
        return "needs an answer" if question.required else ""
    try:
        _reader(question.key).validate_python(_value(question, text), strict=False)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        return str(first["ctx"]["error"]) if first["type"] == "value_error" else str(first["msg"])
    return ""


@cache
def _reader(key: str) -> TypeAdapter[Any]:
    field = Answers.model_fields[key]
    # What stands in an Annotated was taken apart by pydantic, and is put together again here.
    annotation: Any = field.annotation
    return TypeAdapter(Annotated[(annotation, *field.metadata)] if field.metadata else annotation)


def _value(question: Question, text: str) -> object:
    match question.shape:
        case "whole":
            return int(text) if text.isdecimal() and len(text) < 10 else text
        case "list":
            return [int(part) if part.isdecimal() else part for part in _parts(text, ",")]
        case "ranking":
            return [_parts(place, "=") for place in _parts(text, ",")]
        case "yes or no":
            return _yes(text) if text.lower() in ("yes", "y", "true", "no", "n", "false") else text
        case _:
            return text


def _parts(text: str, sign: str) -> list[str]:
    return [part.strip() for part in text.split(sign) if part.strip()]


def _yes(text: str) -> bool:
    return text.strip().lower() in ("yes", "y", "true")
