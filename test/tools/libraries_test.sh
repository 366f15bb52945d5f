#!/usr/bin/env bash
# The runfile WORKSPACE is a link into the checkout, whose tools are run.
set -euo pipefail
root=$(dirname "$(readlink -f WORKSPACE)")
PYTHONPATH=$root/tools exec python3 test/tools/libraries_test.py "$root" "$@"
