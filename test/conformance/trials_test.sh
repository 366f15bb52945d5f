#!/usr/bin/env bash
# Calls every operator that has recorded cases with arguments that are mostly
# wrong, and without memory; fails if one does not answer with a result or a
# clear error. Usage: trials_test.sh hostile|starved
set -euo pipefail
tools/unpack_cases.sh test/conformance/cases.tar.xz "$TEST_TMPDIR/cases"
exec tools/sy/sy conform --cases "$TEST_TMPDIR/cases" --jobs 2 --timeout 120 \
  --trials "$1" --must-pass test/conformance/passing.txt
