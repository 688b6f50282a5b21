#!/usr/bin/env bash
# Everything that must hold before a change is merged, cheapest first: the header rules, each header on its own,
# then tests, benches and examples with g++, then the tests with clang under the sanitizers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/setup.sh
require build test bench

export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$(nproc)}
cmake -P tests/layers.cmake include/plait
for preset in headers checks asan; do
    echo "==== $preset"
    cmake --workflow --preset "$preset"
done

cases=../shared/cases/merge_cases.json
if [[ -f $cases ]]; then
    echo "==== $cases"
    build/checks/tests/merge_reference_cases "$cases" tests/reference/merge_differences.json | sed '/^pass /d'
fi
