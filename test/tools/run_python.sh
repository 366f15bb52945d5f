#!/usr/bin/env bash
# Runs a unittest file with the scripts of tools/ on its path.
set -euo pipefail
PYTHONPATH=tools exec python3 "$@"
