#!/usr/bin/env bash
# Every recorded call on the device gives what was recorded, on the fake driver.
# Errors that kernels report are thrown by the call itself, as cases expect.
# Programs are interpreted: what they compile to is what other tests look at.
set -euo pipefail

cases=$TEST_TMPDIR/cases
tools/unpack_cases.sh test/conformance/cases.tar.xz "$cases"
SWITCHYARD_LAPACK=$PWD/libswitchyard_lapack.so
SWITCHYARD_ONEDNN=$PWD/libswitchyard_onednn.so
SWITCHYARD_CHECK=sync
SWITCHYARD_CUDA_JIT=off
SWITCHYARD_CUDA_CACHE=$TEST_TMPDIR/kernels
export SWITCHYARD_LAPACK SWITCHYARD_ONEDNN SWITCHYARD_CHECK
export SWITCHYARD_CUDA_JIT SWITCHYARD_CUDA_CACHE
tools/sy/sy conform --plugin ./libswitchyard_cuda.so --device cuda \
  --cases "$cases" --no-grad --jobs 2 --timeout 120 \
  --must-pass test/conformance/passing.txt
