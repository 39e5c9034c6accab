"""What a configuration that is valid is still worth a second look for: ``adon config check`` warns of it.

None of it keeps ADON from starting: a file may be put in its place later, and permissions are the
administrator's to judge.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from adon import yamlfile
from adon.config import Configuration
from adon.config.types import PINNED, is_loopback
from adon.errors import Problem
from apps.config_files import NamedFile, Place, files_of

GIVEN_AT_THE_START = Path("/run/credentials")
"""Where systemd puts secrets when it starts a service (LoadCredential=): not there before."""

NOT_VERIFIED = "certificates are not verified, so another host can take its place; name a PEM file"
Found = tuple[Place, Problem]


def warnings(
    configuration: Configuration, file: Path, not_planned: Iterable[str] = (), shown: Mapping[str, str] = {}
) -> list[Problem]:
    """Everything worth a second look, each with file, line and field.

    :param file: what the configuration was read from.
    :param not_planned: the notes of its measurement plan.
    :param shown: by measurement point the fingerprint that its server shows.
    :raises InvalidInput: if it cannot be read any more.
    """
    _, lines = yamlfile.read_yaml(file.read_text("utf-8-sig"), str(file))
    found: list[Found] = [
        *_of_files(configuration, file.parent),
        *_of_the_web(configuration),
        *_of_sites(configuration),
        *_of_measurements(configuration, shown),
        *(_problem(("measurements", "psconfig"), note, code="not-planned") for note in not_planned),
    ]
    told = []
    for place, problem in found:
        line, column = lines.of(place) or (None, None)
        told.append(replace(problem, file=str(file), line=line, column=column))
    return sorted(told, key=lambda one: one.line or 0)


def _problem(place: Place, cause: str, *, code: str) -> Found:
    return place, Problem(".".join(map(str, place)), cause, code=code)


def _of_files(configuration: Configuration, folder: Path) -> Iterator[Found]:
    for one in files_of(configuration):
        path = one.path(folder)
        if not one.beside_ours and not path.is_absolute():
            cause = f"{one.text} is relative to the folder in which adon serve starts; write an absolute path"
            yield _problem(one.place, cause, code="relative-file")
        if path.is_relative_to(GIVEN_AT_THE_START):
            continue
        yield from _of_file(one, path)


def _of_file(one: NamedFile, path: Path) -> Iterator[Found]:
    try:
        found = path.stat()
    except FileNotFoundError:
        yield _problem(one.place, f"there is no file {path}", code="unreadable")
        return
    except OSError as error:
        cause = f"{path} cannot be looked at: {error.strerror}; check as the user that adon serve runs as"
        yield _problem(one.place, cause, code="unreadable")
        return
    mode = stat.S_IMODE(found.st_mode)
    if stat.S_ISDIR(found.st_mode):
        yield _problem(one.place, f"{path} is a folder", code="unreadable")
    elif one.secret and mode & stat.S_IROTH:
        cause = f"{path} is secret, but all users can read it (mode {mode:04o}): chmod o= {path}"
        yield _problem(one.place, cause, code="file-mode")
    elif mode & stat.S_IWOTH:
        yield _problem(
            one.place, f"everybody can change {path} (mode {mode:04o}): chmod o-w {path}", code="file-mode"
        )


def _of_the_web(configuration: Configuration) -> Iterator[Found]:
    controller, access = configuration.controller, configuration.access
    if controller.web_proxies:
        return
    if not is_loopback(controller.web_host):
        cause = "tokens and cookies cross the network unprotected: put a web server with TLS in front"
        cause = f"{cause} (adon deploy nginx), and name it in web_proxies"
        yield _problem(("controller", "web_host"), cause, code="unprotected")
    if access is not None and access.public_url is not None and access.public_url.startswith("https"):
        cause = "is https, but controller.web_proxies names no web server that ends TLS for us"
        yield _problem(("access", "public_url"), cause, code="unprotected")


def _of_sites(configuration: Configuration) -> Iterator[Found]:
    reached = {site for path in configuration.paths.values() for site in path.ends}
    if configuration.overlays:
        return  # their paths are computed while ADON runs
    for name in configuration.sites:
        if name not in reached:
            yield _problem(
                ("sites", name), "no path ends here: nothing can be moved from it, or to it", code="unreached"
            )


def _of_measurements(configuration: Configuration, shown: Mapping[str, str]) -> Iterator[Found]:
    measurements, health = configuration.measurements, configuration.health
    for name, point in measurements.points.items():
        if point.verify == "none":
            yield _problem(("measurements", "points", name, "verify"), NOT_VERIFIED, code="unverified")
        if point.verify.startswith(PINNED) and shown.get(name, point.verify) != point.verify:
            cause = f"the server shows another certificate: {shown[name]}"
            yield _problem(("measurements", "points", name, "verify"), cause, code="point-untrusted")
    for number, archive in enumerate(measurements.archives):
        if archive.verify == "none":
            yield _problem(("measurements", "archives", number, "verify"), NOT_VERIFIED, code="unverified")
    tested = {test.path for test in measurements.tests}
    tested |= set() if health is None else {key.path for key in health.paths().values()}
    untested = [name for name in configuration.paths if name not in tested]
    if untested and not tested:
        cause = "no test measures the paths, so their quality is not known; add points and tests"
        yield _problem(("measurements",), cause, code="unmeasured")
        return
    for name in untested:
        cause = "no test measures this path, so its quality is not known; add one to measurements.tests"
        yield _problem(("paths", name), cause, code="unmeasured")
