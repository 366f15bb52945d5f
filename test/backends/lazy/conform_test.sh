#!/usr/bin/env bash
# Every overload of passing.txt works on the lazy device, gradients included.
set -euo pipefail

cases=$TEST_TMPDIR/cases
tools/unpack_cases.sh test/conformance/cases.tar "$cases"
SWITCHYARD_LAPACK=$PWD/libswitchyard_lapack.so
SWITCHYARD_ONEDNN=$PWD/libswitchyard_onednn.so
export SWITCHYARD_LAPACK SWITCHYARD_ONEDNN
tools/sy/sy conform --cases "$cases" --plugin "$PWD/libswitchyard_lazy.so" \
  --device lazy --must-pass test/conformance/passing.txt --jobs 2
