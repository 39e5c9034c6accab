#!/bin/sh
# All tests but those marked "slow"; "test.sh all" runs these too.  The last line says how many did not run.
# Those of the testbed come last and one at a time: each has whole networks to itself, and they measure.  Of
# the others one more runs at once than there are processors: many wait for real processes.
# Whoever cannot run the testbed's tests is told so, loudly: they are never skipped in silence.  On a
# developer's machine the others still run; where CI is set, that is a failure.
set -eu
cd "$(dirname "$0")/.."

case ${1:-} in
    "") tier=" and not slow" ;;
    all) tier="" ;;
    *) echo "usage: scripts/test.sh [all]" >&2; exit 2 ;;
esac

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
    sudo="sudo env CI=${CI:-} ADON_TEST_DEPTH=${ADON_TEST_DEPTH:-1}"
fi
trap '$sudo rm -rf "$folder"' EXIT
tests() {
    # shellcheck disable=SC2086 # "sudo" is words, or none
    ${as:-} env TMPDIR="$folder" ADON_SLOW_TESTS="$count" .venv/bin/pytest --basetemp="$folder/t" "$@"
}
count=$folder/slow   # the number of slow tests, written by the first collection of all tests
side_by_side="-n $(($(nproc) + 1)) --dist worksteal"
not_run() {
    if [ -n "$tier" ]; then
        printf '\n%s slow tests not run: make test-all\n' "$(cat "$folder/slow" 2>/dev/null || echo some)"
    fi
}

status=0
if why=$($sudo .venv/bin/python -m tests.conftest); then
    as=$sudo
    # shellcheck disable=SC2086
    tests $side_by_side -m "not testbed$tier" || status=$?
    count=""
    # shellcheck disable=SC2046 # only these files: the others need not be read again
    tests -m "testbed$tier" $(grep -rl --include='test_*.py' testbed tests) || status=$?
    not_run
    exit "$status"
fi
printf '\n*** NOT RUN: the testbed tests. %s ***\n\n' "$why"
# shellcheck disable=SC2086
tests $side_by_side -m "not testbed$tier" || status=$?
not_run
if [ -n "${CI:-}" ]; then
    printf '\n*** FAILED: the testbed tests must run where CI is set. %s ***\n' "$why"
    exit 1
fi
exit "$status"
