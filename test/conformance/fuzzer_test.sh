#!/usr/bin/env bash
set -euo pipefail
export SWITCHYARD_EXAMPLES=/dev/null
exec python3 test/conformance/fuzzer_test.py tools/sy/sy \
  test/conformance/libfixture_ops.so
