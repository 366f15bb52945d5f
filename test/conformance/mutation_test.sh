#!/usr/bin/env bash
set -euo pipefail
tools/unpack_cases.sh test/conformance/cases.tar "$TEST_TMPDIR/cases"
exec python3 test/conformance/mutation_test.py tools/sy/sy "$TEST_TMPDIR/cases"
