#!/usr/bin/env bash
# Calls every operator that has recorded cases with arguments that are mostly
# wrong, without memory, by several threads, as it is described, with out= over
# its inputs, or captured and replayed; fails if one does not answer with a clear error or the same
# result.
# Usage: trials_test.sh hostile|starved|threaded|described|aliased|compiled
set -euo pipefail
export SWITCHYARD_LAPACK=$PWD/libswitchyard_lapack.so
export SWITCHYARD_ONEDNN=$PWD/libswitchyard_onednn.so
export SWITCHYARD_PLUGINS=$PWD
tools/unpack_cases.sh test/conformance/cases.tar "$TEST_TMPDIR/cases"
exec tools/sy/sy conform --cases "$TEST_TMPDIR/cases" --jobs 2 --timeout 120 \
  --trials "$1" --must-pass test/conformance/passing.txt
