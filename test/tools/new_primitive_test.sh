#!/usr/bin/env bash
# The runfile WORKSPACE is a link into the checkout, which is read.
set -euo pipefail
exec python3 test/tools/new_primitive_test.py \
  "$(dirname "$(readlink -f WORKSPACE)")"
