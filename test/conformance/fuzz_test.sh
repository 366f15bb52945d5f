#!/usr/bin/env bash
# Makes calls drawn at random of every operator of the library.
# Usage: fuzz_test.sh SEED CALLS
set -euo pipefail
export SWITCHYARD_EXAMPLES=$PWD/schemas/gen/docs/ops/examples.txt
export SWITCHYARD_LAPACK=$PWD/libswitchyard_lapack.so
export SWITCHYARD_ONEDNN=$PWD/libswitchyard_onednn.so
exec tools/sy/sy fuzz --seed "$1" --calls "$2" --jobs 2 --timeout 60 \
  --failures "${TEST_UNDECLARED_OUTPUTS_DIR:-$TEST_TMPDIR}"
