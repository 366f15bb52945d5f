#!/usr/bin/env bash
set -euo pipefail
export SWITCHYARD_LAPACK=$PWD/libswitchyard_lapack.so
export SWITCHYARD_ONEDNN=$PWD/libswitchyard_onednn.so
tools/unpack_cases.sh test/conformance/cases.tar "$TEST_TMPDIR/cases"
exec python3 test/conformance/differences_test.py tools/sy/sy \
  "$TEST_TMPDIR/cases"
