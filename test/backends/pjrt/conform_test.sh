#!/usr/bin/env bash
# Every recorded call, captured and run by XLA, agrees with the call itself.
set -euo pipefail

if [ -z "${SWITCHYARD_PJRT_PLUGIN:-}" ]; then
  echo "SKIPPED: SWITCHYARD_PJRT_PLUGIN names no PJRT plugin"
  exit 0
fi
cases=$TEST_TMPDIR/cases
tools/unpack_cases.sh test/conformance/cases.tar "$cases"
SWITCHYARD_LAPACK=$PWD/libswitchyard_lapack.so
SWITCHYARD_ONEDNN=$PWD/libswitchyard_onednn.so
SWITCHYARD_PLUGINS=$PWD
SWITCHYARD_COMPILE_BACKEND=pjrt
TF_CPP_MIN_LOG_LEVEL=1
export SWITCHYARD_LAPACK SWITCHYARD_ONEDNN SWITCHYARD_PLUGINS
export SWITCHYARD_COMPILE_BACKEND TF_CPP_MIN_LOG_LEVEL
tools/sy/sy conform --cases "$cases" --trials compiled --jobs 2 --timeout 400 \
  --must-pass test/conformance/passing.txt
