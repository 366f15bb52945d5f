#!/usr/bin/env bash
# Every recorded call works on the device, with gradients, and so do those made
# from signatures.
set -euo pipefail

export SWITCHYARD_CONFORMANCE=$TEST_TMPDIR
tools/unpack_cases.sh test/conformance/cases.tar "$TEST_TMPDIR/cases"
cp test/conformance/passing.txt "$TEST_TMPDIR"
export SWITCHYARD_LAPACK=$PWD/libswitchyard_lapack.so
export SWITCHYARD_ONEDNN=$PWD/libswitchyard_onednn.so
export SWITCHYARD_CUDA_CACHE=$TEST_TMPDIR/cuda
export FAKE_CUDA_CACHE=$TEST_TMPDIR/objects
# Kernels of single programs are for programs_test and shells_test: these calls
# would need thousands.
export SWITCHYARD_CUDA_JIT=${SWITCHYARD_CUDA_JIT:-off}
exec python3 test/backends/cuda/conform_test.py "$@"
