"""What a configuration that is valid is still worth a second look for: ``adon config check`` warns of it.

None of it keeps ADON from starting: a file may be put in its place later, and permissions are the
administrator's to judge.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

from adon import yamlfile
from adon.config import Configuration
from adon.config.connecting import is_loopback
from adon.errors import Problem
from apps.config_files import NamedFile, Place, files_of

GIVEN_AT_THE_START = Path("/run/credentials")
"""Where systemd puts secrets when it starts a service (LoadCredential=): not there before."""

Found = tuple[Place, str]


def warnings(configuration: Configuration, file: Path) -> list[Problem]:
    """Everything worth a second look, each with file, line and field.

    :param file: what the configuration was read from.
    :raises InvalidInput: if it cannot be read any more.
    """
    _, lines = yamlfile.read_yaml(file.read_text("utf-8-sig"), str(file))
    found = [*_of_files(configuration, file.parent), *_of_the_web(configuration), *_of_sites(configuration)]
    told = []
    for place, cause in found:
        line, column = lines.of(place) or (None, None)
        told.append(Problem(".".join(map(str, place)), cause, str(file), line, column))
    return sorted(told, key=lambda one: one.line or 0)


def _of_files(configuration: Configuration, folder: Path) -> Iterator[Found]:
    for one in files_of(configuration):
        path = one.path(folder)
        if not one.beside_ours and not path.is_absolute():
            yield one.place, f"{one.text} counts from where adon serve is started; write it from / on"
        if path.is_relative_to(GIVEN_AT_THE_START):
            continue
        yield from ((one.place, cause) for cause in _of_file(one, path))


def _of_file(one: NamedFile, path: Path) -> Iterator[str]:
    try:
        found = path.stat()
    except FileNotFoundError:
        yield f"there is no file {path}"
        return
    except OSError as error:
        yield f"{path} cannot be looked at: {error.strerror}; check as the user that adon serve runs as"
        return
    mode = stat.S_IMODE(found.st_mode)
    if stat.S_ISDIR(found.st_mode):
        yield f"{path} is a folder"
    elif one.secret and mode & stat.S_IROTH:
        yield f"{path} is secret, and everybody can read it (mode {mode:04o}): chmod o= {path}"
    elif mode & stat.S_IWOTH:
        yield f"everybody can change {path} (mode {mode:04o}): chmod o-w {path}"


def _of_the_web(configuration: Configuration) -> Iterator[Found]:
    controller, access = configuration.controller, configuration.access
    if controller.web_proxies:
        return
    if not is_loopback(controller.web_host):
        cause = "tokens and cookies cross the network unprotected: put a web server with TLS in front"
        yield ("controller", "web_host"), f"{cause} (adon deploy nginx), and name it in web_proxies"
    if access is not None and access.public_url is not None and access.public_url.startswith("https"):
        cause = "is https, but controller.web_proxies names no web server that ends TLS for us"
        yield ("access", "public_url"), cause


def _of_sites(configuration: Configuration) -> Iterator[Found]:
    reached = {site for path in configuration.paths.values() for site in path.ends}
    if configuration.overlays:
        return  # their paths are computed while ADON runs
    for name in configuration.sites:
        if name not in reached:
            yield ("sites", name), "no path ends here: nothing can be moved from it, or to it"
