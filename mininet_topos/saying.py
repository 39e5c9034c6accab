"""What the programs in a test network's hosts say: one JSON object per line of standard output."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import Any

NOBODY_LISTENS = 3
"""Exit status of a program whose words nobody takes any more."""


def say(message: Mapping[str, Any]) -> None:
    """Say it now.

    :raises SystemExit: if nobody listens any more: whoever started the program has gone.
    """
    try:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # What was not taken would be written once more at the end, and fail with a traceback.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(NOBODY_LISTENS) from None
