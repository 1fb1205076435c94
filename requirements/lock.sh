#!/bin/sh
# Writes the lock files: versions and hashes for every supported Python, without any index address. svcpath-lab needs nothing
# that svcpath does not (tests/packaging holds that), so one lock is enough for both.
set -eu
cd "$(dirname "$0")/.."
options="--universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --quiet"
# shellcheck disable=SC2086
uv pip compile $options --extra kube pyproject.toml requirements/build.in -o requirements/run.lock
# shellcheck disable=SC2086
uv pip compile $options --extra kube --group dev pyproject.toml requirements/build.in -o requirements/dev.lock
# shellcheck disable=SC2086
uv pip compile $options --group browser pyproject.toml requirements/build.in -o requirements/browser.lock
