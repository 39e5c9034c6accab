#!/bin/sh
# All tests, the quick ones first.  Whoever cannot run the testbed's tests is told so, loudly: they are never
# skipped in silence.  On a developer's machine the others still run; where CI is set, that is a failure.
set -eu
cd "$(dirname "$0")/.."

sudo=""
if [ "$(id -u)" -ne 0 ] && command -v sudo >/dev/null; then
    sudo="sudo env CI=${CI:-}"
fi
if why=$($sudo .venv/bin/python -m tests.conftest); then
    exec $sudo .venv/bin/pytest
fi
printf '\n*** NOT RUN: the testbed tests. %s ***\n\n' "$why"
status=0
.venv/bin/pytest -m "not testbed" || status=$?
if [ -n "${CI:-}" ]; then
    printf '\n*** FAILED: the testbed tests must run where CI is set. %s ***\n' "$why"
    exit 1
fi
exit "$status"
