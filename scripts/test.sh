#!/bin/sh
# All tests.  Those of the testbed come last and one at a time: each has whole networks to itself, and they
# measure.  Of the others as many run at once as there are processors: many wait for real processes.  Whoever
# cannot run the testbed's tests is told so, loudly: they are never skipped in silence.  On a developer's
# machine the others still run; where CI is set, that is a failure.
set -eu
cd "$(dirname "$0")/.."

sudo=""
if [ "$(id -u)" -ne 0 ] && command -v sudo >/dev/null; then
    sudo="sudo env CI=${CI:-}"
fi
status=0
if why=$($sudo .venv/bin/python -m tests.conftest); then
    $sudo .venv/bin/pytest -n auto --dist loadfile -m "not testbed" || status=$?
    $sudo .venv/bin/pytest -m testbed || status=$?
    exit "$status"
fi
printf '\n*** NOT RUN: the testbed tests. %s ***\n\n' "$why"
.venv/bin/pytest -n auto --dist loadfile -m "not testbed" || status=$?
if [ -n "${CI:-}" ]; then
    printf '\n*** FAILED: the testbed tests must run where CI is set. %s ***\n' "$why"
    exit 1
fi
exit "$status"
