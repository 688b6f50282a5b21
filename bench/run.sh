#!/usr/bin/env bash
# Runs the benches and keeps their figures as JSON under build/release/bench.
# usage: bench/run.sh [part of a bench's name]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/setup.sh
require build test bench

cmake --preset release
cmake --build --preset release
for bench in build/release/bench/*"${1:-}"*_bench; do
    "$bench" --benchmark_out="$bench.json" --benchmark_out_format=json
done
