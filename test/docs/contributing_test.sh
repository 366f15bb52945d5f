#!/usr/bin/env bash
# The YAML of CONTRIBUTING.md passes `sygen check` beside the library's.
set -euo pipefail
entries=$TEST_TMPDIR/contributing.yaml
python3 test/docs/snippets.py --entries CONTRIBUTING.md >"$entries"
[ -s "$entries" ] || { echo "FAIL no entries"; exit 1; }
codegen/sygen check "$entries" --with schemas/tags.yaml schemas/ops/*.yaml
