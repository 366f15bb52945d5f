#!/usr/bin/env bash
# Replays the recorded cases; fails unless every overload of passing.txt works.
set -euo pipefail
tools/unpack_cases.sh test/conformance/cases.tar.xz "$TEST_TMPDIR/cases"
exec tools/sy/sy conform --cases "$TEST_TMPDIR/cases" --jobs 2 \
  --must-pass test/conformance/passing.txt
