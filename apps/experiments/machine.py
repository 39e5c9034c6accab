"""Versions and machine of a run, for its report."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from importlib import metadata

from adon.code_version import code_version

LIBRARIES = ("os-ken", "numpy", "scipy")
PROGRAMS = {"Open vSwitch": ("ovs-vswitchd", "--version"), "iproute2": ("tc", "-V")}


def versions() -> dict[str, str]:
    """Of programs and libraries; one that is not there is left out."""
    found = {"ADON": code_version(), "Python": sys.version.split()[0]}
    for library in LIBRARIES:
        try:
            found[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            continue
    for name, argv in PROGRAMS.items():
        line = _first_line(*argv)
        if line:
            found[name] = line
    return found


def machine() -> dict[str, str]:
    """Processors, memory and kernel, in words."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "processors": str(os.cpu_count()),
        "memory": f"{memory / 2**30:.1f} GiB",
        "kernel": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
    }


def _first_line(*argv: str) -> str:
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = done.stdout.splitlines()
    return lines[0] if lines else ""
