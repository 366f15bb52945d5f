#!/usr/bin/env bash
# A backend that has kernels only for the operators that `sy minimal-set` names,
# and no fallback, runs every operator. The named ones are fewer than 120, as
# docs/backends.md says.
set -euo pipefail
export SWITCHYARD_LAPACK=$PWD/libswitchyard_lapack.so
export SWITCHYARD_ONEDNN=$PWD/libswitchyard_onednn.so
export SWITCHYARD_CONFORMANCE=$TEST_TMPDIR
plugin=test/conformance/libminimal_backend.so
tools/unpack_cases.sh test/conformance/cases.tar "$TEST_TMPDIR/cases"
cp test/conformance/passing.txt "$TEST_TMPDIR"

needed=$(tools/sy/sy minimal-set | sed -n '$s/^\([0-9]*\) of .*/\1/p')
tools/sy/sy coverage --plugin "$plugin" | tail -n 1 |
  awk -v needed="$needed" '
    { print; if (needed >= 120 || $2 != needed || $4 + $5 != 0) exit 1 }'
exec tools/sy/sy conform --plugin "$plugin" --size smoke --jobs 2
