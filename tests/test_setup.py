"""``scripts/setup.sh`` with stand-ins for what it runs: what it puts aside for a while is gone at its end."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
POLICY = "/usr/sbin/policy-rc.d"
DONE = "#!/bin/sh\nexit 0\n"
# Nothing is installed, everybody may do everything, and only "guest" downloads.
STAND_INS = {
    "dpkg-query": DONE,
    "sudo": '#!/bin/sh\nexec "$@"\n',
    "id": "#!/bin/sh\necho 1000\n",
    "npm": DONE,
}
INSTALLS = '#!/bin/sh\ncase "$*" in *{what}*) {then};; esac\n'
NEVER_DOWNLOADS = INSTALLS.format(what="download", then="exit 1")
INTERRUPTED = "kill -TERM 0; sleep 60"  # as a terminal does it: to all of the group


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder that has its Python already, and the script, which leaves this machine's policy alone."""
    script = (ROOT / "scripts/setup.sh").read_text()
    assert script.count(POLICY) == 1
    for name in (
        "scripts/setup.sh",
        ".venv/bin/python",
        ".venv-faucet/bin/faucet",
        "setup.py",
        "pyproject.toml",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(DONE)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "scripts/setup.sh").write_text(script.replace(POLICY, str(tmp_path / "policy-rc.d")))
    return tmp_path


def run(project: Path, argument: str, stand_ins: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    programs = project / "programs"
    programs.mkdir()
    for name, script in {**STAND_INS, **stand_ins}.items():
        (programs / name).write_text(script)
        (programs / name).chmod(0o755)
    return subprocess.run(
        ["sh", project / "scripts/setup.sh", argument],
        env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        start_new_session=True,
    )


@pytest.mark.parametrize(
    "apt_get",
    [
        NEVER_DOWNLOADS,
        INSTALLS.format(what="install", then="exit 1"),
        INSTALLS.format(what="install", then="kill -TERM $PPID"),
        INSTALLS.format(what="install", then=INTERRUPTED),
    ],
    ids=["the guest's kernel fails", "fails", "SIGTERM", "SIGTERM to all"],
)
def test_services_may_start_again_however_it_ends(project: Path, apt_get: str) -> None:
    noting = apt_get.replace("\n", f"\ntest -e {project}/policy-rc.d && touch {project}/was-there\n", 1)
    done = run(project, "test", {"apt-get": noting})
    assert done.returncode == 1, done.stderr
    assert (project / "was-there").exists()
    assert not (project / "policy-rc.d").exists()


def test_services_may_start_again_as_soon_as_packages_are_installed(project: Path) -> None:
    noting = f'{DONE.splitlines()[0]}\ntest ! -e {project}/policy-rc.d || touch "{project}/still-there"\n'
    (project / ".venv/bin/python").write_text(noting)
    run(project, "test", {"apt-get": NEVER_DOWNLOADS})
    assert not (project / "still-there").exists()


def test_a_policy_of_the_machines_own_stays(project: Path) -> None:
    (project / "policy-rc.d").write_text("own")
    run(project, "test", {"apt-get": NEVER_DOWNLOADS})
    assert (project / "policy-rc.d").read_text() == "own"


@pytest.mark.parametrize("then", ["exit 1", INTERRUPTED], ids=["fails", "SIGTERM to all"])
def test_no_half_of_a_kernel_is_left(project: Path, then: str) -> None:
    done = run(project, "guest", {"apt-get": INSTALLS.format(what="download", then=then)})
    assert done.returncode == 1, done.stderr
    assert list(project.glob(".uml*")) == []


def test_a_kernel_is_unpacked(project: Path) -> None:
    unpacks = '#!/bin/sh\ntest "$1" = -x && mkdir -p "$3/usr/bin" || echo 6.1\n'
    compiles = "#!/bin/sh\ntouch .uml/guest_registers.so.new\n"  # on a processor with AMX only
    downloads = INSTALLS.format(what="download", then=":")
    done = run(project, "guest", {"apt-get": downloads, "dpkg-deb": unpacks, "gcc": compiles})
    assert done.returncode == 0, done.stderr
    assert [file.name for file in project.glob(".uml*")] == [".uml"]
    assert (project / ".uml/version").read_text() == "6.1\n"
