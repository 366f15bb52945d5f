#!/usr/bin/env bash
# sass_test.py over a list of kernels. $1: nvcc, $2: nvdisasm, or nothing.
set -euo pipefail

exec python3 test/backends/cuda/sass_test.py "$1" "$2" \
  test/backends/cuda/sass_registers.txt backends/cuda \
  test/backends/cuda/testdata backends/cuda/device .
