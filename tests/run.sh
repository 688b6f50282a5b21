#!/usr/bin/env bash
# Everything that must hold before a change is merged, cheapest first: the header rules, each header on its own,
# then tests, benches and examples with g++, the tests with clang, the tests under sanitizers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/setup.sh
require build test bench

export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$(nproc)}
cmake -P tests/layers.cmake include/plait
for preset in headers release clang asan; do
    echo "==== $preset"
    cmake --workflow --preset "$preset"
done
