#!/usr/bin/env bash
# Lints the checkout itself: the runfile WORKSPACE is a link into it.
set -euo pipefail
exec python3 tools/lint.py "$(dirname "$(readlink -f WORKSPACE)")"
