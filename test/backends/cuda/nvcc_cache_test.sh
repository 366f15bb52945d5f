#!/usr/bin/env bash
set -euo pipefail

exec python3 test/backends/cuda/nvcc_cache_test.py
