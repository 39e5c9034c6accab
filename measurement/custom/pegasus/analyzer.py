"""``pegasus-analyzer``: how many jobs succeeded, and for each that failed where and how.

After the summary it prints what the jobs themselves wrote, which may look like anything; with ``-q`` only the
error file of a job that left no record.  So counts are taken from the first section only, and no more
failures than it counts; the jobs' own output is never kept.
"""

from __future__ import annotations

import re

from measurement.custom.pegasus.model import Analysis, FailedJob

_SECTION = re.compile(r"^\s*\*{10,}(?P<title>[^*]+)\*{10,}\s*$", re.MULTILINE)
_COUNT = re.compile(
    r"^\s*(?:# jobs )?(?P<what>Total jobs|succeeded|failed|held|unsubmitted|unknown)\s*:\s*(?P<n>\d+) \(",
    re.MULTILINE,
)
_JOB = re.compile(r"^\s*={4,}(?P<name>[^=\s]+)={4,}\s*$", re.MULTILINE)
_LAST = re.compile(r"^\s*last state: (\S+)\s*$", re.MULTILINE)
_SITE = re.compile(r"^\s*site: (\S+)\s*$", re.MULTILINE)
_EXIT = re.compile(r"^\s*(?:exitcode|error)\s+: (-?\d+)\s*$", re.MULTILINE)


def read_analysis(text: str) -> Analysis:
    """What it found.

    :raises ValueError: when there is no summary in it.
    """
    sections = _sections(text)
    counts = {found["what"]: int(found["n"]) for found in _COUNT.finditer(sections.get("Summary", ""))}
    try:
        total, succeeded, failed = counts["Total jobs"], counts["succeeded"], counts["failed"]
    except KeyError as error:
        raise ValueError(f"there is no line {error.args[0]!r} in its summary") from None
    held, unsubmitted, unknown = (counts.get(name, 0) for name in ("held", "unsubmitted", "unknown"))
    failures = _failures(sections.get("Failed jobs' details", ""))[:failed]
    return Analysis(total, succeeded, failed, held, unsubmitted, unknown, tuple(failures))


def _sections(text: str) -> dict[str, str]:
    # The first of each name: what a job printed comes after, and cannot stand in for it.
    sections: dict[str, str] = {}
    for title, body in _parts(_SECTION, text):
        sections.setdefault(title["title"].strip(), body)
    return sections


def _failures(details: str) -> list[FailedJob]:
    return [
        FailedJob(job["name"], _first(_LAST, part), _first(_SITE, part), _exit_code(part))
        for job, part in _parts(_JOB, details)
        if _LAST.search(part) is not None
    ]


def _parts(heading: re.Pattern[str], text: str) -> list[tuple[re.Match[str], str]]:
    # Each heading with what is below it.
    found = list(heading.finditer(text))
    ends = [*(following.start() for following in found[1:]), len(text)]
    return [(title, text[title.end() : end]) for title, end in zip(found, ends, strict=False)]


def _first(pattern: re.Pattern[str], part: str) -> str | None:
    found = pattern.search(part)
    # "-" is how Pegasus prints what its database does not know.
    return None if found is None or found[1] == "-" else found[1]


def _exit_code(part: str) -> int | None:
    found = _first(_EXIT, part)
    return None if found is None else int(found)
