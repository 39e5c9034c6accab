#!/bin/sh
# All tests.  Those of the testbed come last and one at a time: each has whole networks to itself, and they
# measure.  Of the others one more runs at once than there are processors: many wait for real processes.
# Whoever cannot run the testbed's tests is told so, loudly: they are never skipped in silence.  On a
# developer's machine the others still run; where CI is set, that is a failure.
set -eu
cd "$(dirname "$0")/.."

# The tests start hundreds of processes of ours: without this each would compile every module again.
unset PYTHONDONTWRITEBYTECODE

# Their databases write to disk at each commit, many thousand times: in memory, where there is room and
# programs may be started.  What is in there is gone at the end; --basetemp keeps the sockets' paths short.
folder=$(mktemp -d /tmp/adon-tests.XXXXXX)
if [ "$(df --output=avail /dev/shm 2>/dev/null | tail -n 1)" -gt 2000000 ] 2>/dev/null; then
    in_memory=$(mktemp -d /dev/shm/adon.XXXXXX)
    cp /bin/true "$in_memory/true"
    if "$in_memory/true" 2>/dev/null; then
        rmdir "$folder"
        folder=$in_memory
    else
        rm -r "$in_memory"
    fi
fi
chmod 755 "$folder"   # servers of other users look into theirs

sudo=""
if [ "$(id -u)" -ne 0 ] && command -v sudo >/dev/null; then
    sudo="sudo env CI=${CI:-}"
fi
trap '$sudo rm -rf "$folder"' EXIT
tests() {
    # shellcheck disable=SC2086 # "sudo" is words, or none
    ${as:-} env TMPDIR="$folder" .venv/bin/pytest --basetemp="$folder/t" "$@"
}
side_by_side="-n $(($(nproc) + 1)) --dist worksteal"

status=0
if why=$($sudo .venv/bin/python -m tests.conftest); then
    as=$sudo
    # shellcheck disable=SC2086
    tests $side_by_side -m "not testbed" || status=$?
    # shellcheck disable=SC2046 # only these files: the others need not be read again
    tests -m testbed $(grep -rl --include='test_*.py' testbed tests) || status=$?
    exit "$status"
fi
printf '\n*** NOT RUN: the testbed tests. %s ***\n\n' "$why"
# shellcheck disable=SC2086
tests $side_by_side -m "not testbed" || status=$?
if [ -n "${CI:-}" ]; then
    printf '\n*** FAILED: the testbed tests must run where CI is set. %s ***\n' "$why"
    exit 1
fi
exit "$status"
