"""The wheel: complete, and a service that starts from it in any folder."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from collections.abc import Iterator
from email.parser import Parser
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

import adon
from tests.apps.edge import DIES_WITH_US, ROOT, end, eventually, free_port, write_configuration

PACKAGES = ("adon", "apps", "measurement", "mininet_topos")
BESIDE = frozenset({"measurement/pyproject.toml"})
"""Files in the packages' folders that are not theirs: of the measurement point's own wheel."""
OF_THE_SYSTEM = frozenset({"mininet"})
"""What Debian's packages bring and no index has."""
INSEPARABLE = {"pydantic_core": "pydantic"}
"""Modules of distributions that others pin exactly, or whose types are those others' interface."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy of the sources: an old build folder could hide that a file is missing."""
    folder = tmp_path_factory.mktemp("wheel")
    for name in sources():
        (folder / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "source" / name).write_bytes((ROOT / name).read_bytes())
    pip("wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", folder, folder / "source")
    (found,) = folder.glob("adon_sdn-*.whl")
    return found


@pytest.fixture(scope="module")
def venv(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel in it; what it needs is read from where the tests run.

    A line in a ``.pth`` file adds that folder without obeying the ``.pth`` files there: the development
    install of these sources stays out.
    """
    folder = tmp_path_factory.mktemp("installed") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, timeout=120)
    pip("--python", folder / "bin/python", "install", "--no-deps", "--no-index", wheel)
    (site,) = folder.glob("lib/python3*/site-packages")
    own = (sysconfig.get_path(name) for name in ("purelib", "platlib"))
    # Some packages are the system's where the tests' environment shows these, as setup.sh makes it.
    shared = dict.fromkeys((*own, *(path for path in sys.path if path.endswith("-packages"))))
    (site / "shared.pth").write_text("".join(f"{path}\n" for path in shared))
    return folder


def pip(*words: str | Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**environment(), "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr


@cache
def sources() -> tuple[str, ...]:
    beside = ("setup.py", "pyproject.toml", "README.md", "LICENSE")
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *PACKAGES, *beside],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return tuple(name for name in listed.stdout.splitlines() if (ROOT / name).is_file())


@pytest.mark.integration
def test_every_file_of_the_packages_is_in_the_wheel(wheel: Path) -> None:
    expected = {name for name in sources() if name.partition("/")[0] in PACKAGES} - BESIDE
    with zipfile.ZipFile(wheel) as opened:
        inside = set(opened.namelist())
    assert expected - inside == set()
    assert [name for name in inside if name.startswith(("tests", "benchmarks"))] == []


@pytest.mark.integration
def test_its_version_is_the_code_s_and_its_extras_are_documented(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        (name,) = [name for name in opened.namelist() if name.endswith("/METADATA")]
        metadata = Parser().parsestr(opened.read(name).decode())
    assert metadata["Version"] == adon.__version__
    text = (ROOT / "docs/install.md").read_text()
    extras = set(metadata.get_all("Provides-Extra", [])) - {"dev", "bench"}
    assert {extra for extra in extras if f"`{extra}`" not in text} == set()


def imported(file: Path) -> Iterator[str]:
    """The top-level names that a module imports, wherever it does; not those for the type checker alone."""

    def visit(node: ast.AST) -> Iterator[str]:
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                return
            case ast.Import(names=names):
                yield from (name.name.partition(".")[0] for name in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.partition(".")[0]
            case _:
                for child in ast.iter_child_nodes(node):
                    yield from visit(child)

    yield from visit(ast.parse(file.read_text()))


def test_whatever_is_imported_is_required_or_an_extra() -> None:
    listed = (ROOT / "setup.py").read_text()
    wanted = {normal(name) for name in re.findall(r'"([A-Za-z0-9_.-]+)(?:\[\w+\])?[>=]', listed)}
    distributions = packages_distributions()
    missing: dict[str, str] = {}
    for name in sources():
        if not name.endswith(".py") or name == "setup.py":
            continue
        for module in set(imported(ROOT / name)) - sys.stdlib_module_names - set(PACKAGES) - OF_THE_SYSTEM:
            brought = {normal(one) for one in distributions.get(module, [])} | {INSEPARABLE.get(module, "")}
            if not brought & wanted:
                missing[module] = name
    assert missing == {}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_requirements_of_the_measurement_point_alone_are_among_them() -> None:
    alone = tomllib.loads((ROOT / "measurement/pyproject.toml").read_text())["project"]["dependencies"]
    ours = (ROOT / "setup.py").read_text()
    assert [one for one in alone if f'"{one}"' not in ours] == []


# -- installed -----------------------------------------------------------------------------------------------


def environment() -> dict[str, str]:
    """Without what would lead Python to these sources."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "ADON_"))}
    return {**kept, "NO_PROXY": "*"}


def said(venv: Path, folder: Path, *words: str) -> str:
    done = subprocess.run(
        [venv / "bin/adon", *words],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout


@pytest.mark.slow
@pytest.mark.integration
def test_the_installed_code_is_the_wheel_s(venv: Path, tmp_path: Path) -> None:
    program = "import adon, apps, measurement; print(adon.__file__, apps.__file__, measurement.__file__)"
    done = subprocess.run(
        [venv / "bin/python", "-c", program],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert all(str(venv) in path for path in done.stdout.split())
    printed = said(venv, tmp_path, "--version")
    assert re.fullmatch(rf"adon {re.escape(adon.__version__)}\+[0-9a-f]{{12}}\n", printed)
    point = [venv / "bin/adon-measurement-point", "--help"]
    subprocess.run(point, cwd=tmp_path, env=environment(), capture_output=True, check=True, timeout=60)


@pytest.mark.slow
@pytest.mark.integration
def test_it_serves_from_any_folder_and_ends_in_order(venv: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "apps").mkdir(parents=True)
    (elsewhere / "apps/__init__.py").touch()  # a folder of another project
    config, data, secret = write_configuration(tmp_path, free_port()), tmp_path / "data", tmp_path / "token"
    port = yaml.safe_load(config.read_text())["controller"]["web_port"]
    command = [venv / "bin/adon", "serve", "--config", config, "--data", data, "--admin-token-file", secret]
    log = tmp_path / "serve.log"
    with log.open("wb") as output:
        service = subprocess.Popen(
            [*DIES_WITH_US, *map(str, command)],
            cwd=elsewhere,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        url = f"http://127.0.0.1:{port}"
        with requests.Session() as browser:
            browser.trust_env = False
            eventually(lambda: ready(browser, url), f"it does not get ready: {log.read_text()}")
            walk(browser, url, secret.read_text().strip())
        service.terminate()
        assert service.wait(60) == 0
    finally:
        end(service)
    assert "Traceback" not in log.read_text()
    assert [path.name for path in elsewhere.iterdir()] == ["apps"], "it wrote where it was started"
    assert {"state.db", "access.db", "measurements.db"} <= {path.name for path in data.iterdir()}


@pytest.mark.slow
@pytest.mark.integration
def test_foreign_package_on_the_search_path_is_refused_with_a_code(venv: Path, tmp_path: Path) -> None:
    foreign = tmp_path / "foreign/apps"
    foreign.mkdir(parents=True)
    (foreign / "__init__.py").touch()
    done = subprocess.run(
        [venv / "bin/adon", "serve", "--config", "network.yaml", "--data", "data"],
        cwd=tmp_path,
        env={**environment(), "PYTHONPATH": str(foreign.parent)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    assert "package-shadowed: apps:" in done.stderr
    assert "Traceback" not in done.stderr


def ready(browser: requests.Session, url: str) -> bool:
    try:
        return browser.get(f"{url}/api/v1/readyz", timeout=20).status_code == 200
    except requests.RequestException:
        return False


def walk(browser: requests.Session, url: str, token: str) -> None:
    """Sign in by token as a browser does; see the page, one of its files, and ask for a transfer."""
    assert browser.get(f"{url}/api/v1/flows", timeout=60).status_code == 401
    browser.post(f"{url}/sign-in", data={"token": token}, allow_redirects=False, timeout=60)
    page = browser.get(url, allow_redirects=False, timeout=60)
    assert page.status_code == 200
    styles = re.findall(r'(?:href|src)="(/[^"]+\.(?:css|js)[^"]*)"', page.text)
    assert styles
    for style in styles:
        asset = browser.get(url + style, timeout=60)
        assert asset.status_code == 200, style
        assert asset.content
    headers = {"Authorization": f"Bearer {token}"}
    templates: Any = requests.get(f"{url}/api/v1/templates", headers=headers, timeout=60).json()
    assert len(templates["items"]) == 5, "the built-in templates are in the wheel"
    wish = {"source": "mu-dtn", "destination": "osu-dtn", "size": "1 GB", "template": "geni-classroom"}
    asked = requests.post(f"{url}/api/v1/flows", json=wish, headers=headers, timeout=60)
    assert asked.status_code in (201, 202), asked.text
