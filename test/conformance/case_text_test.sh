#!/usr/bin/env bash
set -euo pipefail
exec python3 test/conformance/case_text_test.py test/conformance/cases \
  schemas/ops
