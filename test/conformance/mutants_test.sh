#!/usr/bin/env bash
# `sy conform` tells a backend with a wrong kernel from a right one.
set -euo pipefail
export SWITCHYARD_LAPACK=$PWD/libswitchyard_lapack.so
export SWITCHYARD_ONEDNN=$PWD/libswitchyard_onednn.so
tools/unpack_cases.sh test/conformance/cases.tar "$TEST_TMPDIR/cases"
exec python3 test/conformance/mutants_test.py tools/sy/sy \
  test/conformance/libmutants.so "$TEST_TMPDIR/cases" \
  test/conformance/passing.txt
