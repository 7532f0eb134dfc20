#!/usr/bin/env bash
# Creates a virtual environment: create_venv.sh FOLDER
# Needs Python 3.11 or newer. On Debian and Ubuntu `venv` is a package of its own; it is installed when we may.
set -euo pipefail

folder=$1

new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
    local name
    for name in ${PYTHON:-} python3.11 python3 python3.12 python3.13 python3.14; do
        if command -v "$name" >/dev/null && new_enough "$name"; then
            command -v "$name"
            return
        fi
    done
    echo "error: no Python 3.11 or newer found (python3: $(python3 --version 2>/dev/null || echo "not installed"))." >&2
    echo "       Install one, or name it: make PYTHON=/path/to/python3.11 ..." >&2
    return 1
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi
}

may_install() {
    command -v apt-get >/dev/null && { [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null; }
}

python=$(find_python)

# Debian's python3 without python3-venv has the module `venv` and lacks `ensurepip`.
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    version=$("$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
    packages="$version-venv"
    if may_install; then
        echo "==> installing $packages with apt-get, because $python cannot create virtual environments"
        as_root apt-get update -qq
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages
    else
        echo "error: $python cannot create virtual environments." >&2
        echo "       Run: sudo apt-get install $packages" >&2
        exit 1
    fi
fi

echo "==> creating $folder with $("$python" --version)"
"$python" -m venv --clear "$folder"
