#!/usr/bin/env bash
# nvcc_test.py over all sources of kernels. $1: nvcc, or nothing.
set -euo pipefail

exec python3 test/backends/cuda/nvcc_test.py "$1" \
  backends/cuda/bake/instances.txt backends/cuda backends/cuda/device .
