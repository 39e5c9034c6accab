"""What a program reads that imports the client."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
import adon.client
print(*sorted({"adon.config", "networkx", "numpy", "pulp", "scipy", "sqlalchemy"} & set(sys.modules)))
"""


def test_client_imports_neither_the_configuration_nor_a_heavy_library():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
