#!/bin/sh
# Build the image from the sources, run it as a service, check it, and remove it.  As root, with podman.
#   scripts/try_container.sh [BUILD OPTION...]     for example  --build-arg BASE=localhost/debian:bookworm
# PODMAN: the command with its options; RUN_OPTIONS: further options of podman run.
set -eu
cd "$(dirname "$0")/.."
PODMAN=${PODMAN:-podman}
work=$(mktemp -d)
name="adon-try-$$"

remove() {
    $PODMAN rm --force --time 5 "$name" >/dev/null 2>&1 || true
    $PODMAN volume rm --force "$name" >/dev/null 2>&1 || true
    rm -rf "$work"
}
trap remove EXIT
trap "exit 1" INT TERM
fail() { printf 'container: %s\n' "$*" >&2; exit 1; }
say() { printf 'container: %s\n' "$*"; }
ready() {
    for _ in $(seq 120); do
        $PODMAN exec "$name" adon status >/dev/null 2>&1 && return 0
        sleep 1
    done
    $PODMAN logs "$name" | tail -n 20 >&2
    fail "$1"
}

mkdir "$work/image" "$work/etc"
.venv/bin/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir "$work/image" .
# shellcheck disable=SC2086 # a command with its options
$PODMAN build --quiet --format docker --tag "localhost/$name" --file apps/deploy/files/Containerfile "$@" "$work/image" >/dev/null
say "built: $($PODMAN image inspect --format '{{.Size}}' "localhost/$name") bytes"

cp tests/data/network.yaml "$work/etc/network.yaml"
chmod 755 "$work" "$work/etc"; chmod 644 "$work/etc/network.yaml"
start() {
    # shellcheck disable=SC2086
    $PODMAN run --detach --name "$name" --read-only --tmpfs /tmp --cap-drop all --security-opt no-new-privileges \
        --volume "$work/etc:/etc/adon:ro" --volume "$name:/var/lib/adon" ${RUN_OPTIONS:-} "localhost/$name" >/dev/null
}
start
ready "it does not become ready"
[ "$($PODMAN exec "$name" id -u)" = 10001 ] || fail "it does not run as user 10001"
$PODMAN healthcheck run "$name" >/dev/null || fail "the health check fails"
token=$($PODMAN exec "$name" cat /var/lib/adon/admin-token)
$PODMAN exec --env ADON_TOKEN="$token" "$name" adon flow list >/dev/null || fail "the first token is refused"
$PODMAN logs "$name" 2>&1 | grep -q "$token" && fail "the token is in the log"
say "ready, healthy, user 10001, first token accepted and not in the log"

$PODMAN stop --time 20 "$name" >/dev/null
[ "$($PODMAN inspect --format '{{.State.ExitCode}}' "$name")" = 0 ] || fail "it did not exit with status 0"
$PODMAN rm "$name" >/dev/null
start
ready "it does not start on its own volume"
$PODMAN exec --env ADON_TOKEN="$token" "$name" adon flow list >/dev/null || fail "the token was lost"
say "exited with status 0; the next container uses the same data"
$PODMAN rm --force --time 20 "$name" >/dev/null
$PODMAN image rm "localhost/$name" >/dev/null
