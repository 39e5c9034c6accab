#!/bin/sh
# Run all tests except those marked "slow"; "test.sh all" runs these too.  The last line has the number of tests
# that did not run.  Testbed tests run last and one by one, because they build networks and measure.  One more of
# the other tests than there are processors runs at a time, because many wait for real processes.
# If the testbed's tests cannot run, the last lines say so.  On a developer's machine the other tests still
# run; with CI set, it is a failure.
set -eu
cd "$(dirname "$0")/.."

case ${1:-} in
    "") tier=" and not slow" ;;
    all) tier="" ;;
    *) echo "usage: scripts/test.sh [all]" >&2; exit 2 ;;
esac

# The tests start hundreds of Python processes, each of which would otherwise compile every module again.
unset PYTHONDONTWRITEBYTECODE

# Databases of the tests commit to disk many thousand times.  Use memory if it has room and may hold programs.
# The folder is deleted at the end; --basetemp keeps the paths of sockets short.
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
chmod 755 "$folder"   # servers of other users read it

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
