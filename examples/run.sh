#!/usr/bin/env bash
# Builds and runs the main example, examples/*_contributors. Needs no input and can be repeated.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/setup.sh
require build

cmake --preset examples
cmake --build --preset examples --target contributors
build/examples/examples/contributors "$@"
