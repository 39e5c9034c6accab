"""The check that ADON's packages were installed together."""

from __future__ import annotations

from pathlib import Path

import pytest

from adon.errors import InvalidInput
from adon.launcher import PACKAGES, check_packages


def test_packages_beside_adon_are_accepted() -> None:
    check_packages()


def test_packages_in_another_folder_are_refused_each_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refusal:
        check_packages(tmp_path)
    assert [problem.field for problem in refusal.value.problems] == list(PACKAGES)
    assert {problem.code for problem in refusal.value.problems} == {"package-shadowed"}
