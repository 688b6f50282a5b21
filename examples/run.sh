#!/usr/bin/env bash
# Builds and runs the main example, examples/02_contributors. Needs no input and can be repeated.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/setup.sh
require build

cmake --preset examples
cmake --build --preset examples --target contributors
# Training is reproducible only when the sums of BLAS do not depend on the number of cores.
OPENBLAS_NUM_THREADS=1 build/examples/examples/contributors build/examples/output
