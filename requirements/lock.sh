#!/bin/sh
# Renew the lock files: hashes for every file of every package, and not one address of a registry.
set -eu
"$PIP" install --disable-pip-version-check -q "uv>=0.13"
lock() { out=$1; shift; "$UV" pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
    --no-annotate --no-header --custom-compile-command "make lock" "$@" -o "$out"; }
compile() { out=$1; shift; lock "$out" pyproject.toml "$@"; }
compile requirements/service.lock --extra local requirements/build-tools.in
compile requirements/test.lock --extra local --extra test requirements/build-tools.in -c requirements/service.lock
compile requirements/bench.lock --extra local --extra test --extra bench requirements/build-tools.in -c requirements/test.lock
# What an image holds: the service and its nginx, without the embedded servers.
compile requirements/image.lock --extra front requirements/build-tools.in -c requirements/service.lock
# The tools of `make judge` pin packages that the service needs in other versions: they have an environment of their own.
lock requirements/judge.lock requirements/judge.in
lock requirements/readers.lock requirements/readers.in
(cd tests/assurance/judges/node && { ! command -v npm >/dev/null || npm install -s --package-lock-only --omit-lockfile-registry-resolved; })
