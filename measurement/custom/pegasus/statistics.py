"""``pegasus-statistics -s summary``: a table of tasks, jobs and sub-workflows, and times in words.

Pegasus computes "Incomplete" as a difference, and prints it below zero where its database lacks tasks.
"""

from __future__ import annotations

import re

from measurement.custom.pegasus.model import Statistics, Tally

_TALLY = re.compile(r"^\s*(Tasks|Jobs|Sub-Workflows)((?:[ \t]+(?:-?[\d,]+|-)){6})[ \t]*$", re.MULTILINE)
_TIME = re.compile(r"^\s*((?:Workflow|Cumulative job)[a-z -]*?)\s*: (.*)$", re.MULTILINE)
_PART = re.compile(r"([\d.,]+) (year|day|hr|min|sec)s?")
_SECONDS = {"year": 31_536_000.0, "day": 86_400.0, "hr": 3_600.0, "min": 60.0, "sec": 1.0}


def read_statistics(text: str) -> Statistics:
    """The summary.

    :raises ValueError: when a line of its table is missing.
    """
    tallies = {name: _tally(numbers) for name, numbers in _TALLY.findall(text)}
    times = {name: _seconds(words) for name, words in _TIME.findall(text)}
    try:
        return Statistics(
            tallies["Tasks"],
            tallies["Jobs"],
            tallies["Sub-Workflows"],
            times.get("Workflow wall time"),
            times.get("Cumulative job wall time"),
            times.get("Cumulative job wall time as seen from submit side"),
            times.get("Cumulative job badput wall time"),
        )
    except KeyError as error:
        raise ValueError(f"there is no line {error.args[0]} in its table") from None


def _tally(numbers: str) -> Tally:
    # "-" stands where it does not apply, as for the retries of tasks in some versions.
    whole = [0 if word == "-" else int(word.replace(",", "")) for word in numbers.split()]
    return Tally(*whole[:5])


def _seconds(words: str) -> float | None:
    parts = _PART.findall(words)
    if not parts:
        return None
    return sum(float(number.replace(",", "")) * _SECONDS[unit] for number, unit in parts)
