"""The point as a distribution of its own: what it brings and needs, and that it measures when installed."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[3] / "measurement"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
ENTRY = "measurement.point.main"


def source(module: str) -> Path | None:
    inner = ROOT.joinpath(*module.split(".")[1:])
    found = (inner / "__init__.py", inner.with_suffix(".py"))
    return next((file for file in found if file.is_file()), None)


def imported(file: Path, module: str) -> Iterator[str]:
    assert "from ." not in file.read_text()  # imports are absolute, as is assumed here
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


def closure() -> tuple[set[str], set[str]]:
    """Our modules that the point needs, and the foreign top-level names that these import."""
    ours: set[str] = set()
    foreign: set[str] = set()
    pending = [ENTRY]
    while pending:
        module = pending.pop()
        file = source(module) if module.split(".")[0] == "measurement" else None
        if file is None:
            if module.split(".")[0] != "measurement":
                foreign.add(module.split(".")[0])
            continue
        if module not in ours:
            ours.add(module)
            pending += [module.rpartition(".")[0], *imported(file, module)]
    return ours - {""}, foreign - set(sys.stdlib_module_names) - {"", "__future__"}


def test_it_brings_the_modules_it_needs():
    brought = set(PROJECT["tool"]["setuptools"]["packages"])
    brought_alone = set(PROJECT["tool"]["setuptools"]["py-modules"]) | {"measurement"}
    needed, _ = closure()
    missing = {m for m in needed if m not in brought_alone | brought and m.rpartition(".")[0] not in brought}
    assert missing == set()


def test_it_declares_what_it_imports_and_no_more():
    declared = {re.split(r"[<>=]", line)[0] for line in PROJECT["project"]["dependencies"]}
    _, foreign = closure()
    names = packages_distributions()
    foreign.discard("pydantic_core")  # comes with pydantic, which pins its version
    assert {names[module][0].lower() for module in foreign} == declared


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy: setuptools leaves traces where it builds."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT, folder / "measurement", ignore=shutil.ignore_patterns("__pycache__"))
    argv = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-index", "--no-build-isolation", "-q"]
    subprocess.run([*argv, "-w", str(folder), str(folder / "measurement")], check=True, timeout=120)
    (built,) = folder.glob("adon_measurement-*.whl")
    return built


@pytest.mark.integration
def test_the_wheel_has_the_point_and_not_the_rest(wheel: Path):
    names = ZipFile(wheel).namelist()
    assert {"measurement/__init__.py", "measurement/point/main.py", "measurement/model.py"} <= set(names)
    assert not [name for name in names if name.startswith(("measurement/archive", "adon/", "apps/"))]


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel in it; what that depends on is borrowed, by a .pth file."""
    folder = tmp_path_factory.mktemp("installed") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=60)
    argv = [sys.executable, "-m", "pip", "--python", str(folder / "bin/python"), "install", "-q"]
    subprocess.run([*argv, "--no-deps", "--no-index", str(wheel)], check=True, timeout=120)
    (site,) = folder.glob("lib/python*/site-packages")
    borrowed = tmp_path_factory.mktemp("borrowed")
    here = Path(sysconfig.get_path("purelib"))
    for entry in here.iterdir():
        # The editable installation of ADON itself is not borrowed: it would supply what the wheel lacks.
        if "adon" not in entry.name and entry.suffix != ".pth":
            (borrowed / entry.name).symlink_to(entry)
    (site / "borrowed.pth").write_text(f"{borrowed}\n")
    return folder


def curl(url: str, *more: str) -> Any:
    argv = ["curl", "-s", "--fail-with-body", "--max-time", "20", *more, url]
    return json.loads(subprocess.check_output(argv, text=True))


@pytest.mark.slow
@pytest.mark.integration
def test_installed_alone_it_measures_with_curl_as_the_page_says(installed: Path, tmp_path: Path):
    argv = [str(installed / "bin/adon-measurement-point"), "--port", "0", "--data", str(tmp_path / "mp")]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=environment) as process:
        assert process.stderr is not None
        lines: list[str] = []
        try:
            for line in process.stderr:
                lines.append(line)
                if ready := re.search(r"event=ready url=(\S+)", line):
                    break
            assert ready is not None, "".join(lines)
            threading.Thread(target=process.stderr.read, daemon=True).start()
            url, pinned = ready[1], ("--cacert", str(tmp_path / "mp" / "point.pem"))
            assert curl(f"{url}/api", *pinned) == 6
            body = {
                "schema": 1,
                "schedule": {"slip": "PT1M"},
                "test": {"type": "rtt", "spec": {"dest": "127.0.0.1", "count": 2}},
            }
            header = ("-H", "Content-Type: application/json")
            task = curl(f"{url}/tasks", *pinned, *header, "-d", json.dumps(body))
            first = curl(f"{task}/runs/first?wait=5", *pinned)
            run = curl(f"{first['href']}?wait-merged&wait=15", *pinned)
            for _ in range(20):
                if run["state"] == "finished":
                    break
                run = curl(f"{first['href']}?wait-merged&wait=15", *pinned)
            assert run["result-merged"]["received"] == 2
        finally:
            process.terminate()
            assert process.wait(60) == 0
