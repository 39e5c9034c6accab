"""Start of the command ``adon``, and the check that its packages were installed together.

The distribution has four top-level packages with common names.  A package ``apps`` or ``measurement`` of
another project that comes earlier on Python's search path would run in place of ours, or end in an
``ImportError`` that names neither the cause nor the remedy.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import adon
from adon.errors import InvalidInput, Problem

PACKAGES = ("apps", "measurement", "mininet_topos")


def check_packages(home: Path | None = None) -> None:
    """Check that all packages are in the folder of the package ``adon``.

    :param home: the folder that must hold them; by default the one that holds ``adon``.
    :raises InvalidInput: code ``package-shadowed``; names each foreign package and its folder.
    """
    home = home or Path(adon.__file__).resolve().parent.parent
    problems = []
    for name in PACKAGES:
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            problems.append(Problem(name, f"is not installed in {home}", code="package-shadowed"))
        elif (found := Path(spec.origin).resolve().parent.parent) != home:
            cause = f"comes from {found}; expected {home}: check PYTHONPATH, or use a new venv"
            problems.append(Problem(name, cause, code="package-shadowed"))
    if problems:
        raise InvalidInput(problems)


def main() -> None:
    """Run the command line; exit status 2 if its packages are shadowed."""
    try:
        check_packages()
    except InvalidInput as error:
        for problem in error.problems:
            sys.stderr.write(f"adon: {problem.code}: {problem}\n")
        sys.exit(2)
    import_module("apps.cli.main").main()
