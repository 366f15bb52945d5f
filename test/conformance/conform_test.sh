#!/usr/bin/env bash
# Replays the recorded cases; fails unless every overload of passing.txt works.
set -euo pipefail
export SWITCHYARD_LAPACK=$PWD/libswitchyard_lapack.so
export SWITCHYARD_ONEDNN=$PWD/libswitchyard_onednn.so
tools/unpack_cases.sh test/conformance/cases.tar "$TEST_TMPDIR/cases"
exec tools/sy/sy conform --cases "$TEST_TMPDIR/cases" --jobs 2 \
  --must-pass test/conformance/passing.txt
