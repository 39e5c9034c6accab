#!/bin/sh
# Set up ADON on Debian 12 (Ubuntu 24.04: untested), as root or with sudo.  A second run installs only what is
# missing.  Needs no terminal.  The argument "test" adds the servers of which the tests start instances; their
# services do not start.  The argument "guest" installs only a kernel for test networks without root (.uml), and
# needs no root.
set -eu
cd "$(dirname "$0")/.."

PYTHON=/usr/bin/python3   # Debian's: the one that Mininet is packaged for
STAMP=.venv/adon-installed

# End after a signal as after an error: otherwise dash does not run the trap for EXIT.
trap 'exit 1' INT TERM HUP

# Debian packages.
packages="mininet openvswitch-switch iperf3 traceroute iputils-ping ethtool iproute2 procps util-linux \
    python3-venv chromium kmod"

if [ "${1:-}" = test ]; then
    packages="$packages systemd postgresql rabbitmq-server slurm-wlm munge curl openvswitch-testcontroller \
        apache2 libapache2-mod-shib nginx-light prometheus simplesamlphp php-cli php-xml php-mbstring \
        gcc libc6-dev python3-dev"   # the last three: Faucet compiles a part of itself
fi

# The OpenID provider of the tests runs on any node; Debian's if none is installed.
if [ "${1:-}" = test ]; then
    command -v node >/dev/null || packages="$packages nodejs"
    command -v npm >/dev/null || packages="$packages npm"
fi

say() { printf 'setup: %s\n' "$*"; }

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        say "this needs root, and there is no sudo: $*" >&2
        exit 1
    fi
}

# Unpack Debian's User-Mode Linux kernel without installing it: a program that needs no root.  A subshell keeps
# its traps separate.
guest_kernel() (
    if [ -s .uml/version ] && [ -x .uml/usr/bin/linux.uml ]; then
        say "guest kernel: is there ($(cat .uml/version))"
        exit 0
    fi
    say "unpacking Debian's user-mode-linux into .uml"
    unpacked=$(mktemp -d .uml.XXXXXX)
    trap 'rm -rf "$unpacked"' EXIT
    trap 'exit 1' INT TERM HUP
    if ! (cd "$unpacked" && apt-get download -qq user-mode-linux </dev/null); then
        say "apt-get cannot download user-mode-linux: is there a list of packages (apt-get update, as root)?" >&2
        exit 1
    fi
    dpkg-deb -x "$unpacked"/user-mode-linux_*.deb "$unpacked/root"
    dpkg-deb -f "$unpacked"/user-mode-linux_*.deb Version >"$unpacked/root/version"
    rm -rf .uml
    mv "$unpacked/root" .uml
)

# On processors with AMX the guest kernel needs the library of mininet_topos/guest_registers.c.
has_amx() { grep -q -m 1 '^flags.* amx_tile' /proc/cpuinfo; }

guest_registers() {
    source=mininet_topos/guest_registers.c
    library=.uml/guest_registers.so
    if ! has_amx || [ "$library" -nt "$source" ]; then
        return
    fi
    if ! command -v gcc >/dev/null; then
        say "guest kernel: this processor has AMX, which needs the Debian packages gcc and libc6-dev" >&2
        exit 1
    fi
    say "compiling $source for this processor"
    gcc -O2 -Wall -shared -fPIC -o "$library.new" "$source"
    mv "$library.new" "$library"
}

if [ "${1:-}" = guest ]; then
    guest_kernel
    guest_registers
    missing=""
    for program in modprobe setpriv ovs-vswitchd mnexec; do
        PATH="$PATH:/usr/sbin:/sbin" command -v "$program" >/dev/null || missing="$missing $program"
    done
    [ -z "$missing" ] || say "a test network also needs$missing: run scripts/setup.sh once, as root or with sudo"
    exit 0
fi

if has_amx; then
    packages="$packages gcc libc6-dev"
fi

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

missing=""
for package in $packages; do
    installed "$package" || missing="$missing $package"
done
if [ -n "$missing" ]; then
    say "installing system packages:$missing"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq </dev/null
    # Debian starts installed services unless policy-rc.d forbids it (invoke-rc.d(8)); tests start their own instances.
    policy=/usr/sbin/policy-rc.d
    policy_is_ours=no
    if [ ! -e "$policy" ]; then
        policy_is_ours=yes
        trap 'as_root rm -f "$policy"' EXIT
        printf '#!/bin/sh\nexit 101\n' | as_root sh -c "cat >$policy; chmod 755 $policy"
    fi
    # shellcheck disable=SC2086 # one argument per package
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing </dev/null
    if [ "$policy_is_ours" = yes ]; then
        as_root rm -f "$policy"
        trap - EXIT
    fi
else
    say "system packages: all there"
fi

if [ ! -x .venv/bin/python ]; then
    say "making .venv (it sees the system's packages, for Mininet)"
    "$PYTHON" -m venv --system-site-packages .venv
fi

wanted=$(cat setup.py pyproject.toml | sha256sum | cut -d ' ' -f 1)
if [ "$(cat "$STAMP" 2>/dev/null)" != "$wanted" ]; then
    say "installing Python packages into .venv"
    PYTHONWARNINGS=ignore .venv/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[report,dev]'
    echo "$wanted" >"$STAMP"
else
    say "Python packages: all there"
fi

# Faucet, the second controller of a switch in tests, needs an older os-ken, thus its own environment.
if [ "${1:-}" = test ]; then
    if [ ! -x .venv-faucet/bin/faucet ]; then
        say "installing Faucet into .venv-faucet"
        "$PYTHON" -m venv .venv-faucet
        .venv-faucet/bin/python -m pip install --quiet --disable-pip-version-check 'faucet>=1.10,<2'
    else
        say "Faucet: is there"
    fi
fi

if [ "${1:-}" = test ]; then
    guest_kernel
    guest_registers
fi

# oidc-provider, an OpenID provider, in the versions of its lock file.
if [ "${1:-}" = test ]; then
    lock=tests/apps/identity/oidc/package-lock.json
    if ! cmp -s "$lock" .node-oidc/package-lock.json || [ ! -d .node-oidc/node_modules/oidc-provider ]; then
        say "installing oidc-provider into .node-oidc"
        mkdir -p .node-oidc
        cp tests/apps/identity/oidc/package.json "$lock" .node-oidc/
        npm ci --prefix .node-oidc --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error </dev/null
    else
        say "oidc-provider: is there"
    fi
fi
