#!/usr/bin/env bash
# cub_built_test.py of the library, if it was built.
set -euo pipefail

if [ ! -e libswitchyard_cuda_cub.so ]; then
  echo 'SKIPPED: this machine has no nvcc'
  exit 0
fi
exec python3 test/backends/cuda/cub_built_test.py \
  ./libswitchyard_cuda_cub.so backends/cuda/cub/api.h
