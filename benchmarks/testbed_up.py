"""From nothing to a test network, and to the first ping through ADON's rules.

The yardstick is Mininet's own ``net.start`` of the same topology on the same machine, alternately: nodes and
cables alone, without rates, addresses, rules or measurement points.  The whole is what a person waits for:
``adon testbed up`` as it is typed, from its start until a ping over the overlay was answered that a rule of
ADON's had counted, and ``adon testbed down``.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from adon.errors import Unavailable
from benchmarks.lab import isolated
from benchmarks.summary import table
from mininet_topos import networks
from mininet_topos.guest import kernel, machine
from mininet_topos.platforms.names import Platform

INSIDE = "benchmarks.testbed_up_inside"
NETWORK = "mu_osu"
LARGE = "five_sites"
ROUNDS = {Platform.HOST_USER: 3, Platform.GUEST: 3}
BOUNDS = {Platform.HOST_USER: 10.0, Platform.GUEST: 30.0}
"""Seconds to the first ping."""
LARGE_BOUND = 30.0
REMOVAL_BOUND = 3.0
GUEST_LIMIT = 120.0
COMMAND_LIMIT = 180.0
WHOLE = {
    "adon testbed up: first ping": "first ping",
    "adon testbed up: dashboard, tokens": "up",
    "adon testbed down": "down",
}


def run(folder: Path, seed: int) -> dict[str, Any]:  # noqa: ARG001 - all benchmarks are called alike
    """Both ways of building on each platform, alternately; then the whole; then the large network."""
    found: dict[str, Any] = {}
    for platform, rounds in ROUNDS.items():
        try:
            found[platform] = _rounds(platform, folder, rounds)
        except Unavailable as error:  # no guest kernel here
            found[platform] = {"missing": str(error)}
    if LARGE in networks.names():
        found["large"] = [_built(Platform.HOST_USER, "ours", LARGE, folder / f"large-{n}") for n in range(3)]
    return found


def _rounds(platform: Platform, folder: Path, rounds: int) -> dict[str, Any]:
    found: dict[str, Any] = {"ours": [], "mininet": [], "whole": []}
    for number in range(rounds):
        for what in ("ours", "mininet"):
            found[what].append(_built(platform, what, NETWORK, folder / f"{platform}-{what}-{number}"))
        found["whole"].append(_whole(platform, f"bench-{number}"))
    return found


def _built(platform: Platform, what: str, network: str, folder: Path) -> dict[str, Any]:
    """One building, as its own process tells."""
    if platform is Platform.GUEST:
        return _in_guest([sys.executable, "-m", INSIDE, what, network, str(folder)])
    return dict(json.loads(isolated(INSIDE, what, network, str(folder))))


def _in_guest(argv: Sequence[str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="adon-bench-", dir="/var/tmp") as share:
        environment = {"PYTHONPATH": str(machine.PACKAGES), "PYTHONDONTWRITEBYTECODE": "1"}
        with machine.started(kernel.found(), argv, Path(share), environment) as guest:
            try:
                status = guest.wait(GUEST_LIMIT)
            except subprocess.TimeoutExpired as error:
                raise Unavailable(f"the guest took longer than {GUEST_LIMIT:g} s") from error
        if status != 0:
            raise Unavailable((Path(share) / "stderr").read_text()[-2000:])
        return dict(json.loads((Path(share) / "stdout").read_text().splitlines()[-1]))


def _whole(platform: Platform, name: str) -> dict[str, float]:
    """Seconds from the command to the first ping, to the end of the command, and to nothing again."""
    began_at = time.time()
    standing = json.loads(_adon("up", NETWORK, "--name", name, "--platform", platform, "--json"))
    up_at = time.time()
    _adon("down", name)
    if standing["first_ping"] is None:
        raise Unavailable("no ping went through ADON's rules")
    pinged = standing["first_ping"]["at"] - began_at
    return {"first ping": pinged, "up": up_at - began_at, "down": time.time() - up_at}


def _adon(*words: str) -> str:
    argv = [sys.executable, "-m", "apps.cli.main", "testbed", *words]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=COMMAND_LIMIT, check=False)
    if done.returncode != 0:
        raise Unavailable(f"adon testbed {' '.join(words)}: {done.stderr.strip()[-2000:]}")
    return done.stdout


def passed(results: Mapping[str, Any]) -> bool:
    """Whether the median of the first pings, the large network and the removals are within their bounds."""
    good = True
    for platform, bound in BOUNDS.items():
        its = results[platform]
        if "missing" not in its:
            good &= _median(its["whole"], "first ping") < bound
            good &= _median(its["whole"], "down") < REMOVAL_BOUND
    large = [one["network"] for one in results.get("large", ())]
    return good and (not large or statistics.median(large) < LARGE_BOUND)


def _median(values: Sequence[Mapping[str, float]], part: str) -> float:
    return statistics.median(one[part] for one in values)


def report(results: Mapping[str, Any]) -> str:
    """The figures for people."""
    told = [["seconds, median (smallest to largest)", *BOUNDS]]
    rows = {
        "Mininet's net.start: nodes and cables": [("mininet", "network")],
        "ours: all of the network": [("ours", "network")],
        "ours: measurement points": [("ours", "points")],
        "Mininet's net.stop": [("mininet", "network ends")],
        "ours: removal": [("ours", "network ends")],
    }
    for name, ((what, part),) in rows.items():
        told.append([name, *(_spread([one[part] for one in _of(results[p], what)]) for p in BOUNDS)])
    for part in _parts(results):
        values = [[one["parts"][part] for one in _of(results[p], "ours")] for p in BOUNDS]
        told.append([f"of the network: {part}", *map(_spread, values)])
    for name, part in WHOLE.items():
        told.append([name, *(_spread([one[part] for one in _of(results[p], "whole")]) for p in BOUNDS)])
    notes = [f"{p}: {results[p]['missing']}" for p in BOUNDS if "missing" in results[p]]
    if "large" in results:
        built, removed = ([one[part] for one in results["large"]] for part in ("network", "network ends"))
        notes.append(f"{LARGE}: built in {_spread(built)} s, removed in {_spread(removed)} s")
    return "\n\n".join([table(told), *notes])


def _of(its: Mapping[str, Any], what: str) -> list[dict[str, Any]]:
    return list(its.get(what, ()))


def _parts(results: Mapping[str, Any]) -> list[str]:
    return list(_of(results[Platform.HOST_USER], "ours")[0]["parts"])


def _spread(values: Sequence[float]) -> str:
    if not values:
        return "-"
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"
