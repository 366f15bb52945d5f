#!/usr/bin/env bash
# Runs a test of the modules of site/. Usage: modules_test.sh TEST.py SYGEN
set -euo pipefail
export PYTHONPATH=$PWD/site SYGEN=$PWD/$2
exec python3 "$1"
