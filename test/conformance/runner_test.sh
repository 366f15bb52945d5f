#!/usr/bin/env bash
set -euo pipefail
exec python3 test/conformance/runner_test.py tools/sy/sy \
  test/conformance/libfixture_ops.so
