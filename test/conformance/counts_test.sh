#!/usr/bin/env bash
set -euo pipefail
here=test/conformance
exec python3 $here/counts_test.py $here/cases $here/lacking.txt
