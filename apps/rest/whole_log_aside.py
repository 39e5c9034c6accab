"""The process that goes through the whole audit log: ``python -m apps.rest.whole_log_aside``.

:mod:`apps.rest.whole_log` starts it.  A question is a line of JSON on standard input; the answer is a line of
JSON (``bytes``, and ``problem`` if the log cannot be read), then so many bytes.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from adon.access.audit import Outcome
from adon.access.audit_export import csv_rows, json_lines
from adon.errors import AdonError
from adon.store.access.audit import Audit, Wanted
from adon.store.access.database import AccessStore
from apps.rest.whole_log import ENVIRONMENT

IDLE_S = 60.0
"""Without a question for so long, it ends."""
NICENESS = 10


def main() -> int:
    """Answer until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: the web process ends us when it is done
    os.nice(NICENESS)
    with AccessStore.open(os.environ[ENVIRONMENT]) as store:
        audit = Audit(store)
        while select.select([sys.stdin], [], [], IDLE_S)[0] and (line := sys.stdin.readline()):
            head, body = answered(audit, json.loads(line))
            sys.stdout.buffer.write(json.dumps(head).encode() + b"\n" + body)
            sys.stdout.buffer.flush()
    return 0


def answered(audit: Audit, question: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
    """The answer's head and body."""
    try:
        body = _verified(audit) if question["do"] == "verify" else _exported(audit, question)
    except AdonError as error:
        return {"bytes": 0, "problem": str(error)}, b""
    return {"bytes": len(body), "problem": None}, body


def _verified(audit: Audit) -> bytes:
    return json.dumps(asdict(audit.verify())).encode()


def _exported(audit: Audit, question: Mapping[str, Any]) -> bytes:
    asked = dict(question["wanted"])
    if asked["outcome"] is not None:
        asked["outcome"] = Outcome(asked["outcome"])
    lines = audit.values(Wanted(**asked))
    return "".join(csv_rows(lines) if question["form"] == "csv" else json_lines(lines)).encode()


if __name__ == "__main__":
    sys.exit(main())
