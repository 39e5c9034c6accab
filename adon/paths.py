"""What a name that somebody wrote leads to on the disk.

:class:`pathlib.Path` raises an error for a name that no file can have (longer than 255 bytes), or that lies
where nobody may look.  Whoever asks about a name wants to hear only that nothing is there.
"""

from __future__ import annotations

import os
from pathlib import Path


def is_file(path: Path) -> bool:
    """Whether a file is there, as far as one can see."""
    return os.path.isfile(path)  # noqa: PTH113 - see above


def is_folder(path: Path) -> bool:
    """Whether a folder is there, as far as one can see."""
    return os.path.isdir(path)  # noqa: PTH112 - see above
