#!/usr/bin/env bash
# Pins every dependency with the hashes of all platforms' files: lock.sh UV_VERSION [uv options, e.g. --upgrade]
# The locks name packages, versions and hashes only, so they hold whichever index or mirror pip is set to.
set -euo pipefail
cd "$(dirname "$0")/.."

uv_version=$1
shift

[ -x .venv-lock/bin/python ] || tools/create_venv.sh .venv-lock
.venv-lock/bin/python -m pip install --quiet --disable-pip-version-check "uv==$uv_version"

compile() {
    local output=$1
    shift
    echo "==> locking $output"
    .venv-lock/bin/uv --no-config pip compile --quiet --universal --python-version 3.11 --generate-hashes \
        --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
        --output-file "$output" "$@"
}

compile requirements/dev.txt pyproject.toml requirements/build.in --extra server --extra postgres --extra dev "$@"
# The same versions run in production as in the tests, and build it.
compile requirements/base.txt pyproject.toml --extra server --extra postgres --constraint requirements/dev.txt
compile requirements/build.txt requirements/build.in --constraint requirements/dev.txt

if grep -nE '://|^-|[ =]/' requirements/{dev,base,build}.txt; then
    echo "error: a lock names an index, an option or a path (lines above)" >&2
    exit 1
fi
