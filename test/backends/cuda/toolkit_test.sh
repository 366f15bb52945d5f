#!/usr/bin/env bash
# toolkit_test.py over our lists. $1: nvcc, or nothing.
set -euo pipefail

exec python3 test/backends/cuda/toolkit_test.py "$1" .
