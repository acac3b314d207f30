# SPDX-License-Identifier: BSD-3-Clause
# Sourced by quickstart and run-tests: install the Debian packages that are missing.

need_packages() # names...
{
    missing=
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2> /dev/null | grep -q 'ok installed' ||
            missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    echo "==> installing:$missing"
    sudo=
    [ "$(id -u)" = 0 ] || sudo=sudo
    $sudo apt-get -qq update && DEBIAN_FRONTEND=noninteractive \
        $sudo apt-get install -y -qq --no-install-recommends $missing > /dev/null || {
        echo "These Debian packages could not be installed:$missing" >&2
        echo "Install them by hand (as root: apt-get install$missing) and start again." >&2
        return 1
    }
}

build_packages="gcc g++ make binutils autoconf automake libtool pkg-config python3
    libhwloc-dev libpmix-dev libfabric-dev libpng-dev"
test_packages="check clang clang-format procps iproute2 xz-utils file valgrind libc6-dbg"
# Servers for some tests, which skip without them: they are installed only where installing a server
# does not start it.
server_packages="openssh-server slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge"
need_servers()
{
    [ ! -d /run/systemd/system ] && [ "$(id -u)" = 0 ] && need_packages $server_packages
}
